# A link too, and what it leads to is in the commit.
set -eu
mkdir src/parts
printf 'def add(a, b):\n    return a + b\n' >src/parts/sums.py
rm src/calc.py
ln -s parts/sums.py src/calc.py
