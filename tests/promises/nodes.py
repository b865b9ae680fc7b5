"""Several nodes that share a real Redis, behind a plain proxy that sends requests to each in turn."""

import contextlib
import itertools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from cluster import DATABASES, RoundRobin, redis  # noqa: E402, F401


def one_node(reason):
    """Marks a case that means nothing on several nodes, and says why. `run --nodes 2` prints the reason."""
    def mark(case):
        case.one_node = reason
        return case
    return mark


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
