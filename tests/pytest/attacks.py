"""Attacks by callers: refused before pytest starts, with the target unchanged."""

import shutil

from client import Server

BAD_IDS = [
    "", "-p", "-pevil", "--version", "--basetemp=target", "-c/etc/passwd", "--rootdir=/", "-x", "--", "-",
    "@target/args", "@/etc/passwd", "../attack/test_attack.py", "a/../test_attack.py", "..", "../..", "/etc/passwd", "/",
    "/etc/passwd::x", "out.py", "out_folder/test_x.py", "test_attack.py\0", "test_attack.py::x\0y", "missing.py", "::x",
    "test_attack.py[x]", "test_attack.py\n--version", " test_attack.py", "\ttest_attack.py", "~", "~/x", "file:///etc/passwd",
]
BAD_EXPRESSIONS = [
    "", " ", "a b", "a;b", "-p evil", "a and", "(", ")", "a\nb", "a\0b", "__import__('os').system('x')", "$(id)", "a|b", "a == b",
    "(" * 200 + "a" + ")" * 200, "not", "or", "x" * 3000,
]
BAD_ARGUMENTS = [
    {"unknown": 1}, {"node_ids": "test_attack.py"}, {"node_ids": [1]}, {"node_ids": [None]}, {"verbosity": 3}, {"verbosity": "1"},
    {"verbosity": 1.5}, {"failfast": "yes"}, {"failfast": 1}, {"maxfail": 0}, {"maxfail": -1}, {"timeout": 0}, {"timeout": 1e9},
    {"timeout": "5"}, {"failfast": True, "maxfail": 1}, {"detail": "everything"}, {"budget": 10}, {"repeat": 1},
    {"repeat": 1000}, {"per_test_timeout": 0}, {"per_test_timeout": -1}, {"durations": 0}, {"workers": 0}, {"workers": 1000},
    {"project": ".."}, {"project": "/etc"}, {"project": "missing"}, {"project": "-p"}, {"project": "test_attack.py"},
    {"project": "out_folder"}, {"changed_since": "--output=target/x"}, {"changed_since": "a..b"}, {"changed_since": ""},
    {"changed_since": "HEAD; id"}, {"env": {"PATH": "/"}}, {"python": "/bin/sh"}, {"plugins": ["evil"]}, {"args": ["-p", "evil"]},
]
BAD_DISCOVERY = [
    {"path": ".."}, {"path": "/etc"}, {"path": "-p"}, {"path": "@target/args"}, {"path": "missing"}, {"path": ""},
    {"path": "test_attack.py::x"}, {"path": "out.py"}, {"pattern": "../*.py"}, {"pattern": "-p"}, {"pattern": ""}, {"pattern": "a b"},
    {"pattern": "x\0"}, {"pattern": "@x"}, {"unknown": 1},
]


def jobs(suite):
    return [("attacks", lambda: checks(suite))]


def checks(suite):
    project = suite.home / "attacked"
    shutil.copytree(suite.fixtures / "attack", project)
    target = project / "target"
    target.mkdir()
    (target / "precious").write_text("precious")
    (target / "args").write_text("--version\n")
    outside = suite.home / "outside"
    outside.mkdir()
    (outside / "test_x.py").write_text("def test_x(): pass\n")
    (project / "out.py").symlink_to(outside / "test_x.py")
    (project / "out_folder").symlink_to(outside)
    started = suite.home / suite.mark / "pytest-was-started"
    with Server(suite.binary, project, "--python", suite.python(), env=suite.env) as server:

        def refused(tool, arguments):
            answer = server.call(tool, **arguments)
            result = answer.get("result", {})
            reason = result.get("_meta", {}).get("dev.failwell/fault", {}).get("reason")
            assert result.get("isError") and reason == "mcp/BAD_ARGUMENTS", answer
            assert not started.exists(), "pytest was started"
            assert (target / "precious").read_text() == "precious"

        for bad in BAD_IDS:
            suite.check(f"node id {bad!r}", lambda bad=bad: refused("execute_tests", {"node_ids": ["test_attack.py", bad]}))
        for bad in BAD_EXPRESSIONS:
            for name in ("keywords", "markers"):
                suite.check(f"{name} {bad[:40]!r}", lambda n=name, b=bad: refused("execute_tests", {n: b}))
        for bad in BAD_ARGUMENTS:
            suite.check(f"arguments {bad}", lambda bad=bad: refused("execute_tests", bad))
        for bad in BAD_DISCOVERY:
            suite.check(f"discovery {bad}", lambda bad=bad: refused("discover_tests", bad))

        def all_at_once():
            bad = {"node_ids": ["-p", "@x"], "keywords": "a b", "timeout": 10**6}
            answer = server.call("execute_tests", **bad)
            found = answer["result"]["_meta"]["dev.failwell/fault"]["violations"]
            pointers = {violation["pointer"] for violation in found}
            assert pointers == {"/node_ids/0", "/node_ids/1", "/keywords", "/timeout"}, answer

        def a_good_one_runs():
            outcome = server.run(node_ids=["test_attack.py::test_harmless"])
            assert outcome.counts() == (1, 0, 0, 0), outcome
            assert started.exists()
            started.unlink()

        suite.check("everything wrong is told at once", all_at_once)
        suite.check("a good call still runs", a_good_one_runs)
