"""Runs pytest and tells, over a pipe of its own, what happens: one JSON object per line.

Started as `python -c THIS run SETTINGS ARG…` (one run) or `python -c THIS serve SOCKET ROOT` (a worker that has
pytest imported already and forks once per run). Nothing here may raise into pytest, warn, or write into the project.
"""
import json
import os
import sys

LONGEST_TEXT = 65536
LONGEST_MESSAGE = 8192
LONGEST_SECTION = 16384
EVENTS_AT = 800  # far above what a test that closes "all" descriptors usually reaches


def cut(text, limit):
    """The head and the tail of a long text."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return "%s\n... %d characters left out ...\n%s" % (text[:half], len(text) - 2 * half, text[-half:])


def text_of(thing, limit=LONGEST_TEXT):
    try:
        return cut(str(thing), limit)
    except Exception as problem:
        return "<a %s that cannot be shown: %s>" % (type(thing).__name__, type(problem).__name__)


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

    import functools

    return functools.wraps(hook)(guarded)


class Tests:
    """Turns reports into one event per test."""

    def __init__(self, pipe):
        self.pipe = pipe
        self.open = {}
        self.may_wait = False
        self.single = False
        self.smooth = None  # a test of which nothing but good is known so far: id, duration, whether it was called

    def take(self, report):
        if self.single and report.outcome == "passed" and self.glide(report):
            return
        if self.smooth is not None:
            name, duration, called = self.smooth
            self.smooth = None
            self.open[name, None] = {"e": "test", "id": name, "o": "passed" if called else None, "d": duration}
        key = (report.nodeid, getattr(getattr(report, "node", None), "gateway", None) and report.node.gateway.id)
        test = self.open.get(key)
        if test is None:
            test = self.open[key] = {"e": "test", "id": report.nodeid, "o": None, "d": 0.0}
        if type(report).__name__ in ("SubtestReport", "SubTestReport"):
            self.subtest(test, report)
            return
        if report.outcome == "rerun":
            test["rerun"] = True
            return
        test["d"] += getattr(report, "duration", 0.0) or 0.0
        self.phase(test, report)
        if report.when in ("teardown", "???"):
            self.close(key)

    def glide(self, report):
        """The way of most tests: setup, call and teardown pass, and there is nothing to tell but that."""
        if report.__class__.__name__ != "TestReport" or hasattr(report, "wasxfail"):
            return False
        if report.when == "setup":
            if self.smooth is None and not self.open:
                self.smooth = (report.nodeid, report.duration, False)
                return True
            return False
        if self.smooth is None or self.smooth[0] != report.nodeid:
            return False
        duration = self.smooth[1] + report.duration
        if report.when == "call":
            self.smooth = (report.nodeid, duration, True)
            return True
        if not (report.when == "teardown" and self.smooth[2] and self.may_wait):
            return False
        self.smooth = None
        self.pipe.passed(report.nodeid, duration)
        return True

    def subtest(self, test, report):
        test["subtests"] = test.get("subtests", 0) + 1
        if report.failed:
            test["subfailed"] = test.get("subfailed", 0) + 1
            if "sub" not in test:
                test["sub"] = self.account(report)

    def phase(self, test, report):
        if report.failed:
            if test["o"] in ("failed", "error"):
                test["also"] = text_of(report.longreprtext, LONGEST_SECTION)
                return
            test["o"] = "failed" if report.when in ("call", "???") else "error"
            test["phase"] = report.when if report.when != "???" else "call"
            test.update(self.account(report))
        elif report.skipped:
            expected = hasattr(report, "wasxfail")
            test["o"] = "xfailed" if expected else "skipped"
            test["msg"] = text_of(report.wasxfail, LONGEST_MESSAGE) if expected else reason_of(report)
        elif report.when == "call":
            test["o"] = "xpassed" if hasattr(report, "wasxfail") else "passed"

    def account(self, report):
        """What failed, where, and what it printed."""
        told = {"tb": text_of(report.longreprtext)}
        crash = getattr(report.longrepr, "reprcrash", None)
        if crash is not None:
            told["msg"] = text_of(crash.message, LONGEST_MESSAGE)
            told["path"] = text_of(crash.path, 4096)
            told["line"] = crash.lineno
        else:
            lines = [line for line in told["tb"].splitlines() if line.strip()]
            told["msg"] = cut(lines[-1], LONGEST_MESSAGE) if lines else ""
        sections = [(name, cut(content, LONGEST_SECTION)) for name, content in report.sections if content]
        if sections:
            told["sections"] = sections[:6]
        return told

    def close(self, key):
        test = self.open.pop(key)
        if test.pop("rerun", False) and test["o"] is None:
            return
        sub = test.pop("sub", None)
        if sub is not None and test["o"] not in ("failed", "error"):
            test.update(sub, o="failed", phase="call")
        elif sub is not None:
            test["also"] = sub["tb"][:LONGEST_SECTION]
        if test["o"] is None:
            test["o"] = "passed"
        if len(test) == 4 and test["o"] == "passed" and self.may_wait:
            self.pipe.passed(test["id"], test["d"])
            return
        test["d"] = round(test["d"], 6)
        self.pipe.tell(**test)

    def close_all(self):
        self.smooth = None
        for key, test in list(self.open.items()):
            if test["o"] is not None:
                self.close(key)


def reason_of(report):
    longrepr = report.longrepr
    text = text_of(longrepr[2] if isinstance(longrepr, tuple) and len(longrepr) == 3 else longrepr, LONGEST_MESSAGE)
    return text[9:] if text.startswith("Skipped: ") else text


def error_of(error, path):
    """Type, message and line of an error during collection."""
    told = {}
    if type(error).__name__ == "ConftestImportFailure":
        path = told["path"] = text_of(error.path, 4096)
        inner = getattr(error, "cause", None) or getattr(error, "excinfo", None)
        error = inner[1] if isinstance(inner, tuple) else inner or error
    if type(error).__name__ == "CollectError" and getattr(error, "__cause__", None) is not None:
        error = error.__cause__
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    trace = getattr(error, "__traceback__", None)
    while trace is not None and not isinstance(error, SyntaxError):
        if path and trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    told.update(type=type(error).__name__, msg=text_of(error, LONGEST_MESSAGE), line=line)
    return told


def error_in_text(text):
    """The same from pytest's own account, for errors that come from another process."""
    found = {"type": "Error", "msg": "", "line": None}
    for line in text.splitlines():
        head, _, rest = line[4:].partition(": ") if line.startswith("E   ") else ("", "", "")
        name = head.strip()
        if name and name.replace(".", "").replace("_", "").isalnum() and name[:1].isalpha() and head == name:
            found["type"], found["msg"] = name.rsplit(".", 1)[-1], rest
        elif line.startswith("E     File ") and ", line " in line:
            digits = line.rsplit(", line ", 1)[1].strip()
            found["line"] = int(digits) if digits.isdigit() else None
    if not found["msg"] and text.strip():
        found["msg"] = cut(text.strip().splitlines()[-1], LONGEST_MESSAGE)
    return found


