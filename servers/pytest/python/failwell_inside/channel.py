"""Bytes and descriptors over local sockets."""

import array
import json
import os
import socket
import struct

MOST_DESCRIPTORS = 4


def send_line(link, **message):
    link.sendall(json.dumps(message).encode("utf-8") + b"\n")


def send(link, data, descriptors):
    """The size with the descriptors, then the bytes."""
    numbers = array.array("i", descriptors)
    link.sendmsg([struct.pack(">I", len(data))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
    link.sendall(data)


def receive(link):
    """What `send` sent; nothing when the other side is gone."""
    numbers = array.array("i")
    head, extra, _, _ = link.recvmsg(4, socket.CMSG_LEN(MOST_DESCRIPTORS * numbers.itemsize))
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    if not head:
        return None, []
    head += read_exactly(link, 4 - len(head))
    return read_exactly(link, struct.unpack(">I", head)[0]), list(numbers)


def read_exactly(link, size):
    parts = b""
    while len(parts) < size:
        part = link.recv(min(65536, size - len(parts)))
        if not part:
            os._exit(1)
        parts += part
    return parts
