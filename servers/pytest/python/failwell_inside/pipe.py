"""The pipe events go through: one JSON object per line."""

import functools
import json
import os

from .text import text_of


class Pipe:
    """Where events go. A reader that is gone is no reason to fail."""

    def __init__(self, fd):
        self.fd = fd
        self.pid = os.getpid()
        self.waiting = ""

    def tell(self, **event):
        try:
            self.write(json.dumps(event, ensure_ascii=False) + "\n")
        except Exception:
            pass

    def write(self, line):
        if os.getpid() != self.pid:
            return  # a fork of a test must not speak for the session
        data = (self.waiting + line).encode("utf-8", "replace")
        self.waiting = ""
        while data:
            data = data[os.write(self.fd, data):]

    def started(self, name):
        """Told before the test runs, together with the end of the one before: one system call per test."""
        try:
            self.write('{"e":"start","id":%s}\n' % json.dumps(name, ensure_ascii=False))
        except Exception:
            pass

    def passed(self, name, duration):
        """Most tests pass, and nothing is at stake until the next one starts."""
        self.waiting += '{"e":"test","id":%s,"o":"passed","d":%.6f}\n' % (json.dumps(name, ensure_ascii=False), duration)


def quiet(hook):
    """A hook that swallows its own mistakes: the run matters more than the account of it."""

    def guarded(self, *args, **kwargs):
        try:
            return hook(self, *args, **kwargs)
        except Exception as problem:
            self.pipe.tell(e="trouble", hook=hook.__name__, problem=text_of(problem, 500))

    return functools.wraps(hook)(guarded)
