# A first try, a second, and a rebase that makes one commit of both.
set -eu
base=$(git rev-parse HEAD)
sed -i 's/a - b/a * b/' src/calc.py
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
sed -i 's/a \* b/a + b/' src/calc.py
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --fixup=HEAD
export GIT_SEQUENCE_EDITOR=true
git -c user.name=agent -c user.email=agent@example.invalid rebase --quiet --interactive --autosquash "$base"
test "$(git rev-list --count "$base..HEAD")" = 1
grep -q 'a + b' src/calc.py
