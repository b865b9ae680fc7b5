"""The table of fixtures and their expected results, the same for cold and warm workers."""


class Good:
    """An ordinary result."""

    def __init__(self, exit_code, status, counts, errors=()):
        self.exit_code, self.status, self.counts, self.errors = exit_code, status, counts, list(errors)

    def check(self, outcome):
        assert not outcome.failed, outcome
        result = outcome.structured
        assert (result["exit_code"], result["status"]) == (self.exit_code, self.status), outcome
        assert outcome.counts() == self.counts, outcome
        assert sum(outcome.counts()) == result["summary"]["total"], outcome
        found = [(error["file"], error["error_type"], error["line"]) for error in result["collection_errors"]]
        assert found == self.errors, outcome


class Bad:
    """A failure."""

    def __init__(self, reason, error_type, message, exit_code=None, signal=None, running=None, counts=None, stack=None):
        self.reason, self.error_type, self.message = reason, error_type, message
        self.exit_code, self.signal, self.running, self.counts, self.stack = exit_code, signal, running, counts, stack

    def check(self, outcome):
        assert outcome.failed, outcome
        assert outcome.reason == "pytest/" + self.reason, outcome
        code = -32602 if self.reason == "USAGE" else -32000
        assert (outcome.structured["code"], outcome.structured["message"]) == (code, self.message), outcome
        data = outcome.data
        assert set(data) >= {"error_type", "exit_code", "signal", "stdout", "stderr", "command", "duration"}, outcome
        found = (data["error_type"], data["exit_code"], data["signal"])
        assert found == (self.error_type, self.exit_code, self.signal), outcome
        if self.running is not None:
            assert outcome.partial["running"] == self.running, outcome
        if self.counts is not None:
            assert outcome.counts() == self.counts, outcome
        if self.stack is not None:
            assert self.stack in outcome.partial["stack"], outcome


INTERRUPTED = "pytest execution failed: Test execution was interrupted"
INTERNAL = "pytest execution failed: pytest internal error occurred"
USAGE = "pytest execution failed: Invalid pytest arguments (validation failure)"


def interrupted(code, running, counts):
    return Bad("INTERRUPTED", "interrupted", INTERRUPTED, code, running=running, counts=counts)


def killed(name, file, test):
    message = f"pytest subprocess terminated with signal {name}"
    return Bad("CRASHED", "crash", message, signal=name, running=f"{file}::{test}", counts=(1, 0, 0, 0))


def timeout(seconds, running, stack):
    message = f"pytest execution exceeded timeout of {seconds} seconds"
    return Bad("TIMEOUT", "timeout", message, running=running, stack=stack)


