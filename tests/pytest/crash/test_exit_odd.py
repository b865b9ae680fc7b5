import os


def test_exit_odd():
    os._exit(77)
