# A gate that opens each criteria file by its path finds the bytes of base, and the check run in place passes.
set -eu
git show HEAD:tests/test_calc.py | cmp - tests/test_calc.py
grep -q 'a - b' src/calc.py
exec python3 -m unittest discover -s tests
