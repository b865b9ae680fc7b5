# The replay worker, passed to the interpreter with -c. It reads one request per line of JSON. It writes one line with the
# response, which repeats the request's nonce, and one more line when it is ready for the next request.
# Each call runs in a fork made ahead of time; the parent never runs analysed code. The sandbox lets it read Python's own files
# and write nothing. Analysed code cannot forge a later response, because it cannot guess the next nonce.
import binascii
import gc
import json
import os
import resource
import signal
import sys
import time

LONGEST_ANSWER = 4 << 20
CLOSED = 77  # exit status: the server closed its end of the pipe
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
SECCOMP, FILTER = 22, 2  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER

os.environ.clear()
sys.path[:] = [place for place in sys.path if place]
NO_EXEC = binascii.a2b_base64("".join(sys.argv[1:]))  # a filter for the kernel, or nothing where there is no sandbox
sys.argv = [""]


def preload():
    """Imports the modules that analysed code may import, so that no fork has to."""
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
    """A decorator of a contract library that changes nothing: the engine evaluates the conditions itself."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("DBC", "ViolationError", "ContractError", "PreContractError", "PostContractError"):
        return type(name, (AssertionError,) if name.endswith("Error") else (), {})

    def decorate(*arguments, **options):
        if len(arguments) == 1 and not options and name in ("pure", "safe", "invariant_free"):
            return arguments[0]
        return lambda decorated: decorated

    return decorate


def confine():
    """Adopts the processes a run leaves behind, and loads the seccomp filter: from here on nothing can start a program, and
    no run can change that. It cannot happen earlier, because this interpreter is a program itself."""
    import ctypes

    libc = ctypes.CDLL(None)
    libc.prctl(SUBREAPER, 1, 0, 0, 0)
    if not NO_EXEC:
        return

    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]

    loaded = Filter(len(NO_EXEC) // 8, NO_EXEC)
    if libc.prctl(SECCOMP, FILTER, ctypes.byref(loaded), 0, 0) != 0:
        sys.exit("the kernel does not take the filter")


def serve():
    confine()
    preload()
    rehearse()
    gc.collect()
    gc.freeze()
    how = None
    while True:
        pid = os.fork()
        if pid == 0:
            run_child(how)  # does not return
        how = reap(pid)
        if has_survivors():
            os._exit(0)  # the supervisor kills the survivors


def reap(pid):
    """Waits until the child that serves the next request has ended, kills its process group, and says how it ended."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    kill(-pid)
    status = os.waitpid(pid, 0)[1]
    kill(-pid)
    if os.waitstatus_to_exitcode(status) == CLOSED:
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


def has_survivors():
    """Processes that the run started became our children when the run ended."""
    for _ in range(20):
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.002)
        except ChildProcessError:
            return False
    return True


def run_child(before):
    """Serves one request. The ready line says how the previous child ended, because that child may have sent no response."""
    try:
        os.setsid()
        requests, answers = os.dup(0), os.dup(1)
        nothing = os.open("/dev/null", os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        rehearse()
        say(answers, {"ready": True, "problem": before})
        request = next_call(requests, answers)
        # The analysed code finds no open file but the way back.
        os.close(requests)
        # Code that disables this timer loses the whole worker: the server has a deadline as well.
        signal.setitimer(signal.ITIMER_REAL, request["seconds"])
        limit = int(request["seconds"])
        resource.setrlimit(resource.RLIMIT_CPU, (limit + 2, limit + 3))
        answer = Run(request).answer()
        answer["nonce"] = request["nonce"]
        data = json.dumps(answer).encode("ascii")
        if len(data) > LONGEST_ANSWER:
            data = b'{"problem": "an answer without end"}'
    except MemoryError:
        data = b'{"problem": "memory"}'
    except BaseException as trouble:
        data = json.dumps({"problem": "worker: %s" % type(trouble).__name__}).encode("ascii")
    try:
        write(answers, data + b"\n")
        time.sleep(0.0003)  # exiting takes a while; this lets the reader of the response be scheduled first
    finally:
        os._exit(0)


def next_call(requests, answers):
    """Reads requests up to the next call. A `compile` request runs no analysed code and is answered here."""
    while True:
        line = read_line(requests)
        if not line:
            os._exit(CLOSED)
        request = json.loads(line)
        if request["do"] != "compile":
            return request
        say(answers, {**try_compiling(request["code"]), "nonce": request["nonce"]})
        say(answers, {"ready": True})


def read_line(source):
    """Reads one line. Nothing when the server is gone."""
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
    """Warms up: touches, and so copies, the pages that every run touches before a request arrives."""
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
