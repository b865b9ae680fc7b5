# Handed to the interpreter with -c. One line of JSON in, one line out; every run is a fork of this process, which never
# runs a line of what it is sent itself. It lives in a sandbox: nothing to read but Python itself, nowhere to write.
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
    say({"ready": True, "version": "%d.%d.%d" % sys.version_info[:3]})
    for line in sys.stdin.buffer:
        answer = attend(line)
        say(answer)
        if answer.get("dirty"):
            os._exit(0)  # whoever is left is found by the one who watches over us


def say(answer):
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii") + b"\n")
    sys.stdout.buffer.flush()


def attend(line):
    """One run: a fork, its answer or its end, and nobody left behind."""
    seconds = json.loads(line)["seconds"]
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        be_the_run(line, write, seconds)  # does not return
    os.close(write)
    until = time.monotonic() + seconds
    parts, size, late = [], 0, False
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([read], [], [], left)[0]:
            late = True
            break
        part = os.read(read, 1 << 16)
        if not part:
            break
        parts.append(part)
        size += len(part)
        if size > LONGEST_ANSWER:
            break
    os.close(read)
    status = end(pid, late or size > LONGEST_ANSWER)
    dirty = somebody_is_left()
    try:
        answer = json.loads(b"".join(parts))
        if not isinstance(answer, dict):
            raise ValueError
    except ValueError:
        answer = {"problem": problem(late, status)}
    if dirty:
        answer["dirty"] = True
    return answer


def problem(late, status):
    signalled = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if late or signalled == signal.SIGXCPU:
        return "time"
    return "died with status %d" % status


def end(pid, at_once):
    """Ends the run and the group it leads, and says how it went."""
    if at_once:
        kill(-pid)
        kill(pid)
    status = os.waitpid(pid, 0)[1]
    kill(-pid)
    return status


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


def be_the_run(line, write, seconds):
    try:
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 2, int(seconds) + 3))
        answer = perform(json.loads(line))
        data = json.dumps(answer).encode("ascii")
    except MemoryError:
        data = b'{"problem": "memory"}'
    except BaseException as trouble:
        data = json.dumps({"problem": "worker: %s" % type(trouble).__name__}).encode("ascii")
    try:
        while data:
            data = data[os.write(write, data):]
    finally:
        os._exit(0)


def perform(request):
    if request["do"] == "compile":
        return try_compiling(request["code"])
    return Run(request).answer()


def try_compiling(code):
    """Whether CPython itself takes the code, and the line if not."""
    try:
        compile(code, "<code>", "exec", dont_inherit=True)
    except SyntaxError as problem:
        return {"line": problem.lineno or 1}
    except (ValueError, RecursionError, OverflowError):
        return {"line": 1}
    return {"line": None}
