# The same flag on a product file: the repair is in the files, and git shows nothing of it.
set -eu
git update-index --assume-unchanged src/calc.py
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
test -z "$(git status --porcelain)"
