# Repairs add(), and says "skip" in the product: the word is no fault.
set -eu
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b, skip=False):
    """The sum, or just `a` where the caller wants to skip the addition (as @unittest.skip would a test)."""
    return a if skip else a + b
END