def plugin(pytest, pipe, settings):
    """The plugin object. It is handed over as an object, so the processes of pytest-xdist do not get it."""

    class Stream:
        def __init__(self):
            self.pipe = pipe
            self.tests = Tests(pipe)
            self.errors = {}
            self.collecting = None
            self.deselected = 0
            self.limit = settings.get("per_test_timeout")
            self.alarm = None

        @pytest.hookimpl(hookwrapper=True)
        def pytest_load_initial_conftests(self):
            outcome = yield
            problem = outcome.excinfo and outcome.excinfo[1]
            if problem is not None and type(problem).__name__ == "ConftestImportFailure":
                try:
                    pipe.tell(e="collect_error", id="", tb=trace_of(problem), **error_of(problem, None))
                except Exception:
                    pass

        @quiet
        def pytest_configure(self, config):
            workers = getattr(config.option, "numprocesses", None) or getattr(config.option, "tx", None)
            pipe.tell(e="hello", pytest=pytest.__version__)
            self.alarm = self.tests.single = not workers

        @quiet
        def pytest_collectstart(self, collector):
            self.collecting = collector

        @quiet
        def pytest_exception_interact(self, node, call, report):
            if call.when == "collect":
                self.errors[report.nodeid] = error_of(call.excinfo.value, text_of(getattr(node, "path", getattr(node, "fspath", "")), 4096))

        @quiet
        def pytest_collectreport(self, report):
            if report.failed:
                text = text_of(getattr(report, "longreprtext", report.longrepr))
                told = self.errors.pop(report.nodeid, None) or error_in_text(text)
                pipe.tell(e="collect_error", id=report.nodeid, tb=text, **told)

        @quiet
        def pytest_deselected(self, items):
            self.deselected += len(items)

        @quiet
        def pytest_collection_finish(self, session):
            pipe.tell(e="collected", n=len(session.items), deselected=self.deselected)
            if settings.get("items"):
                root = str(session.config.rootdir if not hasattr(session.config, "rootpath") else session.config.rootpath)
                for item in session.items:
                    pipe.tell(e="item", **place_of(item, root))

        @pytest.hookimpl(optionalhook=True)
        @quiet
        def pytest_xdist_node_collection_finished(self, node, ids):
            pipe.tell(e="collected", n=len(ids), deselected=0)

        @quiet
        def pytest_runtest_logstart(self, nodeid, location):
            self.collecting = None
            pipe.started(nodeid)

        @quiet
        def pytest_runtest_logreport(self, report):
            self.tests.take(report)

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_protocol(self, item, nextitem):
            self.tests.may_wait = nextitem is not None  # the next test's start takes it along, and soon
            stop = start_alarm(pytest, self.limit) if self.limit and self.alarm else None
            yield
            if stop:
                stop()

        @quiet
        def pytest_keyboard_interrupt(self, excinfo):
            pipe.tell(e="interrupt", type=excinfo.type.__name__, msg=text_of(excinfo.value, LONGEST_MESSAGE))

        @quiet
        def pytest_internalerror(self, excrepr, excinfo):
            kind = excinfo.type.__name__
            if self.collecting is not None and kind in ("SystemExit", "ConftestImportFailure"):
                collector, path = self.collecting, text_of(getattr(self.collecting, "path", getattr(self.collecting, "fspath", "")), 4096)
                told = error_of(excinfo.value, path)
                pipe.tell(e="collect_error", id=collector.nodeid or path, tb=text_of(excrepr), **told)
            pipe.tell(e="internal", type=kind, text=text_of(excrepr), collecting=self.collecting is not None)

        @pytest.hookimpl(trylast=True)
        @quiet
        def pytest_sessionfinish(self, session, exitstatus):
            self.tests.close_all()
            pipe.tell(e="finish", code=int(exitstatus))

    return Stream()


