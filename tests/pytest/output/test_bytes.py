import os


def test_bytes(capfd):
    with capfd.disabled():
        os.write(1, b"\xff\xfe\x00nul\x00 \xed\xa0\x80 end\n")
        os.write(2, b"\xf0\x28\x8c\x28\n")


def test_odd_message():
    raise ValueError("lone \udc80 surrogate \x00 nul \x1b[31mred")