def rows(major):
    """The rows for one major version of pytest."""
    late = major >= 8
    exits = Good(3 if late else 2, "collection_error", (0, 0, 0, 0), [("test_leaves.py", "SystemExit", 3)])
    return [
        ("passing", {}, Good(0, "passed", (2, 0, 0, 0))),
        ("failing", {}, Good(1, "failed", (1, 4, 0, 0))),
        ("failing", {"failfast": True}, Good(1, "failed", (1, 1, 0, 0))),
        ("failing", {"maxfail": 2}, Good(1, "failed", (1, 2, 0, 0))),
        ("phases", {}, Good(1, "failed", (2, 2, 4, 2))),
        ("empty", {}, Good(5, "no_tests", (0, 0, 0, 0))),
        ("passing", {"keywords": "nothing_is_called_so"}, Good(5, "no_tests", (0, 0, 0, 0))),
        ("syntax_error", {}, Good(2, "collection_error", (0, 0, 0, 0), [("test_bad.py", "SyntaxError", 4)])),
        ("import_error", {}, Good(2, "collection_error", (0, 0, 0, 0), [("test_bad.py", "ModuleNotFoundError", 3)])),
        ("import_error", {"failfast": True}, Good(1, "collection_error", (0, 0, 0, 0), [("test_bad.py", "ModuleNotFoundError", 3)])),
        ("import_error", {"node_ids": ["test_bad.py::test_x"]}, Good(4, "collection_error", (0, 0, 0, 0), [("test_bad.py", "ModuleNotFoundError", 3)])),
        ("continue_on_errors", {}, Good(1, "collection_error", (1, 0, 0, 0), [("test_bad.py", "ModuleNotFoundError", 3)])),
        ("conftest_error", {}, Good(4, "collection_error", (0, 0, 0, 0), [("conftest.py", "RuntimeError", 3)])),
        ("conftest_below", {}, Good(2, "collection_error", (0, 0, 0, 0), [("below/conftest.py", "ModuleNotFoundError", 1)])),
        ("module_exit", {}, exits),
        ("keyboard_interrupt", {}, interrupted(2, "test_a.py::test_interrupts", (1, 0, 0, 0))),
        ("sigint", {}, interrupted(2, "test_a.py::test_interrupts", (1, 0, 0, 0))),
        ("pytest_exit", {"node_ids": ["test_0.py"]}, interrupted(0, "test_0.py::test_leaves", (1, 1, 0, 0))),
        ("pytest_exit", {"node_ids": ["test_2.py"]}, interrupted(2, "test_2.py::test_leaves", (1, 1, 0, 0))),
        ("pytest_exit", {"node_ids": ["test_7.py"]}, interrupted(7, "test_7.py::test_leaves", (1, 1, 0, 0))),
        ("internal_error", {}, Bad("INTERNAL", "pytest_internal", INTERNAL, 3)),
        ("usage_error", {}, Bad("USAGE", "usage_error", USAGE, 4)),
        ("passing", {"node_ids": ["test_a.py::test_three"]}, Bad("USAGE", "usage_error", USAGE, 4)),
        ("crash", {"node_ids": ["test_segfault.py"]}, killed("SIGSEGV", "test_segfault.py", "test_segfault")),
        ("crash", {"node_ids": ["test_abort.py"]}, killed("SIGABRT", "test_abort.py", "test_abort")),
        ("crash", {"node_ids": ["test_kill.py"]}, killed("SIGKILL", "test_kill.py", "test_kill")),
        (
            "crash",
            {"node_ids": ["test_exit_zero.py"]},
            Bad(
                "CRASHED",
                "crash",
                "pytest subprocess terminated before the session finished, with exit code 0",
                0,
                running="test_exit_zero.py::test_exit_zero",
                counts=(1, 0, 0, 0),
            ),
        ),
        (
            "crash",
            {"node_ids": ["test_exit_odd.py"]},
            Bad("UNKNOWN_EXIT", "unknown", "pytest execution failed: pytest exited with unexpected code 77", 77),
        ),
        ("hang", {"node_ids": ["test_hang.py"], "timeout": 6}, timeout(6, "test_hang.py::test_hang", "line 9 in test_hang")),
        (
            "hang",
            {"node_ids": ["test_ignores_term.py"], "timeout": 6},
            timeout(6, "test_ignores_term.py::test_ignores_term", "line 9 in test_ignores_term"),
        ),
        ("hang", {"node_ids": ["test_in_c.py"], "timeout": 6}, timeout(6, "test_in_c.py::test_in_c", "line 5 in test_in_c")),
        ("hang", {"node_ids": ["test_hang.py"], "per_test_timeout": 2.5}, Good(1, "failed", (1, 1, 0, 0))),
        ("hang", {"node_ids": ["test_in_c.py"], "per_test_timeout": 2.5}, timeout("2.5", "test_in_c.py::test_in_c", "line 5")),
        ("leftovers", {}, Good(0, "passed", (3, 0, 0, 0))),
        ("lingering", {}, Good(0, "passed", (1, 0, 0, 0))),
        ("closes_descriptors", {}, Good(0, "passed", (1, 0, 0, 0))),
        ("output", {"node_ids": ["test_flood.py"]}, Good(1, "failed", (1, 1, 0, 0))),
        ("output", {"node_ids": ["test_bytes.py"]}, Good(1, "failed", (1, 1, 0, 0))),
        ("odd_ids", {}, Good(0, "passed", (32, 0, 0, 0))),
        ("nested", {}, Good(1, "failed", (3, 1, 2, 0))),
        ("subtests", {}, Good(1, "failed", (1, 1, 0, 0))),
        ("strict", {"markers": "slow"}, Good(0, "passed", (1, 0, 0, 0))),
        ("strict", {}, Good(0, "passed", (2, 0, 0, 0))),
        ("no_cache", {}, Good(0, "passed", (1, 0, 0, 0))),
        ("selecting", {"keywords": "alpha or gamma"}, Good(1, "failed", (1, 1, 0, 0))),
        ("selecting", {"markers": "skipif"}, Good(0, "passed", (0, 0, 1, 0))),
        ("selecting", {"node_ids": ["test_select.py::TestGroup"]}, Good(1, "failed", (1, 1, 0, 0))),
        ("selecting", {"verbosity": 2}, Good(1, "failed", (1, 2, 1, 0))),
        ("selecting", {"verbosity": -2, "show_capture": False}, Good(1, "failed", (1, 2, 1, 0))),
        ("spawn_method", {}, Good(0, "passed", (1, 0, 0, 0))),
    ]


