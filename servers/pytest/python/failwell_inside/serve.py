"""A worker: pytest and its plugins are imported, nothing of the project is; each run is a fork.

One fork is always made ahead and waits, with as much of a session's start behind it as does not depend on the call.
"""

import ctypes
import gc
import os
import select
import socket
import sys

from .channel import receive, send, send_line
from .loaded import LoadedModules
from .oversee import oversee
from .preload import preload


def serve(path, root):
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.connect(path)
    if sys.path[:1] == [""]:
        sys.path.pop(0)
    try:
        import pytest  # noqa: F401

        preload()
        loaded = LoadedModules(root)
        objection = loaded.objection()
    except BaseException as problem:
        loaded, objection = None, "%s while loading" % type(problem).__name__
    send_line(link, ready=objection is None, objection=objection)
    if objection is None:
        libc = ctypes.CDLL(None, use_errno=True)
        gc.collect()
        gc.freeze()  # what is shared with the forks stays shared: their collector leaves it alone
        Worker(link, loaded, libc).work()


class Worker:
    def __init__(self, link, loaded, libc):
        self.link, self.loaded, self.libc = link, loaded, libc
        self.spare = None
        self.busy = {}  # forks that have an errand, by the number of our end of their socket
        self.in_hand = []  # descriptors of the errand that is being handed over

    def work(self):
        """Until the server closes the pipe."""
        self.spare = Fork(self)
        while True:
            ready = select.select([self.link, *self.busy], [], [])[0]
            if self.link in ready:
                request, descriptors = receive(self.link)
                if request is None:
                    return
                self.answer(request, descriptors)
            for number in ready:
                if number in self.busy:
                    self.busy.pop(number).reap()
            # The next one is made when there is time for it: a run that just began needs the processor more.
            if self.spare is None and not self.busy and not select.select([self.link], [], [], 0)[0]:
                self.spare = Fork(self)

    def answer(self, request, descriptors):
        objection = self.loaded.objection()
        self.in_hand = descriptors
        forked = objection is None and self.hand_over(request, descriptors)
        self.drop_in_hand()
        send_line(self.link, forked=forked, objection=objection)

    def hand_over(self, request, descriptors):
        fork, self.spare = self.spare, None
        if fork is None or not fork.give(request, descriptors):
            fork = Fork(self)
            if not fork.give(request, descriptors):
                return False
        self.busy[fork.control_socket.fileno()] = fork
        return True

    def drop_in_hand(self):
        for descriptor in self.in_hand:
            os.close(descriptor)
        self.in_hand = []

    def close_in_fork(self):
        """Our ends of sockets are ours alone, so that a fork sees when we are gone. So is what comes with an errand: a
        fork made for it is given its own, and a copy that lives on in a daemon would hide the end of its overseer."""
        self.link.close()
        self.drop_in_hand()
        for fork in [self.spare, *self.busy.values()]:
            if fork is not None:
                fork.control_socket.close()
                fork.run_socket.close()


class Fork:
    """A process that will oversee one run, and below it the one that will be it. Both wait for their errand."""

    def __init__(self, worker):
        self.control_socket, their_control_socket = socket.socketpair()
        self.run_socket, their_run_socket = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            worker.close_in_fork()
            self.control_socket.close()
            self.run_socket.close()
            oversee(their_control_socket, their_run_socket, worker.libc)  # does not return
        their_control_socket.close()
        their_run_socket.close()

    def give(self, request, descriptors):
        """The errand for the run, the control for its overseer. False when they are gone."""
        out, err, events, control = descriptors
        try:
            send(self.control_socket, b"", [control])
            send(self.run_socket, request, [out, err, events])
        except OSError:
            self.reap()
            return False
        self.run_socket.close()
        return True

    def reap(self):
        self.control_socket.close()
        self.run_socket.close()
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:
            pass
