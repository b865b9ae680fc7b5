//! pytest: ways in which a run can fail. Failing tests are not among them: those are an ordinary result.

reasons! {
    PYTEST_INTERRUPTED = "pytest/INTERRUPTED" {
        Broken, ToolFailed, Server,
        title: "the test run was interrupted",
        detail: "pytest execution failed: Test execution was interrupted",
        hint: "run it again, or leave out the test that interrupts; the results so far are in data.partial",
        about: "A test raised KeyboardInterrupt, called pytest.exit, or somebody sent SIGINT. Errors during collection also end pytest with exit code 2, but they are an ordinary result: the type of the interruption tells them apart.",
    }
    PYTEST_CRASHED = "pytest/CRASHED" {
        Broken, ToolFailed, Server,
        title: "pytest was ended in the middle of the run",
        detail: "pytest subprocess terminated {how}{ended_by}",
        hint: "look at the test that was running (data.partial.running), fix or deselect it, then run again",
        about: "A signal (segmentation fault, abort, kill, out of memory) or a call such as os._exit ended the process before the session was over. An exit code of 0 without the end of the session is a crash too: nothing is called green without proof. What ran until then is attached.",
    }
    PYTEST_INTERNAL = "pytest/INTERNAL" {
        Broken, ToolFailed, Server,
        title: "pytest had an internal error",
        detail: "pytest execution failed: pytest internal error occurred",
        hint: "read INTERNALERROR in stdout: usually a plugin or a conftest hook raised; fix it, or disable that plugin",
        about: "pytest ended with exit code 3: one of its hooks raised, most often in a plugin or a conftest.",
    }
    PYTEST_USAGE = "pytest/USAGE" {
        Invalid, BadArguments, Caller,
        title: "pytest refused its arguments",
        detail: "pytest execution failed: Invalid pytest arguments (validation failure)",
        hint: "check node_ids against discover_tests, and the project's pytest configuration; stderr says what pytest refused",
        about: "pytest ended with exit code 4: a test id that is not there, or a configuration it does not accept. What can be known beforehand is refused beforehand, so this is logged as a gap of ours too.",
    }
    PYTEST_UNKNOWN_EXIT = "pytest/UNKNOWN_EXIT" {
        Broken, ToolFailed, Server,
        title: "pytest ended with a code nobody knows",
        detail: "pytest execution failed: pytest exited with unexpected code {exit_code}",
        hint: "look for os._exit or a plugin that sets the exit code; the results so far are in data.partial",
        about: "The exit code is none of pytest's own and no event explains it. An unknown state is reported as unknown.",
    }
    PYTEST_TIMEOUT = "pytest/TIMEOUT" {
        Timeout, ToolFailed, Server,
        title: "the test run took too long",
        detail: "pytest execution exceeded timeout of {limit_s} seconds",
        hint: "run fewer tests (node_ids, keywords), or allow more with timeout, at most {most_s} seconds; data.partial.running and data.partial.stack say where it was",
        about: "The run was asked for its stack, then told to stop, then killed, with everything it had started. Results until then, the running test and its stack are attached. With per_test_timeout the limit is that of one test.",
    }
    PYTEST_SPAWN = "pytest/SPAWN" {
        Precondition, ToolFailed, Server,
        title: "pytest could not be started",
        detail: "Failed to spawn pytest subprocess: {why}",
        hint: "{help}; then run the tests again",
        about: "No interpreter was found, it has no pytest, or the project folder is gone. The interpreter is looked for in: the server's --python, the project's .venv or venv, VIRTUAL_ENV, uv, poetry, then python3 on PATH.",
    }
    PYTEST_UNKNOWN_RUN = "pytest/UNKNOWN_RUN" {
        NotFound, ToolFailed, Caller,
        title: "no such run, or no such failure in it",
        detail: "no such run, or no such failure in it: {wanted}",
        hint: "take run_id from list_runs and node_id from that run's answer; only the last {limit} runs are kept",
        about: "Runs are kept in memory for a while and belong to the caller who started them.",
    }
}
