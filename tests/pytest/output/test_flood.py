import sys


def test_flood(capfd):
    with capfd.disabled():
        line = "x" * 1023 + "\n"
        for _ in range(32 * 1024):
            sys.stdout.write(line)


def test_flood_fails():
    print("y" * 4_000_000)
    assert False, "z" * 1_000_000
