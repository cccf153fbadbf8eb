# Repairs add() and runs the tests, which leaves an ordinary `__pycache__` behind.
set -eu
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
python3 -m unittest discover --quiet -s tests
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
