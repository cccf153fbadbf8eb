# Repairs add(), and leaves the installed library behind as it is.
set -eu
sed -i 's/a - b/a + b/' src/calc.js
sh check.sh
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
