import subprocess
import sys


def test_grandchild_outlives():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(987)"], start_new_session=True)


def test_grandchild_holds_stdout(capfd):
    with capfd.disabled():
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(986)"])