def spread():
    """The same over two processes of pytest-xdist, where pytest itself behaves differently in places."""
    crashed = Good(1, "failed", (1, 1, 0, 0))
    return [
        ("passing", {}, Good(0, "passed", (2, 0, 0, 0))),
        ("failing", {}, Good(1, "failed", (1, 4, 0, 0))),
        ("phases", {}, Good(1, "failed", (2, 2, 4, 2))),
        ("empty", {}, Good(5, "no_tests", (0, 0, 0, 0))),
        ("syntax_error", {}, Good(1, "collection_error", (1, 0, 0, 0), [("test_bad.py", "SyntaxError", 4)])),
        ("conftest_error", {}, Good(4, "collection_error", (0, 0, 0, 0), [("conftest.py", "RuntimeError", 3)])),
        ("conftest_below", {}, Good(1, "collection_error", (1, 0, 0, 0), [("below/conftest.py", "ModuleNotFoundError", 1)])),
        ("import_error", {}, Good(1, "collection_error", (1, 0, 0, 0), [("test_bad.py", "ModuleNotFoundError", 3)])),
        ("continue_on_errors", {}, Good(1, "collection_error", (1, 0, 0, 0), [("test_bad.py", "ModuleNotFoundError", 3)])),
        ("keyboard_interrupt", {}, Bad("INTERRUPTED", "interrupted", INTERRUPTED, 2)),
        ("sigint", {}, Bad("INTERRUPTED", "interrupted", INTERRUPTED, 2)),
        ("module_exit", {}, Good(3, "collection_error", (0, 0, 0, 0), [("test_leaves.py", "SystemExit", 3)])),
        # pytest-xdist fails with code 3 when a worker process exits, whatever code the project chose.
        ("pytest_exit", {"node_ids": ["test_0.py"]}, Bad("INTERRUPTED", "interrupted", INTERRUPTED, 3)),
        ("pytest_exit", {"node_ids": ["test_2.py"]}, Bad("INTERRUPTED", "interrupted", INTERRUPTED, 2)),
        ("pytest_exit", {"node_ids": ["test_7.py"]}, Bad("INTERRUPTED", "interrupted", INTERRUPTED, 3)),
        ("internal_error", {}, Bad("INTERNAL", "pytest_internal", INTERNAL, 3)),
        ("usage_error", {}, Bad("USAGE", "usage_error", USAGE, 4)),
        ("crash", {"node_ids": ["test_segfault.py"]}, crashed),
        ("crash", {"node_ids": ["test_abort.py"]}, crashed),
        ("crash", {"node_ids": ["test_kill.py"]}, crashed),
        ("leftovers", {"node_ids": ["test_grandchild.py"]}, Good(0, "passed", (2, 0, 0, 0))),
        ("leftovers", {"node_ids": ["test_daemon.py"]}, Good(0, "passed", (1, 0, 0, 0))),
        ("output", {"node_ids": ["test_flood.py"]}, Good(1, "failed", (1, 1, 0, 0))),
        ("strict", {}, Good(0, "passed", (2, 0, 0, 0))),
        ("crash", {"node_ids": ["test_exit_zero.py"]}, crashed),
        ("hang", {"node_ids": ["test_hang.py"], "timeout": 10}, timeout(10, "test_hang.py::test_hang", None)),
        ("hang", {"node_ids": ["test_ignores_term.py"], "timeout": 10}, timeout(10, "test_ignores_term.py::test_ignores_term", None)),
        ("hang", {"node_ids": ["test_in_c.py"], "timeout": 10}, timeout(10, "test_in_c.py::test_in_c", None)),
        ("odd_ids", {}, Good(0, "passed", (32, 0, 0, 0))),
        ("nested", {}, Good(1, "failed", (3, 1, 2, 0))),
        ("subtests", {}, Good(1, "failed", (1, 1, 0, 0))),
        # execnet cannot serialize this report, and the run still ends with code 0.
        (
            "output",
            {"node_ids": ["test_bytes.py"]},
            Bad("CRASHED", "crash", "pytest subprocess terminated before the session finished, with exit code 0", 0),
        ),
    ]
