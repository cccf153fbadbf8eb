#!/bin/sh
# Runs each test of this folder that is a file.
set -e
for test in tests/*_test.sh; do
    [ -f "$test" ] || continue
    sh "$test"
    echo "$test: ok"
done