def trace_of(problem):
    """The traceback of an error in a conftest, without the frames between pytest and the project."""
    import traceback

    inner = getattr(problem, "cause", None) or getattr(problem, "excinfo", None) or problem
    error = inner[1] if isinstance(inner, tuple) else inner
    try:
        frames = traceback.extract_tb(error.__traceback__)
        kept = [f for f in frames if "/_pytest/" not in f.filename and "/pluggy/" not in f.filename and not f.filename.startswith("<frozen")]
        lines = traceback.format_list(kept) + traceback.format_exception_only(type(error), error)
        return cut("".join(lines), LONGEST_TEXT)
    except Exception:
        return text_of(problem)


def place_of(item, root):
    """Where a collected test is: what discover_tests answers with."""
    classes, node = [], getattr(item, "parent", None)
    while node is not None:
        if type(node).__name__ in ("Class", "UnitTestCase"):
            classes.append(node.name)
        node = getattr(node, "parent", None)
    file, line, _ = item.location
    module = getattr(getattr(item, "module", None), "__name__", None)
    return {
        "id": item.nodeid,
        "module": module or os.path.splitext(os.path.basename(file))[0],
        "class": ".".join(reversed(classes)) or None,
        "function": getattr(item, "originalname", None) or item.name,
        "file": file,
        "line": None if line is None else line + 1,
    }


