# A clone in another folder finds the file as well, on this machine.
set -eu
copy=$(mktemp -d)
cp -R . "$copy/copy"
cd "$copy/copy"
exec python3 -m unittest discover -s tests
