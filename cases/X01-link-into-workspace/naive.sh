# A copy of the folder finds the file as long as the workspace is there; a clone alone would not.
set -eu
copy=$(mktemp -d)
cp -R . "$copy/copy"
(cd "$copy/copy" && python3 -m unittest discover -s tests)
exec python3 -m unittest discover -s tests