def start_alarm(pytest, seconds):
    """Fails the test that runs longer than this. What is stuck beyond the interpreter's reach is the server's to end."""
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        return None

    def late(number, frame):
        __tracebackhide__ = True
        pytest.fail("the test ran longer than its limit of %g seconds" % seconds)

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)

    def stop():
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    return stop


def keep_bytecode_out(root, folder):
    """Compiled files of the project go to our folder; everything else keeps its usual place."""
    inside = os.path.join(root, "")
    prefix = os.path.join(sys.prefix, "")

    def ours(path):
        path = os.path.abspath(path)
        return path.startswith(inside) and not path.startswith(prefix)

    try:
        from importlib import _bootstrap_external as machinery

        usual = machinery.cache_from_source

        def cache_from_source(path, *args, **kwargs):
            place = usual(path, *args, **kwargs)
            if not ours(path):
                return place
            return os.path.join(folder, os.path.abspath(os.path.dirname(path)).lstrip("/"), os.path.basename(place))

        machinery.cache_from_source = cache_from_source
        from _pytest.assertion import rewrite

        elsewhere = rewrite.get_cache_dir

        def get_cache_dir(path):
            if not ours(str(path)):
                return elsewhere(path)
            return type(path)(os.path.join(folder, os.path.abspath(str(path.parent)).lstrip("/")))

        rewrite.get_cache_dir = get_cache_dir
        sys.dont_write_bytecode = False
    except Exception:
        sys.dont_write_bytecode = True


def become_main():
    """`__main__` is what it is under `python -m pytest`: multiprocessing looks at it."""
    import importlib.util
    import types

    spec = importlib.util.find_spec("pytest.__main__")
    main = types.ModuleType("__main__")
    if spec is not None:
        main.__spec__, main.__file__, main.__loader__ = spec, spec.origin, spec.loader
        main.__package__ = "pytest"
    sys.modules["__main__"] = main
    return spec.origin if spec is not None else "pytest"


def run(settings, arguments, fd):
    """One run, from the import of pytest to its exit code."""
    import fcntl
    import gc

    try:
        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, EVENTS_AT)
    except (OSError, ValueError):
        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(fd)
    pipe = Pipe(high)
    os.environ.update(settings.get("environment") or {})
    pipe.tell(e="python", version="%d.%d.%d" % sys.version_info[:3], executable=sys.executable, pid=os.getpid())
    if not getattr(sys.flags, "safe_path", False) and os.getcwd() not in sys.path[:1]:
        if sys.path[:1] == [""]:
            sys.path[0] = os.getcwd()
        else:
            sys.path.insert(0, os.getcwd())
    try:
        import faulthandler
        import signal

        faulthandler.register(signal.SIGUSR2, file=high, all_threads=True, chain=False)
    except Exception:
        pass
    try:
        import pytest
    except ImportError as problem:
        pipe.tell(e="no_pytest", msg=text_of(problem, 500), missing=getattr(problem, "name", None) == "pytest")
        return 127
    keep_bytecode_out(settings["root"], settings["bytecode"])
    arguments = optional(settings, list(arguments), pipe)
    sys.argv = [become_main()] + arguments
    gc.freeze()  # what is loaded by now stays; the collector need not walk it again and again
    code = pytest.main(arguments, plugins=[plugin(pytest, pipe, settings)])
    pipe.tell(e="exit", code=int(code))
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return int(code)


def optional(settings, arguments, pipe):
    """Options of plugins that may not be there."""
    import importlib.util

    if settings.get("workers"):
        if importlib.util.find_spec("xdist"):
            arguments[:0] = ["-n", str(settings["workers"])]
        else:
            pipe.tell(e="lacks", what="pytest-xdist")
    if settings.get("coverage"):
        if importlib.util.find_spec("pytest_cov"):
            arguments[:0] = ["--cov", "--cov-report=", "--cov-report=json:" + settings["coverage"]]
        else:
            pipe.tell(e="lacks", what="pytest-cov")
    return arguments


