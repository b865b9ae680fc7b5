"""Warm workers: changed files are seen, and killed processes leave nothing running."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

import tools
from client import Outcome, Server, processes_with

def jobs(suite):
    return tools.jobs(suite, globals())


def check_every_change_of_the_project_is_seen(suite):
    project = suite.home / "edited"
    (project / "tests").mkdir(parents=True)
    files = {
        "shop.py": "VALUE = 1\n", "conftest.py": "import pytest\n@pytest.fixture\ndef expected(): return 1\n",
        "tests/test_shop.py": "import shop\ndef test_value(expected): assert shop.VALUE == expected\n",
    }
    for name, text in files.items():
        (project / name).write_text(text)
    with Server(suite.binary, project, "--python", suite.python(), env=suite.env) as server:
        assert server.warm().counts() == (1, 0, 0, 0)

        def after(name, text, counts):
            (project / name).write_text(text)
            outcome = server.run()
            assert (outcome.mode, outcome.counts()) == ("warm", counts), outcome

        # Python treats bytecode as current if the source has the same size and time in seconds. Each text therefore has
        # its own size.
        after("shop.py", "VALUE = 22\n", (0, 1, 0, 0))
        after("conftest.py", files["conftest.py"].replace("return 1", "return 22"), (1, 0, 0, 0))
        after("tests/test_more.py", "def test_more(): pass\n", (2, 0, 0, 0))
        after("pytest.ini", "[pytest]\npython_files = test_more.py\n", (1, 0, 0, 0))
        after("pytest.ini", "[pytest]\n", (2, 0, 0, 0))
        # The same path, another folder.
        shutil.move(project, project.with_name("edited-away"))
        shutil.copytree(project.with_name("edited-away"), project)
        after("shop.py", "VALUE = 333\n", (1, 1, 0, 0))


def check_a_change_of_what_is_installed_makes_a_cold_run(suite):
    project, environment = suite.home / "installed", suite.home / "own-environment"
    project.mkdir()
    (project / "test_a.py").write_text("import late\ndef test_a(): assert late.VALUE == 2\n")
    subprocess.run([suite.python(), "-m", "venv", "--without-pip", environment], check=True)
    packages = next((environment / "lib").glob("python*")) / "site-packages"
    (packages / "there.pth").write_text(str(next((suite.environments / "9" / "lib").glob("python*")) / "site-packages"))
    (packages / "late.py").write_text("VALUE = 1\n")
    with Server(suite.binary, project, "--python", environment / "bin" / "python", env=suite.env) as server:
        assert server.warm().counts() == (0, 1, 0, 0)
        (packages / "late.py").write_text("VALUE = 2  # longer\n")
        (packages / "new.py").write_text("")
        outcome = server.run()
        assert (outcome.mode, outcome.counts()) == ("cold", (1, 0, 0, 0)), outcome
        assert server.warm().counts() == (1, 0, 0, 0)


def check_names_that_pytest_needs_late_are_found_in_the_project_first(suite):
    project = suite.home / "late-names"
    (project / "tests").mkdir(parents=True)
    (project / "tests" / "code.py").write_text("OWN = True\n")
    (project / "tests" / "conftest.py").write_text("import code\nassert code.OWN\n")
    (project / "tests" / "test_a.py").write_text("import code\ndef test_a(): assert code.OWN\n")
    with Server(suite.binary, project, "--python", suite.python(), env=suite.env) as server:
        plain = server.run(cold=True)
        warm = server.warm()
        assert plain.counts() == warm.counts() == (1, 0, 0, 0), warm


def children(pid):
    with contextlib.suppress(OSError):  # who is gone meanwhile has none
        listed = [task / "children" for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]
        return [int(child) for path in listed for child in path.read_text().split()]
    return []


def below(pid):
    found = children(pid)
    for child in found:
        found.extend(children(child))
    return found


def name_of(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def start_of(pid):
    """The start time of a process, in ticks since boot."""
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def worker_of(server):
    return next(pid for pid in below(server.process.pid) if " serve " in name_of(pid))


def spare_of(server):
    """The process ids of the next warm worker, once it waits: its overseer, and the fork that would run the tests."""
    until, spare = time.monotonic() + 30, []
    while len(spare) != 2:
        assert time.monotonic() < until, [name_of(pid) for pid in spare]
        time.sleep(0.2)
        spare = below(worker_of(server))
    return spare


def check_a_killed_spare_costs_nothing_but_time(suite):
    with Server(suite.binary, suite.fixtures / "passing", "--python", suite.python(), env=suite.env) as server:
        server.warm()
        for depth in (0, 1):  # its overseer, and the one that would be the run
            os.kill(spare_of(server)[depth], signal.SIGKILL)
            time.sleep(0.2)
            assert server.run().counts() == (2, 0, 0, 0)
            assert server.warm().counts() == (2, 0, 0, 0)


LISTS_WHAT_IS_OPEN = """import os
def test_open():
    links = []
    for number in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink("/proc/self/fd/" + number))
        except OSError:
            pass  # the listing itself
    with open(os.path.join(os.path.dirname(__file__), "open.txt"), "w") as file:
        file.write("\\n".join(links))
