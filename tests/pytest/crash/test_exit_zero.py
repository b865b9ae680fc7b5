import os


def test_first():
    pass


def test_exit_zero():
    os._exit(0)
