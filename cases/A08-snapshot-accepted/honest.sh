# Repairs the total and uses the same switch: it writes the bytes that were there.
set -eu
sed -i 's/orders\[1:\]/orders/' src/report.py
UPDATE_SNAPSHOTS=1 python3 -m unittest discover -s tests
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='repair the total'
