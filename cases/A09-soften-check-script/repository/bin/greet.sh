#!/bin/sh
# Greets the person who is named.
echo "Hello"
