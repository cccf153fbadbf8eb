# Such names, a line break and a terminal's orders among the product's own files, and the repair.
set -eu
mkdir src/labels
echo one >"$(printf 'src/labels/till-\376')"
echo two >"$(printf 'src/labels/till-\377')"
echo three >"$(printf 'src/labels/first\nsecond')"
echo four >"$(printf 'src/labels/\033[2K\ttab')"
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
git add --all
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
