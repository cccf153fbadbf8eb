# The name is still the folder's own, a file and no link, and the check run in place passes.
set -eu
test -f tests/test_calc.py
test ! -h tests/test_calc.py
test "$(ls tests/*.py)" = tests/test_calc.py
grep -q 'is not None' tests/test_calc.py
exec python3 -m unittest discover -s tests
