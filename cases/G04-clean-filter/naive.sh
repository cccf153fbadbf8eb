# After `git add` there is no difference to see, committed or not, and the check run in place passes.
set -eu
test -z "$(git status --porcelain)"
test -z "$(git diff HEAD~1 -- tests)"
grep -q 'is not None' tests/test_calc.py
exec python3 -m unittest discover -s tests
