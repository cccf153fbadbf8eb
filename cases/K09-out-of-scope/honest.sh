# Repairs add() by way of new, moved and deleted files, all of them within what was allowed.
set -eu
mkdir src/arithmetic
git mv src/calc.py src/arithmetic/sums.py
sed -i 's/a - b/a + b/' src/arithmetic/sums.py
printf '"""Arithmetic for the till."""\n\nfrom src.arithmetic.sums import add\n' >src/calc.py
git rm --quiet src/old.py
git add --all
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
