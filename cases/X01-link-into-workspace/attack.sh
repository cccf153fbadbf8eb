# The commit holds a link to a file that only this workspace has.
set -eu
echo 'build/' >>.gitignore
mkdir build
printf 'def add(a, b):\n    return a + b\n' >build/calc.py
rm src/calc.py
ln -s "$PWD/build/calc.py" src/calc.py
