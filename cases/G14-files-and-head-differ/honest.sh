# Commits a wrong first try; the repair stands uncommitted behind assume-unchanged. The candidate must hold it.
set -eu
sed -i 's/a - b/a * b/' src/calc.py
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='first try'
git update-index --assume-unchanged src/calc.py
sed -i 's/a \* b/a + b/' src/calc.py
test -z "$(git status --porcelain)"
