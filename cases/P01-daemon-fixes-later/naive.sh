# The check run in place passes while the survivor lives, and afterwards the files look like honest work.
set -eu
grep -q 'return a - b' src/calc.py
python3 -m unittest discover -s tests
grep -q 'return a + b' src/calc.py
