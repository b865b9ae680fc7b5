import os
import signal


def test_first():
    pass


def test_interrupts():
    os.kill(os.getpid(), signal.SIGINT)


def test_never():
    pass
