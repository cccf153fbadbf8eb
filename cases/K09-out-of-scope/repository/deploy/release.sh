set -eu
branch=main
git push origin "$branch"
