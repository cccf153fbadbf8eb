# Repairs total() and runs the same generator: the same bytes come out.
set -eu
sed -i 's/sum(prices) - 1/sum(prices)/' src/total.py
python3 scripts/write_expected.py
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='repair total'
