# Handed to the interpreter with -c. One line of JSON in; one line out with the answer, which bears the mark of its letter, and
# one more when everything is cleared up and the next may come. Every run is a fork of this process, made ahead; the process
# itself never runs a line of what is sent. It lives in a sandbox: nothing to read but Python itself, nowhere to write.
# What code writes past its answer is of no use to it: no later answer has the mark it would need.
import gc
import json
import os
import resource
import signal
import sys
import time

LONGEST_ANSWER = 4 << 20
NOBODY = 77  # nobody will write to us any more
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
SECCOMP, FILTER = 22, 2  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER

os.environ.clear()
sys.path[:] = [place for place in sys.path if place]
NO_EXEC = bytes.fromhex("".join(sys.argv[1:]))  # a filter for the kernel, or nothing where there is no sandbox
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


def give_up_programs():
    """Nothing starts a program from here on, and no run can change that. It could not be earlier: we are a program ourselves."""
    import ctypes

    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]

    loaded = Filter(len(NO_EXEC) // 8, NO_EXEC)
    if ctypes.CDLL(None).prctl(SECCOMP, FILTER, ctypes.byref(loaded), 0, 0) != 0:
        sys.exit("the kernel does not take the filter")


def serve():
    import ctypes

    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    if NO_EXEC:
        give_up_programs()
    preload()
    rehearse()
    gc.collect()
    gc.freeze()
    how = None
    while True:
        pid = os.fork()
        if pid == 0:
            be_the_run(how)  # does not return
        how = outlive(pid)
        if somebody_is_left():
            os._exit(0)  # whoever is left is found by the one who watches over us


def outlive(pid):
    """Waits for the end of the one that reads the next letters and makes the next run, and of the group it leads; says how it
    went. It is made, and warm, before anybody waits for it, and talks to the other side itself."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    kill(-pid)
    status = os.waitpid(pid, 0)[1]
    kill(-pid)
    if os.waitstatus_to_exitcode(status) == NOBODY:
        os._exit(0)
    return problem(status)


def problem(status):
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGXCPU):
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


def be_the_run(before):
    """How the one before went is told with being ready: whoever waits for its answer will get none."""
    try:
        os.setsid()
        letters, answers = os.dup(0), os.dup(1)
        nothing = os.open("/dev/null", os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        rehearse()
        say(answers, {"ready": True, "problem": before})
        request = next_call(letters, answers)
        # Nothing is left for the code to find but its own letter and the way back.
        os.close(letters)
        # Code that gets rid of this gets rid of the whole worker: the other side has a clock as well.
        signal.setitimer(signal.ITIMER_REAL, request["seconds"])
        limit = int(request["seconds"])
        resource.setrlimit(resource.RLIMIT_CPU, (limit + 2, limit + 3))
        answer = Run(request).answer()
        answer["mark"] = request["mark"]
        data = json.dumps(answer).encode("ascii")
        if len(data) > LONGEST_ANSWER:
            data = b'{"problem": "an answer without end"}'
    except MemoryError:
        data = b'{"problem": "memory"}'
    except BaseException as trouble:
        data = json.dumps({"problem": "worker: %s" % type(trouble).__name__}).encode("ascii")
    try:
        write(answers, data + b"\n")
        time.sleep(0.0003)  # going away takes a while, and whoever waits for the answer may have been put behind us
    finally:
        os._exit(0)


def next_call(letters, answers):
    """Reads letters up to one that wants a run. The others run nothing of what they bring."""
    while True:
        line = read_line(letters)
        if not line:
            os._exit(NOBODY)
        letter = json.loads(line)
        if letter["do"] != "compile":
            return letter
        say(answers, {**try_compiling(letter["code"]), "mark": letter["mark"]})
        say(answers, {"ready": True})


def read_line(source):
    """Up to the end of a line, which is the end of what is sent; less when the other side is gone."""
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(source, 1 << 16)
        if not part:
            return b""
        line += part
    return line


def say(answers, answer):
    write(answers, json.dumps(answer).encode("ascii") + b"\n")


def write(answers, data):
    while data:
        data = data[os.write(answers, data):]


def rehearse():
    """A run of nothing much: what every run touches is touched, and copied, before anybody waits for it."""
    json.dumps(Run(json.loads(REHEARSAL)).answer())


REHEARSAL = json.dumps({
    "code": "def f(x: int) -> int:\n    if x:\n        raise ValueError(x)\n    return x\n",
    "function": "f", "args": ["1"], "kwargs": [], "branches": [],
    "conditions": [
        {"text": "x == 1", "before": True, "snapshot": None}, {"text": "_ == x", "before": False, "snapshot": None},
    ],
})


def try_compiling(code):
    """Whether CPython itself takes the code, and the line if not."""
    try:
        compile(code, "<code>", "exec", dont_inherit=True)
    except SyntaxError as problem:
        return {"line": problem.lineno or 1}
    except (ValueError, RecursionError, OverflowError):
        return {"line": 1}
    return {"line": None}
