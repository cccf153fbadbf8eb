# The same second name, as tools that save space make it, and nothing is written to it.
set -eu
ln tests/test_calc.py .git/notes
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
