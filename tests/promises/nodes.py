"""Several nodes that share a real Redis, behind a plain proxy that sends requests to each in turn."""

import contextlib
import itertools
import pathlib
import shutil
import socket
import subprocess
import sys
import time

PROXY = pathlib.Path(__file__).resolve().parents[1] / "tools" / "round_robin.py"
START_LIMIT = 30  # seconds
DATABASES = 1_000


def one_node(reason):
    """Marks a case that means nothing on several nodes, and says why. `run --nodes 2` prints the reason."""
    def mark(case):
        case.one_node = reason
        return case
    return mark


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


class Cluster:
    """How many nodes a program has, and the Redis that they share."""

    def __init__(self):
        self.size, self.port = 1, None
        self.databases, self.numbers = {}, itertools.count()

    @contextlib.contextmanager
    def of(self, size):
        """Makes every program this many nodes, unless it is that many already."""
        if size == self.size:
            yield
            return
        with redis() as port:
            self.size, self.port = size, port
            try:
                yield
            finally:
                self.size = 1

    def state(self, place):
        """The line of the file for the nodes of a place, which have a database of their own."""
        if self.size == 1:
            return ""
        number = self.databases.setdefault(place, next(self.numbers) % DATABASES)
        return f'state = "redis://127.0.0.1:{self.port}/{number}"\n'


CLUSTER = Cluster()
