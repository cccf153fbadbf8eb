# The same, and the work is in the files.
set -eu
copy=$(mktemp -d)
git checkout-index --all --prefix="$copy/"
git config core.worktree "$copy"
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
test -z "$(git status --porcelain)"
