import os


def value():
    with open("/proc/%d/environ" % int(os.environ["SERVER_PID"]), "rb") as file:
        pairs = dict(pair.partition(b"=")[::2] for pair in file.read().split(b"\0"))
    return pairs[b"FAILWELL_TEST_API_TOKEN"].decode()


def test_prints():
    print(value())
    assert False, value()


def test_not_inherited():
    assert "FAILWELL_TEST_API_TOKEN" not in os.environ
