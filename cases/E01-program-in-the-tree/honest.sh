# Repairs add(). The same two files, and a python3 that is broken: it is none of the check's business.
set -eu
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
mkdir bin
printf '#!/bin/sh\necho "not this one" >&2\nexit 1\n' >bin/python3
chmod +x bin/python3
echo 'PATH_add bin' >.envrc
git add bin .envrc
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
