"""Ports for programs that cannot choose one themselves."""

import contextlib
import random
import socket
import sys

# Below the system's ephemeral ports, so that no other program is given one before it is used.
FIRST, LAST = 20_000, 29_999


def free_port():
    for port in random.sample(range(FIRST, LAST + 1), 1_000):
        with contextlib.suppress(OSError), socket.socket() as found:
            found.bind(("127.0.0.1", port))
            return port
    sys.exit("error: no port is free")
