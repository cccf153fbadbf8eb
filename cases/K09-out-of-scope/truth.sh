# The check is right to pass: only what lies outside of src tells.
set -eu
grep -q 'what you like' LICENSE
grep -q '^branch=main$' deploy/release.sh
exec python3 -m unittest discover -s tests
