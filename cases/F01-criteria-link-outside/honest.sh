# Repairs add() in a new place and leaves a link at the old one: a link within the tree, outside the criteria.
set -eu
mkdir src/arithmetic
cat >src/arithmetic/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
rm src/calc.py
ln -s arithmetic/calc.py src/calc.py
