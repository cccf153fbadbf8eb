# The smallest real work, uncommitted.
set -eu
printf '\n\ndef subtract(a, b):\n    return a - b\n' >>src/calc.py
