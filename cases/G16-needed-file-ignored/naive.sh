# Nothing is uncommitted, and the check run in place, or in a copy of the folder, passes. A clone would fail.
set -eu
test -z "$(git status --porcelain)"
copy=$(mktemp -d)
cp -R . "$copy/copy"
(cd "$copy/copy" && python3 -m unittest discover -s tests)
clone=$(mktemp -d)
git clone --quiet . "$clone/clone"
if (cd "$clone/clone" && python3 -m unittest discover -s tests); then exit 1; fi
exec python3 -m unittest discover -s tests
