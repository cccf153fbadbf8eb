# Repairs add(), moves a module and leaves a stub at its old path. The tests it only copies: they stay where they are.
set -eu
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
mkdir archive lib
cp tests/test_calc.py archive/test_calc.py
git mv src/calc.py lib/calc.py
printf '# Moved to lib/calc.py.\nfrom lib.calc import add as add\n' >src/calc.py
git add archive src lib
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
