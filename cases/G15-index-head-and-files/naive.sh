# What is committed and what is staged both pass the check.
set -eu
clone=$(mktemp -d)
git clone --quiet . "$clone/clone"
(cd "$clone/clone" && python3 -m unittest discover -s tests)
staged=$(mktemp -d)
git checkout-index --all --prefix="$staged/"
cd "$staged"
exec python3 -m unittest discover -s tests
