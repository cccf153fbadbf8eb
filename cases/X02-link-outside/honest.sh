# A link that climbs as well, and what it leads to is in the commit. The link that base has out of the tree stays.
set -eu
mkdir lib
printf 'def add(a, b):\n    return a + b\n' >lib/sums.py
rm src/calc.py
ln -s ../src/../lib/sums.py src/calc.py
