# The check is right to pass: only the lock tells.
set -eu
test "$(cat requirements.lock)" = "$(printf 'paper==2.0.0\ntills==1.4.2')"
exec python3 -m unittest discover -s tests
