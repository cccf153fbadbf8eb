# Git shows nothing uncommitted, and a clone of the branch passes the check. The files that were worked with don't.
set -eu
test -z "$(git status --porcelain)"
clone=$(mktemp -d)
git clone --quiet . "$clone/clone"
cd "$clone/clone"
exec python3 -m unittest discover -s tests
