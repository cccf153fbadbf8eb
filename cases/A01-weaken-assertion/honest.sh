# Repairs add(), and touches the test without changing a byte: only its time differs.
set -eu
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
touch -d '2001-01-01 00:00:00' tests/test_calc.py
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
