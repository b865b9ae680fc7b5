"""Every tool and parameter, and what surrounds a run: progress, cancellation, secrets, interpreters, failures to start."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from client import Outcome, Server, digest, processes_with


def jobs(suite, checks=None):
    """Runs every function whose name begins with `check_`."""
    found = sorted((checks or globals()).items())
    named = [(name[6:].replace("_", " "), check) for name, check in found if name.startswith("check_")]
    return [(name, lambda name=name, check=check: suite.check(name, lambda: check(suite))) for name, check in named]


def serve(suite, fixture, *arguments, python=None, env=None):
    project = suite.fixtures / fixture if isinstance(fixture, str) else fixture
    chosen = ["--python", python or suite.python()]
    return Server(suite.binary, project, *chosen, *arguments, env=env or suite.env)


def check_discovery_lists_every_test(suite):
    with serve(suite, "nested") as server:
        found = Outcome(server.call("discover_tests")).structured
        assert found["count"] == len(found["tests"]) == 6, found
        by_id = {test["node_id"]: test for test in found["tests"]}
        deep = by_id["test_nested.py::TestOuter::TestInner::test_deep"]
        expected = {"module": "test_nested", "class": "TestOuter.TestInner", "function": "test_deep", "file": "test_nested.py", "line": 6}
        assert {key: deep[key] for key in expected} == expected, deep


def check_discovery_is_partial_where_files_do_not_collect(suite):
    with serve(suite, "syntax_error") as server:
        found = Outcome(server.call("discover_tests")).structured
        assert [test["node_id"] for test in found["tests"]] == ["test_good.py::test_good"], found
        assert [error["file"] for error in found["collection_errors"]] == ["test_bad.py"], found


def check_discovery_by_path_and_pattern(suite):
    with serve(suite, "covered") as server:
        assert Outcome(server.call("discover_tests", path="test_shop.py")).structured["count"] == 1
        assert Outcome(server.call("discover_tests", pattern="shop*.py")).structured["count"] == 0
        assert Outcome(server.call("discover_tests", pattern="test_s*.py")).structured["count"] == 1


def check_odd_ids_can_be_run_again_one_by_one(suite):
    with serve(suite, "odd_ids") as server:
        ids = [test["node_id"] for test in server.run(detail="full").structured["tests"]]
        assert len(ids) == 32
        server.warm(node_ids=ids[:1])
        for node in ids:
            outcome = server.run(node_ids=[node])
            assert [test["node_id"] for test in outcome.structured["tests"]] == [node], outcome


def check_failures_are_grouped_by_cause(suite):
    with serve(suite, "failing") as server:
        result = server.run().structured
        causes = [(cause["place"], cause["error_type"], cause["count"]) for cause in result["causes"]]
        assert causes == [("test_a.py:2", "AssertionError", 2), ("test_a.py:11", "AssertionError", 1), ("test_a.py:23", "ValueError", 1)], causes
        assert result["causes"][0]["node_ids"] == ["test_a.py::test_cause_one", "test_a.py::test_cause_two"]
        whole = [test for test in result["tests"] if test["traceback"]]
        assert len(whole) == 3, "one traceback for each cause"


def check_one_failure_in_full(suite):
    with serve(suite, "failing") as server:
        run = server.run().structured["run_id"]
        details = server.call("get_failure", run_id=run, node_id="test_a.py::test_bad")["result"]["structuredContent"]
        assert details["outcome"] == "failed" and "bad was here" in json.dumps(details["sections"]), details
        unknown = Outcome(server.call("get_failure", run_id=run, node_id="test_a.py::nope"))
        assert unknown.reason == "pytest/UNKNOWN_RUN", unknown
        runs = server.call("list_runs")["result"]["structuredContent"]["runs"]
        assert [entry["run_id"] for entry in runs] == [run], runs


def check_the_whole_output_is_behind_a_link(suite):
    with serve(suite, "output") as server:
        outcome = server.run(node_ids=["test_flood.py::test_flood"])
        assert outcome.size < 10_000, outcome.size
        log = server.ask("resources/read", {"uri": outcome.structured["log"]})["result"]["contents"][0]["text"]
        assert len(log) > 7_000_000 and "bytes left out" in log and "1 passed" in log
        gone = server.ask("resources/read", {"uri": "pytest://runs/nope/log"})
        assert gone["error"]["code"] == -32002, gone


def check_detail_and_budget(suite):
    with serve(suite, "failing") as server:
        summary = server.run(detail="summary").structured
        assert summary["tests"] == [] and summary["tests_omitted"] == {"passed": 1, "failed": 4}, summary
        full = server.run(detail="full").structured
        assert len(full["tests"]) == 5 and all(test["traceback"] for test in full["tests"] if test["outcome"] == "failed")
        for budget in (1_000, 3_000, 20_000):
            outcome = server.run(budget=budget)
            assert outcome.size < budget + 1_500, (budget, outcome.size)


def check_last_failed(suite):
    with serve(suite, "selecting") as server:
        first = server.run(last_failed=True).structured
        assert first["summary"]["total"] == 4 and "no failure" in first["notes"][0], first
        second = server.run(last_failed=True).structured
        assert second["summary"]["total"] == 2, second
        third = server.run(last_failed=True, node_ids=["test_select.py::TestGroup"]).structured
        assert [test["node_id"] for test in third["tests"]] == ["test_select.py::TestGroup::test_beta"], third


def git(folder, *arguments):
    identity = ["-c", "user.name=suite", "-c", "user.email=suite@example.invalid"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def check_changed_since(suite):
    project = suite.home / "changing"
    project.mkdir()
    for name, text in {
        "a.py": "A = 1\n", "b.py": "B = 1\n", "c.py": "from a import A\n", "data.json": "{}\n",
        "test_a.py": "import a\ndef test_a(): assert a.A\n",
        "test_b.py": "from b import B\ndef test_b(): assert B\n",
        "test_c.py": "import c\ndef test_c(): assert c.A\n",
    }.items():
        (project / name).write_text(text)
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "start")
    with serve(suite, project) as server:

        def ran(**arguments):
            result = server.run(changed_since="HEAD", **arguments).structured
            return sorted(test["node_id"] for test in result["tests"]), result

        ids, result = ran()
        assert ids == [] and result["status"] == "no_tests" and result["mode"] == "none", result
        (project / "a.py").write_text("A = 2\n")
        assert ran()[0] == ["test_a.py::test_a", "test_c.py::test_c"]
        assert ran(node_ids=["test_c.py"])[0] == ["test_c.py::test_c"]
        (project / "data.json").write_text("[]\n")
        ids, result = ran()
        assert len(ids) == 3 and "everything was run" in result["notes"][0], result
        result = server.run(changed_since="no-such-revision").structured
        assert result["summary"]["total"] == 3 and "git could not say" in result["notes"][0], result


def check_durations_and_coverage(suite):
    with serve(suite, "covered") as server:
        result = server.run(coverage=True, durations=5).structured
        files = {file["file"]: file for file in result["coverage"]["files"]}
        assert files["shop.py"]["missing"] == "3, 8", result
        assert len(result["durations"]) == 1, result
        warm = server.warm(coverage=True).structured
        assert warm["coverage"] == result["coverage"], warm
    with serve(suite, "covered", python=suite.python("84")) as server:
        result = server.run(coverage=True, workers=2).structured
        assert "coverage" not in result and len(result["notes"]) == 2, result


def check_flaky_tests_are_named(suite):
    with serve(suite, "flaky") as server:
        result = server.run(repeat=4).structured["repeat"]
        assert result["verdict"] == "flaky" and [test["node_id"] for test in result["flaky"]] == ["test_flaky.py::test_flaky"], result
        assert result["flaky"][0]["outcomes"] == {"passed": 2, "failed": 2}, result
    with serve(suite, "passing") as server:
        assert server.run(repeat=2).structured["repeat"]["verdict"] == "stable"


def check_progress_rises_and_is_not_too_frequent(suite):
    with serve(suite, "slow") as server:
        server.run()
        notices = [(when, notice["params"]) for when, notice in server.notices if notice["method"] == "notifications/progress"]
        assert 5 <= len(notices) <= 5 * (notices[-1][0] - notices[0][0]) + 3, len(notices)
        values = [params["progress"] for _, params in notices]
        assert values == sorted(set(values)) and notices[-1][1]["total"] == 20, notices
        assert any("test_slow[" in params["message"] for _, params in notices), notices


def the_one_that_runs(mark, arguments):
    """The process that runs the tests: the cold process, or the youngest fork of the warm worker."""
    found = [pid for pid, _ in processes_with(mark)]
    if "cold" not in arguments:
        return max(found, key=int)
    return next(pid for pid in found if b"\0run\0" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes())


def check_cancellation_is_silent_and_thorough(suite):
    mark, env = suite.marked()
    with serve(suite, "hang", env=env) as server:
        server.warm(node_ids=["test_hang.py::test_first"])
        for arguments in ({"cold": True}, {}):
            number = server.begin("execute_tests", node_ids=["test_ignores_term.py"], **arguments)
            server.until_it_runs("test_ignores_term")
            running = the_one_that_runs(mark, arguments)
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
            until = time.monotonic() + 30
            while time.monotonic() < until and running in dict(processes_with(mark)):
                time.sleep(0.1)
            assert running not in dict(processes_with(mark)), (running, processes_with(mark))
            while True:
                message = server.hear(0.5)
                if message is None:
                    break
                assert message.get("id") != number, message
        assert server.run(node_ids=["test_hang.py::test_first"]).counts() == (1, 0, 0, 0)


def check_parallel_runs_do_not_mix(suite):
    with Server(suite.binary, suite.fixtures, "--python", suite.python(), env=suite.env) as server:
        expected = {"passing": (2, 0, 0, 0), "failing": (1, 4, 0, 0), "phases": (2, 2, 4, 2), "nested": (3, 1, 2, 0)}
        for _ in range(3):
            calls = {name: server.begin("execute_tests", project=name) for name in expected for _ in range(1)}
            for name, number in calls.items():
                outcome = Outcome(server.answer(number))
                assert outcome.counts() == expected[name], (name, str(outcome))
            time.sleep(1)  # waits: workers get ready, so that later rounds are warm


def check_secrets_do_not_get_out(suite):
    secret = "s3cr3t-value-of-the-suite"
    with serve(suite, "secrets", env=dict(suite.env, FAILWELL_TEST_API_TOKEN=secret)) as server:
        for outcome in (server.run(), server.warm()):
            run = outcome.structured["run_id"]
            everything = [outcome.answer, server.call("get_failure", run_id=run, node_id="test_secrets.py::test_prints")]
            everything.append(server.ask("resources/read", {"uri": outcome.structured["log"]}))
            for output in everything:
                assert secret not in json.dumps(output) and "[FAILWELL_TEST_API_TOKEN]" in json.dumps(output), output
            assert outcome.counts() == (2, 1, 0, 0), outcome


def check_the_environment_is_a_short_list(suite):
    project = suite.home / "environment"
    project.mkdir()
    (project / "test_env.py").write_text("import os\ndef test_env(): print(sorted(os.environ)); assert 'SUITE_VARIABLE' in os.environ\n")
    env = dict(suite.env, SUITE_VARIABLE="1")
    with serve(suite, project, env=env) as server:
        assert server.run().counts() == (0, 1, 0, 0)
    with serve(suite, project, "--pass-env", "SUITE_VARIABLE", env=env) as server:
        assert server.run().counts() == (1, 0, 0, 0)


def spawn_failure(outcome, message):
    assert outcome.reason == "pytest/SPAWN" and outcome.data["error_type"] == "spawn", outcome
    assert outcome.structured["message"] == "Failed to spawn pytest subprocess: " + message, outcome
    assert outcome.fault["hint"], outcome


def check_no_interpreter(suite):
    with serve(suite, "passing", python="/nowhere/python") as server:
        spawn_failure(server.run(), "no Python interpreter was found")


def check_an_interpreter_that_is_none(suite):
    with serve(suite, "passing", python="/bin/false") as server:
        spawn_failure(server.run(), "the interpreter does not start")


def check_no_pytest(suite):
    bare = suite.home / "bare"
    subprocess.run([suite.python(), "-m", "venv", "--without-pip", bare], check=True)
    with serve(suite, "passing", python=bare / "bin" / "python") as server:
        spawn_failure(server.run(), "the interpreter has no pytest")
        spawn_failure(Outcome(server.call("discover_tests")), "the interpreter has no pytest")


def check_folder_deleted(suite):
    project = suite.home / "deleted"
    shutil.copytree(suite.fixtures / "passing", project)
    with serve(suite, project) as server:
        server.warm()
        shutil.rmtree(project)
        spawn_failure(server.run(), "the project folder is not there")


def check_the_project_s_own_environment_is_found(suite):
    project = suite.home / "found"
    shutil.copytree(suite.fixtures / "passing", project)
    (project / ".venv").symlink_to(suite.environments / "84")
    with Server(suite.binary, project, env=suite.env) as server:
        found = server.run().structured["environment"]
        assert found["found_by"] == "virtual environment" and found["pytest_version"].startswith("8.4"), found
    (project / ".venv").unlink()
    with Server(suite.binary, project, env=dict(suite.env, VIRTUAL_ENV=str(suite.environments / "74"))) as server:
        found = server.run().structured["environment"]
        assert found["found_by"] == "VIRTUAL_ENV" and found["pytest_version"].startswith("7.4"), found
    (project / "poetry.lock").write_text("")
    tools = suite.home / "tools"
    tools.mkdir()
    (tools / "poetry").write_text(f"#!/bin/sh\necho {suite.python()}\n")
    (tools / "poetry").chmod(0o755)
    with Server(suite.binary, project, env=dict(suite.env, PATH=f"{tools}:{os.environ['PATH']}")) as server:
        found = server.run().structured["environment"]
        assert found["found_by"] == "poetry" and found["pytest_version"].startswith("9."), found


def check_a_read_only_project(suite):
    project = suite.home / "read_only"
    shutil.copytree(suite.fixtures / "failing", project)
    for path in [project, *project.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    before = digest(project)
    with serve(suite, project) as server:
        assert server.run().counts() == (1, 4, 0, 0)
        assert server.warm().counts() == (1, 4, 0, 0)
    assert digest(project) == before
    project.chmod(0o755)


def check_a_module_of_the_project_keeps_the_worker_away(suite):
    project = suite.home / "shadow"
    project.mkdir()
    (project / "iniconfig.py").write_text("from _iniconfig_of_ours import *\n")
    (project / "test_a.py").write_text("def test_a(): pass\n")
    with serve(suite, project) as server:
        outcomes = []
        for _ in range(3):
            outcomes.append(server.run())
            time.sleep(1)  # waits: a worker would be warm by then, and must not be
        assert {outcome.mode for outcome in outcomes} <= {"cold"}, outcomes[-1]


def check_plain_errors_for_those_who_want_them(suite):
    with serve(suite, "crash", "--tool-failures", "error") as server:
        error = server.call("execute_tests", node_ids=["test_segfault.py"])["error"]
        assert error["code"] == -32000 and error["message"] == "pytest subprocess terminated with signal SIGSEGV", error
        assert error["data"]["error_type"] == "crash" and error["data"]["reason"] == "pytest/CRASHED", error
        error = server.call("execute_tests", node_ids=["test_kill.py::nope"])["error"]
        assert error["code"] == -32602 and error["data"]["exit_code"] == 4, error
        error = server.call("execute_tests", node_ids=["-p"])["error"]
        assert error["code"] == -32602 and error["data"]["violations"], error
        assert "result" in server.call("execute_tests", node_ids=["test_kill.py::test_first"])


def check_the_stack_of_a_hang_names_the_line(suite):
    with serve(suite, "hang") as server:
        outcome = server.run(node_ids=["test_hang.py"], timeout=8)
        assert 'test_hang.py", line 9 in test_hang' in outcome.partial["stack"], outcome
        assert outcome.data["duration"] < 30, outcome


def check_every_face(suite):
    """The plain dialects answer with the same reason."""
    import re
    import urllib.error
    import urllib.request

    command = [suite.binary, "serve", "pytest", "--project", suite.fixtures / "crash", "--python", suite.python(), "--listen", "127.0.0.1:0"]
    server = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=suite.env)
    try:
        base = re.search(r"http://[0-9.:]+", server.stdout.readline()).group(0)

        def post(path, body, accept="application/json"):
            headers = {"content-type": "application/json", "accept": accept}
            request = urllib.request.Request(base + path, json.dumps(body).encode(), headers)
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return answer.status, json.load(answer)
            except urllib.error.HTTPError as error:
                return error.code, json.load(error)

        def whole(data):
            """The error object of ADR 0002, field for field."""
            assert (data["error_type"], data["exit_code"], data["signal"]) == ("crash", None, "SIGABRT"), data
            assert "test_abort.py" in data["stdout"] and "Fatal Python error" in data["stderr"], data
            assert data["command"][1:3] == ["-m", "pytest"] and data["duration"] > 0, data

        arguments = {"node_ids": ["test_abort.py"]}
        status, body = post("/v1/tools/execute_tests", arguments)
        assert (status, body["error_code"], body["detail"]["reason"]) == (502, -32603, "pytest/CRASHED"), body
        whole(body["detail"])
        status, body = post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "execute_tests", "params": arguments})
        assert status == 200 and body["error"]["data"]["reason"] == "pytest/CRASHED", body
        whole(body["error"]["data"])
        status, body = post("/v1/tools/execute_tests", arguments, "application/problem+json")
        assert (status, body["status"], body["reason"]) == (502, 502, "pytest/CRASHED"), body
        whole(body)
        status, body = post("/v1/tools/execute_tests", {"node_ids": ["test_kill.py::test_first"]})
        assert status == 200 and body["summary"]["passed"] == 1, body
        status, body = post("/v1/tools/execute_tests", {"node_ids": ["-p"]})
        assert (status, body["error_code"]) == (422, -32602), body
    finally:
        server.terminate()
        server.wait(60)
        server.stdout.close()


if __name__ == "__main__":
    sys.exit("run it with: tests/pytest/run tools -- FAILWELL")
