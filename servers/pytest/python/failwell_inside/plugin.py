"""The plugin inside a run: each of pytest's hooks that matters tells an event."""

import signal
import threading

from .errors import error_in_text, error_in_trace, error_of, trace_of
from .outcomes import Tests
from .pipe import quiet
from .places import place_of
from .preload import bring_late_modules
from .text import LONGEST_MESSAGE, LONGEST_PATH, text_of


def plugin(pytest, pipe, settings):
    """The plugin object. It is handed over as an object, so the processes of pytest-xdist do not get it."""

    class Stream:
        def __init__(self):
            self.pipe = pipe
            self.tests = Tests(pipe)
            self.errors = {}
            self.reported = set()
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

        @pytest.hookimpl(tryfirst=True)
        @quiet
        def pytest_configure(self, config):
            bring_late_modules()
            workers = getattr(config.option, "numprocesses", None) or getattr(config.option, "tx", None)
            pipe.tell(e="hello", pytest=pytest.__version__)
            self.alarm = self.tests.single = not workers

        @quiet
        def pytest_collectstart(self, collector):
            self.collecting = collector

        @quiet
        def pytest_exception_interact(self, node, call, report):
            if call.when == "collect":
                self.errors[report.nodeid] = error_of(call.excinfo.value, text_of(getattr(node, "path", getattr(node, "fspath", "")), LONGEST_PATH))

        @quiet
        def pytest_collectreport(self, report):
            if report.failed:
                text = text_of(getattr(report, "longreprtext", report.longrepr))
                details = self.errors.pop(report.nodeid, None) or error_in_text(text)
                if (report.nodeid, details["msg"]) in self.reported:
                    return  # each process of pytest-xdist collects for itself
                self.reported.add((report.nodeid, details["msg"]))
                pipe.tell(e="collect_error", id=report.nodeid, tb=text, **details)

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

        @pytest.hookimpl(optionalhook=True)
        @quiet
        def pytest_testnodedown(self, node, error):
            """A process of pytest-xdist that leaves in the middle of a test was told to, by `pytest.exit`."""
            status = getattr(node, "workeroutput", {}).get("exitstatus", 2)
            if error is None and status != 2 and (self.tests.is_open_in(node.gateway.id) or status > 6):
                pipe.tell(e="interrupt", type="Exit", msg="a process of pytest-xdist left with status %s" % status)

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
                collector, path = self.collecting, text_of(getattr(self.collecting, "path", getattr(self.collecting, "fspath", "")), LONGEST_PATH)
                details = error_of(excinfo.value, path)
                pipe.tell(e="collect_error", id=collector.nodeid or path, tb=text_of(excrepr), **details)
            elif not self.tests.single:
                self.error_elsewhere(text_of(excrepr))
            pipe.tell(e="internal", type=kind, text=text_of(excrepr), collecting=self.collecting is not None)

        def error_elsewhere(self, text):
            """A module that leaves while a process of pytest-xdist imports it."""
            details = error_in_trace(text, settings["root"])
            if details is not None:
                pipe.tell(e="collect_error", id=details["path"], tb=text, **details)

        @pytest.hookimpl(trylast=True)
        @quiet
        def pytest_sessionfinish(self, session, exitstatus):
            self.tests.close_all()
            pipe.tell(e="finish", code=int(exitstatus))

    return Stream()


def start_alarm(pytest, seconds):
    """Fails the test that runs longer than this. What is stuck beyond the interpreter's reach is the server's to end."""
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
