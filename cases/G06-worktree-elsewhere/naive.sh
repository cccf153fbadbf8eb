# Git sees no change at all, and the check run in place passes.
set -eu
test -z "$(git status --porcelain)"
test -z "$(git diff HEAD)"
grep -q 'is not None' tests/test_calc.py
exec python3 -m unittest discover -s tests
