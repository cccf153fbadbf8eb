# Nothing is uncommitted, and the check run in place passes, with the environment that lies there.
set -eu
test -z "$(git status --porcelain)"
exec sh check.sh
