import time


def test_first():
    pass


def test_hang():
    time.sleep(600)  # hangs here
