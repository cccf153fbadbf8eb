# Repairs add(), writes the same bytes to the project's file again, and changes one of the same name elsewhere.
set -eu
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
cat nightgate.toml >.git/text
rm nightgate.toml
cat .git/text >nightgate.toml
sed -i 's/"-s", "tests"/"-s", "src"/' examples/nightgate.toml
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
