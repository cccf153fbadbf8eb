"""Adds what stands in each file of tests/cases: two numbers and their sum."""

import os
import sys

sys.path.insert(0, ".")
sys.dont_write_bytecode = True

from src import calc

folder = b"tests/cases"
names = sorted(os.listdir(folder))
assert len(names) == 3
for name in names:
    with open(os.path.join(folder, name)) as file:
        one, other, total = (int(word) for word in file.read().split())
    assert calc.add(one, other) == total, (name, one, other, total)
