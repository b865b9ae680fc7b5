# Handed to the interpreter with -c. One line of JSON in; one line out with the answer, and one more when everything is
# cleared up and the next may come. Every run is a fork of this process, made ahead, which never runs a line of what it is
# sent itself. It lives in a sandbox: nothing to read but Python itself, nowhere to write.
import gc
import json
import os
import resource
import select
import signal
import sys
import time

LONGEST_ANSWER = 4 << 20
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER

os.environ.clear()
sys.path[:] = [place for place in sys.path if place]
sys.argv = [""]


def preload():
    """What code may import, so that no fork has to look for it."""
    import abc, bisect, collections, collections.abc, copy, dataclasses, datetime, decimal, enum, fractions, functools
    import heapq, inspect, itertools, linecache, math, operator, random, re, statistics, string, traceback, types, typing

    stand_in("typing_extensions", {name: getattr(typing, name) for name in dir(typing) if not name.startswith("__")})
    stand_in("icontract", {"__getattr__": lambda name: inert(name, "icontract")})
    stand_in("deal", {"__getattr__": lambda name: inert(name, "deal")})


def stand_in(name, members):
    import types

    try:
        if name == "typing_extensions":
            __import__(name)
            return
    except ImportError:
        pass
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


def inert(name, library):
    """A decorator of a contract library: the conditions are looked at elsewhere, so this leaves alone what it decorates."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("DBC", "ViolationError", "ContractError", "PreContractError", "PostContractError"):
        return type(name, (AssertionError,) if name.endswith("Error") else (), {})

    def decorate(*arguments, **options):
        if len(arguments) == 1 and not options and name in ("pure", "safe", "invariant_free"):
            return arguments[0]
        return lambda decorated: decorated

    return decorate


def serve():
    import ctypes

    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    preload()
    gc.collect()
    gc.freeze()
    spare = Spare()
    say({"ready": True, "version": "%d.%d.%d" % sys.version_info[:3]})
    for line in sys.stdin.buffer:
        letter = json.loads(line)
        if letter["do"] == "compile":
            say(try_compiling(letter["code"]))
        else:
            say(spare.run(line, letter["seconds"]))
            if spare.leaves_somebody():
                os._exit(0)  # whoever is left is found by the one who watches over us
            spare = Spare()
        say({"ready": True})


def say(answer):
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii") + b"\n")
    sys.stdout.buffer.flush()


class Spare:
    """A fork that waits for its one run: making it takes longer than most runs."""

    def __init__(self):
        theirs, self.letters = os.pipe()
        self.answers, ours = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.letters)
            os.close(self.answers)
            be_the_run(theirs, ours)  # does not return
        os.close(theirs)
        os.close(ours)

    def run(self, line, seconds):
        """Its answer, or how it ended without one."""
        until = time.monotonic() + seconds
        try:
            while line:
                line = line[os.write(self.letters, line):]
        except OSError:
            pass  # it is gone, and says nothing
        os.close(self.letters)
        heard = self.hear(until)
        try:
            # One line and nothing else: whoever says more is not ours.
            if heard is None or heard.count(b"\n") != 1:
                raise ValueError
            answer = json.loads(heard)
            if not isinstance(answer, dict):
                raise ValueError
        except ValueError:
            answer = {"problem": problem(heard is None, self.end())}
        return answer

    def hear(self, until):
        """What it says in one line; `None` when it is late."""
        heard = b""
        while not heard.endswith(b"\n") and len(heard) <= LONGEST_ANSWER:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                return None
            part = os.read(self.answers, 1 << 16)
            if not part:
                break
            heard += part
        return heard

    def end(self):
        """Ends it, which has said all it had to say, and the group it leads; says how it went."""
        if self.pid is None:
            return 0
        kill(-self.pid)
        kill(self.pid)
        status = os.waitpid(self.pid, 0)[1]
        kill(-self.pid)
        self.pid = None
        return status

    def leaves_somebody(self):
        os.close(self.answers)
        self.end()
        return somebody_is_left()


def problem(late, status):
    signalled = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if late or signalled == signal.SIGXCPU:
        return "time"
    return "died with status %d" % status


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def somebody_is_left():
    """Whatever the run started became our child when the run ended."""
    for _ in range(20):
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.002)
        except ChildProcessError:
            return False
    return True


def be_the_run(letters, write):
    try:
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        line = b""
        while not line.endswith(b"\n"):
            part = os.read(letters, 1 << 16)
            if not part:
                os._exit(0)  # the worker is gone
            line += part
        os.close(letters)
        request = json.loads(line)
        limit = int(request["seconds"])
        resource.setrlimit(resource.RLIMIT_CPU, (limit + 2, limit + 3))
        answer = Run(request).answer()
        data = json.dumps(answer).encode("ascii")
    except MemoryError:
        data = b'{"problem": "memory"}'
    except BaseException as trouble:
        data = json.dumps({"problem": "worker: %s" % type(trouble).__name__}).encode("ascii")
    data += b"\n"
    try:
        while data:
            data = data[os.write(write, data):]
    finally:
        os._exit(0)


def try_compiling(code):
    """Whether CPython itself takes the code, and the line if not."""
    try:
        compile(code, "<code>", "exec", dont_inherit=True)
    except SyntaxError as problem:
        return {"line": problem.lineno or 1}
    except (ValueError, RecursionError, OverflowError):
        return {"line": 1}
    return {"line": None}
