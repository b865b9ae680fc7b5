import ctypes


def test_in_c():
    ctypes.PyDLL(None).sleep(600)  # holds the interpreter lock
