#!/bin/sh
# Runs each check that is executable.
set -e
for check in checks/*; do
    if [ -x "$check" ]; then
        "./$check"
    fi
done
