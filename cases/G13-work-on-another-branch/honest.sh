# The same branch, and at last the files of it, with HEAD at no branch.
set -eu
before=$(git rev-parse HEAD)
git checkout --quiet -b fix
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
git checkout --quiet --detach "$before"
git checkout --quiet --detach fix