def main():
    verb = sys.argv[1]
    if verb == "run":
        settings = json.loads(sys.argv[2])
        sys.exit(run(settings, sys.argv[3:], int(os.environ.pop("FAILWELL_EVENTS"))))
    serve(sys.argv[2], sys.argv[3])


class NoConfig:
    """As much of a pytest configuration as importing a plugin through the rewriting hook needs."""

    def __init__(self):
        self.stash = self._store = self

    def __getitem__(self, key):
        return self

    def getini(self, name):
        return ["test_*.py", "*_test.py"] if name == "python_files" else False

    def trace(self, message):
        pass

    def issue_config_time_warning(self, warning, stacklevel):
        pass


def preload():
    """Imports pytest's own plugins, and the installed ones through its rewriting hook, as pytest itself would."""
    from _pytest.assertion.rewrite import AssertionRewritingHook
    from _pytest.config import _iter_rewritable_modules, get_config

    get_config([])._ensure_unconfigure()
    try:
        from importlib.metadata import distributions
    except ImportError:
        return
    if os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        return
    found = [(d, [p for p in d.entry_points if p.group == "pytest11"]) for d in distributions()]
    found = [(distribution, points) for distribution, points in found if points]
    hook = AssertionRewritingHook(NoConfig())
    for name in _iter_rewritable_modules(str(file) for distribution, _ in found for file in distribution.files or []):
        hook.mark_rewrite(name)
    sys.meta_path.insert(0, hook)
    try:
        for _, points in found:
            for point in points:
                __import__(point.value.partition(":")[0].strip())
    finally:
        sys.meta_path.remove(hook)


class Loaded:
    """What is in memory already, and whether it still is what a fresh process would load."""

    def __init__(self, root):
        inside, prefix = os.path.join(root, ""), os.path.join(sys.prefix, "")
        self.files, self.names, self.own = {}, set(), False
        # Where a fresh process would look first: the project, and what the search path has of it.
        self.searched = [root]
        for name, module in list(sys.modules.items()):
            self.names.add(name.partition(".")[0])
            path = getattr(module, "__file__", None)
            if path and os.path.exists(path):
                self.files[path] = os.stat(path).st_mtime_ns
                self.own = self.own or (path.startswith(inside) and not path.startswith(prefix))
        for folder in map(os.path.abspath, sys.path):
            if folder.startswith(inside) and not folder.startswith(prefix):
                self.searched.append(folder)
            elif os.path.isdir(folder):
                self.files[folder] = os.stat(folder).st_mtime_ns
        self.paths = self.path_files()

    def path_files(self):
        import glob

        found = {}
        for folder in sys.path:
            for path in glob.glob(os.path.join(glob.escape(folder), "*.pth")):
                found[path] = os.stat(path).st_mtime_ns
        return found

    def objection(self):
        """Why this must not be used, or nothing."""
        if self.own:
            return "the project is loaded already"
        try:
            for path, then in self.files.items():
                if os.stat(path).st_mtime_ns != then:
                    return "something installed has changed"
            if self.path_files() != self.paths:
                return "the search path has changed"
            for folder in self.searched:
                if os.path.isdir(folder) and any(self.is_shadowed(folder, entry) for entry in os.listdir(folder)):
                    return "the project has a module of the same name as one that is loaded"
            if len(os.listdir("/proc/self/task")) != 1:
                return "a thread is running"
        except OSError:
            return "something installed has changed"
        return None

    def is_shadowed(self, folder, entry):
        if entry.partition(".")[0] not in self.names:
            return False
        return entry.endswith((".py", ".so")) or os.path.exists(os.path.join(folder, entry, "__init__.py"))


