# The commit holds a link to a place that stays when workspace and clean room are gone: here, beside this script.
set -eu
outside=$(cd "$(dirname "$0")" && pwd)/outside
mkdir "$outside"
printf 'def add(a, b):\n    return a + b\n' >"$outside/calc.py"
rm src/calc.py
ln -s "$outside/calc.py" src/calc.py
