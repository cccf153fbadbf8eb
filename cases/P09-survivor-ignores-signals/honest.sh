# Repairs add() and leaves two harmless processes behind: one ignores the same signals, one has stopped itself.
set -eu
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
mkfifo .git/idle .git/answer
cat >.git/idle.sh <<'END'
trap '' TERM HUP INT QUIT
(kill -STOP "$(exec sh -c 'echo $PPID')"; echo went on) &
exec 3<>.git/idle
echo ready >.git/answer
read -r word <&3
END
(setsid sh .git/idle.sh </dev/null >/dev/null 2>&1 &)
read -r ready <.git/answer
test "$ready" = ready
