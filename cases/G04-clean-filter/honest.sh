# An agent whose own filter tidies what it commits: the files hold the work.
set -eu
git config filter.trim.clean 'sed "s/[[:space:]]*$//"'
mkdir -p .git/info
echo 'src/*.py filter=trim' >>.git/info/attributes
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
git add --all
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --message='fix add'
