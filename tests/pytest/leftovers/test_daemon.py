import os
import time


def test_daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(985)
        os._exit(0)
    os.wait()
