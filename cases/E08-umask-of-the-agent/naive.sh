# The check run in a shell of the same session passes.
set -eu
. "$HOME/.profile"
exec python3 -m unittest discover -s tests
