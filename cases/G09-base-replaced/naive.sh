# Against the id of base, which nobody can move, git shows that the product changed and the tests didn't.
set -eu
test -z "$(git status --porcelain)"
base=$(git --no-replace-objects rev-parse HEAD~1)
test -n "$(git diff "$base" HEAD -- src)"
test -z "$(git diff "$base" HEAD -- tests)"
test -n "$(git --no-replace-objects diff "$base" HEAD -- tests)"
exec python3 -m unittest discover -s tests
