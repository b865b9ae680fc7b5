"""One run, from the import of pytest to its exit code."""

import atexit
import faulthandler
import fcntl
import gc
import importlib.util
import os
import signal
import sys
import threading
import types

from .bytecode import keep_bytecode_out
from .pipe import Pipe
from .plugin import plugin
from .text import text_of

EVENTS_AT = 800  # far above what a test that closes "all" descriptors usually reaches


def run(settings, arguments, fd):
    """Runs pytest, and tells over the pipe what happens."""
    pipe = Pipe(out_of_reach(fd))
    os.environ.update(settings.get("environment") or {})
    pipe.tell(e="python", version="%d.%d.%d" % sys.version_info[:3], executable=sys.executable, pid=os.getpid())
    begin_search_here()
    try:
        faulthandler.register(signal.SIGUSR2, file=pipe.fd, all_threads=True, chain=False)
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


def out_of_reach(fd):
    """The same descriptor, where tests that close what they did not open do not look."""
    try:
        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, EVENTS_AT)
    except (OSError, ValueError):
        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(fd)
    return high


def begin_search_here():
    """Modules are looked for here first, as under `python -m pytest`."""
    if getattr(sys.flags, "safe_path", False) or os.getcwd() in sys.path[:1]:
        return
    if sys.path[:1] == [""]:
        sys.path[0] = os.getcwd()
    else:
        sys.path.insert(0, os.getcwd())


def optional(settings, arguments, pipe):
    """Options of plugins that may not be there."""
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


def become_main():
    """`__main__` is what it is under `python -m pytest`: multiprocessing looks at it."""
    spec = importlib.util.find_spec("pytest.__main__")
    main = types.ModuleType("__main__")
    if spec is not None:
        main.__spec__, main.__file__, main.__loader__ = spec, spec.origin, spec.loader
        main.__package__ = "pytest"
    sys.modules["__main__"] = main
    return spec.origin if spec is not None else "pytest"


def leave(code):
    """Ends as the interpreter would, up to the point where it would take apart what the worker owns."""
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
