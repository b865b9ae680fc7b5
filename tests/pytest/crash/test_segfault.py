import ctypes


def test_first():
    pass


def test_segfault():
    ctypes.string_at(0)
