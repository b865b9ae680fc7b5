import itertools


def test_in_c():
    sum(itertools.repeat(1))  # never comes back to the interpreter
