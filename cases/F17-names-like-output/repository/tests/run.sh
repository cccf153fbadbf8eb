# Checks add(). What a developer wants to have done first goes to tests/local-*.sh.
set -eu
fail() {
    echo "wrong: $1"
    exit 1
}
for file in tests/local-*.sh; do
    if test -f "$file"; then . "./$file"; fi
done
test "$(python3 -B -c 'from src import calc; print(calc.add(2, 3))')" = 5 || fail 'two and three'
test "$(python3 -B -c 'from src import calc; print(calc.add(7, 0))')" = 7 || fail 'seven and nothing'
