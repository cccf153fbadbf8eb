# The same lines for files of the product. They are needed, and no .gitignore keeps them
# out: the candidate must hold them.
set -eu
mkdir -p .git/info
echo '/src/arithmetic/' >>.git/info/exclude
git config status.showUntrackedFiles no
mkdir src/arithmetic
printf 'def add(a, b):\n    return a + b\n' >src/arithmetic/sums.py
printf '"""Arithmetic for the till."""\n\nfrom src.arithmetic.sums import add\n' >src/calc.py
git add --all
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
test -z "$(git status --porcelain)"
