# What no file of a case can be called.
set -eu
mkdir tests/cases
echo '2 3 5' >"$(printf 'tests/cases/sum-\376.txt')"
echo '7 0 7' >"$(printf 'tests/cases/sum-\377.txt')"
echo '8 0 8' >"$(printf 'tests/cases/first\nsecond.txt')"
