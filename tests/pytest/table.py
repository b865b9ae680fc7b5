"""Runs the rows with cold and warm workers: all on the newest pytest, some on older versions and other Pythons."""

import itertools
import subprocess

from client import Server
from rows import rows, spread

VERSIONS = {"74": 7, "84": 8, "9": 9}
# One fixture per outcome of a run.
CORE = {
    "passing", "failing", "phases", "empty", "syntax_error", "conftest_error", "module_exit", "keyboard_interrupt", "pytest_exit",
    "internal_error", "usage_error", "crash", "odd_ids", "nested", "subtests", "strict", "closes_descriptors", "spawn_method",
}
# Fixtures whose result could depend on the interpreter.
OF_PYTHON = {"passing", "failing", "phases", "syntax_error", "conftest_error", "keyboard_interrupt", "crash", "odd_ids", "subtests", "spawn_method"}
# No tests run here, so no warm worker is started.
NEVER_WARM = {"usage_error", "conftest_error"}


def by_fixture(table):
    return [(name, list(group)) for name, group in itertools.groupby(sorted(table, key=lambda row: row[0]), key=lambda row: row[0])]


def rows_of_every_version(suite):
    jobs = []
    for version, major in VERSIONS.items():
        for fixture, group in by_fixture(rows(major)):
            if suite.full or version == "9" or fixture in CORE:
                jobs.append((f"{version} {fixture}", lambda v=version, f=fixture, g=group: each_row(suite, v, suite.python(v), f, g)))
    # Fixtures that wait for a time limit take longest, so they start first.
    return sorted(jobs, key=lambda job: not job[0].endswith(("hang", "lingering", "leftovers")))


def other_pythons(suite):
    usual = subprocess.run([suite.python(), "-V"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[1]
    found = sorted(path for path in suite.pythons.iterdir() if (path / ".complete").exists() and path.name != usual)
    assert found, "no other Python was installed"
    print(f"  other Pythons: {', '.join(path.name for path in found)}", flush=True)
    jobs = []
    for path in found:
        major = 9 if tuple(map(int, path.name.split("."))) >= (3, 10) else 8
        core = [(fixture, group) for fixture, group in by_fixture(rows(major)) if fixture in OF_PYTHON or suite.full]
        for fixture, group in core:
            jobs.append((f"python {path.name} {fixture}", lambda p=path, f=fixture, g=group: each_row(suite, p.name, p / "bin" / "python", f, g)))
    return jobs


def each_row(suite, name, python, fixture, group):
    """On the newest pytest each row cold and warm; elsewhere the quick set has each warm, where it can be."""
    with Server(suite.binary, suite.fixtures / fixture, "--python", python, env=suite.env) as server:
        if suite.full or name == "9" or fixture in NEVER_WARM:
            for _, arguments, expected in group:
                suite.check(f"{name} cold {fixture} {arguments}", lambda a=arguments, e=expected: cold(server, a, e))
        if fixture in NEVER_WARM:
            return
        server.warm(node_ids=None, keywords="nothing_is_called_so", timeout=20)
        for _, arguments, expected in group:
            suite.check(f"{name} warm {fixture} {arguments}", lambda a=arguments, e=expected: warm(server, a, e))


def cold(server, arguments, expected):
    outcome = server.run(cold=True, **arguments)
    assert outcome.mode == "cold", outcome
    expected.check(outcome)


def warm(server, arguments, expected):
    outcome = server.run(**arguments)
    assert outcome.mode == "warm", outcome
    expected.check(outcome)


def spread_over_processes(suite):
    def job(fixture, group):
        with Server(suite.binary, suite.fixtures / fixture, "--python", suite.python("9"), env=suite.env) as server:
            for _, arguments, expected in group:
                suite.check(f"xdist {fixture} {arguments}", lambda a=arguments, e=expected: e.check(server.run(workers=2, **a)))

    return [(f"xdist {fixture}", lambda f=fixture, g=group: job(f, g)) for fixture, group in by_fixture(spread())]
