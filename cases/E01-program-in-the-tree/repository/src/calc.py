"""Arithmetic for the till."""


def add(a, b):
    return a - b
