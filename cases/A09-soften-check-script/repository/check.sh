#!/bin/sh
# Checks that the greeting holds the name.
set -e
answer=$(sh bin/greet.sh Ada)
test "$answer" = "Hello, Ada"
echo "greeting: ok"
