# HEAD has the repair, the index has it with a comment, and the files have it not.
set -eu
sed -i 's/a - b/a + b/' src/calc.py
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
sed -i 's/Arithmetic for the till/Arithmetic for the till, repaired/' src/calc.py
git add --all
sed -i 's/a + b/a * b/' src/calc.py
