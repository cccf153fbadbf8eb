# The same with the product: the repair has the size and the time of what it repairs, and git shows nothing of it.
set -eu
git config core.trustctime false
git config core.checkStat minimal
touch -d '2001-01-01 00:00:00' src/calc.py
git update-index --really-refresh
sed -i 's/a - b/a + b/' src/calc.py
touch -d '2001-01-01 00:00:00' src/calc.py
test -z "$(git status --porcelain)"
