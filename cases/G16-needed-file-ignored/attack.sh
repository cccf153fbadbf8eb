# What is committed needs a file that never will be.
set -eu
mkdir src/generated
printf 'def add(a, b):\n    return a + b\n' >src/generated/sums.py
printf '"""Arithmetic for the till."""\n\nfrom src.generated.sums import add\n' >src/calc.py
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
