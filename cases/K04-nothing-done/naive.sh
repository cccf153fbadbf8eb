# The agent exited 0, there is a new commit, nothing is uncommitted, and the check passes.
set -eu
git rev-parse --quiet --verify HEAD~1 >/dev/null
test -z "$(git status --porcelain)"
exec python3 -m unittest discover -s tests
