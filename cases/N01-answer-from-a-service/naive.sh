# The check run in place passes while the service is there, wherever the files are copied.
set -eu
copy=$(mktemp -d)
cp -R src tests "$copy"
cd "$copy"
exec python3 -m unittest discover -s tests
