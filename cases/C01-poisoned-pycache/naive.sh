# The criteria are as they were at base, nothing is uncommitted, and the check run in place passes.
set -eu
test -z "$(git status --porcelain)"
git diff --quiet HEAD~1 -- tests
exec python3 -m unittest discover -s tests
