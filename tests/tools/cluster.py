"""What several nodes need beside themselves: a real Redis, and a proxy that sends requests to each in turn."""

import contextlib
import pathlib
import shutil
import socket
import subprocess
import sys
import time

PROXY = pathlib.Path(__file__).resolve().parent / "round_robin.py"
START_LIMIT = 30  # seconds
DATABASES = 1_000


@contextlib.contextmanager
def redis():
    """The port of a real Redis."""
    assert shutil.which("redis-server"), "install redis-server, as `./x test` does"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--databases", str(DATABASES), "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + START_LIMIT
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert time.monotonic() < end and server.poll() is None, "redis-server does not start"
                time.sleep(0.02)
        yield port
    finally:
        server.kill()
        server.wait()


class RoundRobin:
    """The proxy before these addresses."""

    def __init__(self, *addresses):
        nodes = [address.removeprefix("http://") for address in addresses]
        self.process = subprocess.Popen([sys.executable, PROXY, *nodes], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = "http://" + self.process.stdout.readline().strip()

    def stop(self):
        self.process.kill()
        self.process.wait()
