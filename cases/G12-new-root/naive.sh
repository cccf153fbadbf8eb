# Nothing in the whole history changed a test, nothing is uncommitted, and the check run in place passes.
set -eu
test -z "$(git status --porcelain)"
root=$(git rev-list --max-parents=0 HEAD)
test "$(git rev-list --count --all)" = 1
test -z "$(git diff "$root" HEAD -- tests)"
grep -q 'is not None' tests/test_calc.py
exec python3 -m unittest discover -s tests
