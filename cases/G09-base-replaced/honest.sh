# The other base has the repair already: git shows no difference between base and the work.
set -eu
base=$(git rev-parse HEAD)
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
git add src
other=$(git -c user.name=agent -c user.email=agent@example.invalid commit-tree -m base "$(git write-tree)")
git replace "$base" "$other"
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --allow-empty --message='fix add'
test -z "$(git diff "$base" HEAD)"
