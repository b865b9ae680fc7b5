//! The reasons of the pytest server. Failing tests are not among them: they are an ordinary result (ADR
//! 0003).

pub(crate) use failwell_fault::reason::*;

failwell_fault::reasons! {
    PYTEST_INTERRUPTED = "pytest/INTERRUPTED" {
        Broken, ToolFailed, Server,
        title: "the test run was interrupted",
        detail: "pytest execution failed: Test execution was interrupted",
        hint: "run the tests again, or deselect the test that interrupts; data.partial has the results so far",
        about: "A test raised KeyboardInterrupt or called pytest.exit, or the process received SIGINT. Collection errors also give exit code 2, but they are an ordinary result.",
    }
    PYTEST_CRASHED = "pytest/CRASHED" {
        Broken, ToolFailed, Server,
        title: "pytest terminated during the run",
        detail: "pytest subprocess terminated {how}{ended_by}",
        hint: "look at the test that was running (data.partial.running), fix or deselect it, then run again",
        about: "A signal or a call such as os._exit ended the process before the session finished. Exit code 0 without a finished session is a crash, too. The results so far are attached.",
    }
    PYTEST_INTERNAL = "pytest/INTERNAL" {
        Broken, ToolFailed, Server,
        title: "pytest had an internal error",
        detail: "pytest execution failed: pytest internal error occurred",
        hint: "read INTERNALERROR in stdout: usually a plugin or a conftest hook raised; fix it, or disable that plugin",
        about: "pytest ended with exit code 3: one of its hooks raised an exception, most often in a plugin or a conftest.py.",
    }
    PYTEST_USAGE = "pytest/USAGE" {
        Invalid, BadArguments, Caller,
        title: "pytest rejected its arguments",
        detail: "pytest execution failed: Invalid pytest arguments (validation failure)",
        hint: "check node_ids against discover_tests, and the project's pytest configuration; stderr has pytest's message",
        about: "pytest ended with exit code 4: a test id does not exist, or pytest rejected its configuration. Failwell validates arguments first, so this is also logged as a gap in that validation.",
    }
    PYTEST_UNKNOWN_EXIT = "pytest/UNKNOWN_EXIT" {
        Broken, ToolFailed, Server,
        title: "pytest ended with an unknown exit code",
        detail: "pytest execution failed: pytest exited with unexpected code {exit_code}",
        hint: "look for os._exit or a plugin that sets the exit code; data.partial has the results so far",
        about: "The exit code is not one of pytest's own, and no event explains it.",
    }
    PYTEST_TIMEOUT = "pytest/TIMEOUT" {
        Timeout, ToolFailed, Server,
        title: "the test run took too long",
        detail: "pytest execution exceeded timeout of {limit_s} seconds",
        hint: "run fewer tests (node_ids, keywords), or allow more with timeout, at most {most_s} seconds; data.partial.running and data.partial.stack show the running test and its stack",
        about: "The stack was captured, then the run was stopped with all its child processes. The results so far, the running test and its stack are attached. With per_test_timeout the limit applies to one test.",
    }
    PYTEST_SPAWN = "pytest/SPAWN" {
        Precondition, ToolFailed, Server,
        title: "pytest could not be started",
        detail: "Failed to spawn pytest subprocess: {why}",
        hint: "{help}; then run the tests again",
        about: "No interpreter was found, it has no pytest, or the project folder is missing. The interpreter is searched in this order: --python of the server, .venv or venv of the project, VIRTUAL_ENV, uv, poetry, python3 on PATH.",
    }
    PYTEST_UNKNOWN_RUN = "pytest/UNKNOWN_RUN" {
        NotFound, ToolFailed, Caller,
        title: "no such run, or no such failure in it",
        detail: "no such run, or no such failure in it: {wanted}",
        hint: "use a run_id from list_runs and a node_id from the result of that run; only the last {limit} runs are stored",
        about: "Runs are stored in memory for a limited time and belong to the caller who started them.",
    }
}
