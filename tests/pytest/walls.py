"""The sandbox: what tests can write to, cold and warm, and how the operator widens it."""

import os

import tools
from client import Server

TESTS = """
import os, pathlib, shutil, socket, tempfile, multiprocessing, pty, signal, subprocess, sys

OUTSIDE = pathlib.Path(os.environ["OUTSIDE"])

def test_project(): pathlib.Path("made").write_text("x"); os.remove("made")
def test_temporary(tmp_path): (tmp_path / "made").write_text("x")
def test_cache():
    folder = pathlib.Path.home() / ".cache"
    (folder / "made").write_text("x")
def test_reads_outside(): assert (OUTSIDE / "note").read_text() == "note"
def test_socket():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()): pass
def test_terminal(): os.close(pty.openpty()[0])
def test_shared_memory(): multiprocessing.Lock()
def test_child(): subprocess.run([sys.executable, "-c", "pass"], check=True)
def test_signals():
    child = subprocess.Popen(["sleep", "60"]); child.send_signal(signal.SIGTERM); assert child.wait() == -15
def change(path):
    status = os.stat(path)
    changes = [
        lambda: os.chmod(path, 0o4755), lambda: os.chown(path, status.st_uid, status.st_gid), lambda: os.utime(path, (1, 1)),
        lambda: os.utime(path), lambda: os.setxattr(path, "user.made", b"x"), lambda: shutil.copystat(__file__, path),
    ]
    refused = 0
    for one in changes:
        try: one()
        except OSError: refused += 1
    return refused, len(changes)
def test_changes_inside(tmp_path):
    for path in (pathlib.Path("changed"), tmp_path / "changed"):
        path.write_text("x")
        assert change(path)[0] == 0
        path.unlink()
def test_changes_nothing_outside(): refused, of = change(OUTSIDE / "note"); assert refused == of
def test_changes_outside(): os.chmod(OUTSIDE / "note", 0o777)
def test_links_outside():
    if not os.path.islink("linked"): os.symlink(OUTSIDE / "note", "linked")
    os.chmod("linked", 0o777)
def test_keeps_its_user(): assert os.getuid() == int(os.environ["OWN"])
def test_writes_outside(): (OUTSIDE / "made").write_text("x")
def test_removes_outside(): (OUTSIDE / "note").unlink()
def test_signals_outside(): os.kill(int(os.environ["OUTSIDER"]), 0)
def test_traces():
    import ctypes
    assert ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0, "PermissionError"
"""
CONFINED = {"test_changes_outside", "test_links_outside", "test_writes_outside", "test_removes_outside", "test_signals_outside", "test_traces"}


def jobs(suite):
    return tools.jobs(suite, globals())


def project_of(suite, name):
    """A project, and a folder outside of it that is not a temporary folder."""
    project, outside = suite.home / name, suite.outside / name
    project.mkdir()
    outside.mkdir()
    (project / "test_walls.py").write_text(TESTS)
    (outside / "note").write_text("note")
    (suite.home / suite.mark / ".cache").mkdir(exist_ok=True)
    env = dict(suite.env, OUTSIDE=str(outside), OUTSIDER=str(suite.outsider.pid), OWN=str(os.getuid()))
    return project, outside, env


def serve(suite, project, env, *arguments):
    passed = ["--pass-env", "OUTSIDE", "--pass-env", "OUTSIDER", "--pass-env", "OWN"]
    return Server(suite.binary, project, "--python", suite.python(), *passed, *arguments, env=env)


def failed(outcome):
    assert not outcome.failed, outcome
    bad = [test["node_id"] for test in outcome.structured["tests"] if test["outcome"] != "passed"]
    return {node.partition("::")[2] for node in bad}


def check_tests_write_to_their_own_places_only(suite):
    project, outside, env = project_of(suite, "walled")
    note = (outside / "note").stat()
    with serve(suite, project, env) as server:
        for outcome in (server.run(cold=True, detail="full"), server.warm(detail="full")):
            assert failed(outcome) == CONFINED, outcome
            assert outcome.structured["environment"]["sandbox"] == "on", outcome
            assert any("--allow-write" in note for note in outcome.structured["notes"]), outcome
        assert [path.name for path in outside.iterdir()] == ["note"]
        # `ctime` changes with mode, owner, times and attributes.
        assert (outside / "note").stat().st_ctime_ns == note.st_ctime_ns


def check_the_operator_can_allow_more(suite):
    project, outside, env = project_of(suite, "widened")
    with serve(suite, project, env, "--sandbox", "required", "--allow-write", outside) as server:
        allowed = {"test_changes_nothing_outside", "test_signals_outside", "test_traces"}
        assert failed(server.run(detail="full")) == allowed
        assert [path.name for path in outside.iterdir()] == ["made"]


def check_the_operator_can_switch_it_off(suite):
    project, outside, env = project_of(suite, "open")
    with serve(suite, project, env, "--sandbox", "off") as server:
        outcome = server.run(detail="full")
        assert failed(outcome) <= {"test_changes_nothing_outside", "test_traces"}, outcome  # which some machines refuse by themselves
        assert outcome.structured["environment"]["sandbox"] == "off", outcome
        assert [path.name for path in outside.iterdir()] == ["made"]