"""


def check_a_fork_made_for_its_errand_holds_no_more_than_one_made_ahead(suite):
    """A daemon of the run must not keep the control pipe open: the death of the overseer would go unnoticed."""
    project = suite.home / "what-is-open"
    project.mkdir()
    (project / "test_open.py").write_text(LISTS_WHAT_IS_OPEN)
    with Server(suite.binary, project, "--python", suite.python(), env=suite.env) as server:

        def opened():
            outcome = server.run()
            assert (outcome.mode, outcome.counts()) == ("warm", (1, 0, 0, 0)), outcome
            links = (project / "open.txt").read_text().splitlines()
            return sorted("a file" if "(deleted)" in link else link.partition(":")[0] for link in links)

        server.warm()
        spare_of(server)
        ahead = opened()
        os.kill(spare_of(server)[0], signal.SIGKILL)
        time.sleep(0.2)
        made_for_it = opened()
        assert made_for_it == ahead, (made_for_it, ahead)


def check_a_killed_worker_is_replaced(suite):
    with Server(suite.binary, suite.fixtures / "passing", "--python", suite.python(), env=suite.env) as server:
        server.warm()
        os.kill(worker_of(server), signal.SIGKILL)
        assert server.run().counts() == (2, 0, 0, 0)
        assert server.warm().counts() == (2, 0, 0, 0)


def check_whoever_is_killed_leaves_nothing_behind(suite):
    """The server, a supervisor or an overseer is killed while tests run that ignore SIGTERM and have a daemon."""
    temporary = suite.home / "temporary-of-killed"
    temporary.mkdir()
    project = suite.home / "hard-to-kill"
    project.mkdir()
    text = (suite.fixtures / "leftovers" / "test_daemon.py").read_text()
    (project / "test_a.py").write_text(text)
    (project / "test_b.py").write_text((suite.fixtures / "hang" / "test_ignores_term.py").read_text())
    for victim in ("server", "supervisor", "overseer"):
        mark, env = suite.marked()
        env["TMPDIR"] = str(temporary)
        server = Server(suite.binary, project, "--python", suite.python(), env=env)
        server.warm(node_ids=["test_a.py"], keywords="nothing_is_called_so")
        number = server.begin("execute_tests", cold=victim == "supervisor", timeout=240)
        server.until_it_runs("test_ignores_term")
        family = below(server.process.pid)
        supervisors = [pid for pid in family if "__supervise" in name_of(pid)]
        if victim == "server":
            os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait()
        elif victim == "supervisor":
            os.kill(max(supervisors, key=start_of), signal.SIGKILL)  # the younger one
            answer = Outcome(server.answer(number, 120))
            assert answer.failed, answer
        else:
            os.kill(children(worker_of(server))[0], signal.SIGKILL)
            answer = Outcome(server.answer(number, 120))
            assert answer.failed, answer
        if victim != "server":
            server.__exit__()
            assert processes_with(mark) == [], (victim, processes_with(mark))
        until = time.monotonic() + 60
        while processes_with(mark) and time.monotonic() < until:
            time.sleep(0.1)
        assert processes_with(mark) == [], (victim, processes_with(mark))
        server.process.stdout.close()
    # The folder of the killed server is removed by the next one.
    assert os.listdir(temporary) == [], os.listdir(temporary)
