# A gate that prints what it found, one line each, and is read by lines with the last verdict counting.
set -eu
sh tests/run.sh
report=$(
    echo 'verdict: FAILED'
    git diff -z --name-only HEAD~1 -- tests | tr '\000' '\n'
)
test "$(printf '%s\n' "$report" | grep '^verdict: ' | tail -n 1)" = 'verdict: VERIFIED'
