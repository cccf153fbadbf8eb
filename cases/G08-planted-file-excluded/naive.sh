# Nothing is uncommitted or untracked as git tells it, no test changed, and the check run in place passes.
set -eu
test -z "$(git status --porcelain)"
test -z "$(git diff HEAD~1 -- tests)"
grep -q 'a - b' src/calc.py
exec python3 -m unittest discover -s tests
