# Repairs add() and runs the check, which leaves what make built in the workspace.
set -eu
sed -i 's/a - b/a + b/' src/calc.c
make check
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