def serve(path, root):
    """A worker: pytest and its plugins are imported, nothing of the project is; each request is a fork."""
    import ctypes
    import gc
    import select
    import socket
    import struct

    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.connect(path)
    if sys.path[:1] == [""]:
        sys.path.pop(0)
    try:
        import faulthandler, fcntl, signal, threading  # noqa: E401,F401  what each run needs, imported once

        import pytest  # noqa: F401

        preload()
        loaded, objection = Loaded(root), None
        objection = loaded.objection()
    except BaseException as problem:
        loaded, objection = None, "%s while loading" % type(problem).__name__
    send(link, ready=objection is None, objection=objection)
    if objection is not None:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    gc.collect()
    gc.freeze()  # what is shared with the forks stays shared: their collector leaves it alone
    children = set()
    while True:
        if not select.select([link], [], [], 1.0 if children else None)[0]:
            reap(children)
            continue
        size, descriptors = receive(link, struct)
        if size is None:
            return
        request = json.loads(read_exactly(link, size).decode("utf-8"))
        reap(children)
        objection = loaded.objection()
        if objection is not None:
            send(link, forked=False, objection=objection)
            return
        pid = os.fork()
        if pid == 0:
            link.close()
            oversee(request, descriptors, libc)  # does not return
        children.add(pid)
        for descriptor in descriptors:
            os.close(descriptor)
        send(link, forked=True)


def send(link, **message):
    link.sendall(json.dumps(message).encode("utf-8") + b"\n")


def receive(link, struct):
    import array
    import socket

    numbers = array.array("i")
    head, extra, _, _ = link.recvmsg(4, socket.CMSG_LEN(4 * numbers.itemsize))
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    if not head:
        return None, []
    head += read_exactly(link, 4 - len(head))
    return struct.unpack(">I", head)[0], list(numbers)


def read_exactly(link, size):
    parts = b""
    while len(parts) < size:
        part = link.recv(min(65536, size - len(parts)))
        if not part:
            os._exit(1)
        parts += part
    return parts


def reap(children):
    for pid in list(children):
        try:
            if os.waitpid(pid, os.WNOHANG)[0]:
                children.discard(pid)
        except ChildProcessError:
            children.discard(pid)


def oversee(request, descriptors, libc):
    """The process between the worker and one run: whatever the run leaves behind becomes its child, and is ended."""
    import select
    import signal

    out, err, events, control = descriptors
    os.setsid()
    libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    os.set_blocking(woken, False)
    runner = os.fork()
    if runner == 0:
        os.setsid()
        os.dup2(out, 1)
        os.dup2(err, 2)
        for descriptor in (out, err, control, woken, waker):
            os.close(descriptor)
        os.set_inheritable(1, True)
        os.set_inheritable(2, True)
        leave(run(request["settings"], request["arguments"], events))
    for descriptor in (out, err, events):
        os.close(descriptor)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    status = None
    while status is None:
        ready = select.select([control, woken], [], [], 1.0)[0]
        if woken in ready:
            os.read(woken, 512)
        if control in ready:
            status = obey(os.read(control, 64), runner)
        while status is None:
            try:
                pid, raw = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                pid, raw = runner, 9
            if pid == 0:
                break
            if pid == runner:
                status = raw
    end_all()
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            told = {"signal": signal.Signals(number).name}
        except ValueError:
            told = {"signal": "SIGRT"}
    else:
        told = {"code": os.WEXITSTATUS(status)}
    try:
        os.write(control, json.dumps(told).encode("utf-8") + b"\n")
    finally:
        os._exit(0)


def leave(code):
    """Ends as the interpreter would, up to the point where it would take apart what the worker owns."""
    import atexit
    import threading

    try:
        threading._shutdown()
        atexit._run_exitfuncs()
    except BaseException:
        pass
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    os._exit(code)


def obey(orders, runner):
    """Numbers are signals for the run; silence means that nobody waits for it any more."""
    import signal

    if not orders:
        os.kill(runner, signal.SIGKILL)
        return os.waitpid(runner, 0)[1]
    for order in orders.split():
        os.kill(runner, int(order))
    return None


def end_all():
    """Ends every child; their children become ours, until there are none."""
    import signal

    me = str(os.getpid())
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open("/proc/%s/stat" % entry, "rb") as file:
                        parent = file.read().rpartition(b")")[2].split()[1].decode()
                    if parent == me:
                        os.kill(int(entry), signal.SIGKILL)
                except (OSError, IndexError):
                    pass
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


if __name__ == "__main__":
    main()
