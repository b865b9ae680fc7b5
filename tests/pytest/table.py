"""The rows, on every version of pytest, cold and warm."""

import itertools

from client import Server
from rows import rows, spread

VERSIONS = {"74": 7, "84": 8, "9": 9}


def rows_of_every_version(suite):
    for version, major in VERSIONS.items():
        by_fixture = itertools.groupby(sorted(rows(major), key=lambda row: row[0]), key=lambda row: row[0])
        for fixture, group in by_fixture:
            each_row(suite, version, fixture, list(group))


def each_row(suite, version, fixture, group):
    with Server(suite.binary, suite.fixtures / fixture, "--python", suite.python(version), env=suite.env) as server:
        for _, arguments, expected in group:
            suite.check(
                f"{version} cold {fixture} {arguments}", lambda a=arguments, e=expected: cold(server, a, e)
            )
        if fixture in ("usage_error", "conftest_error"):
            return  # nothing ever runs here, so no worker is worth starting
        server.warm(node_ids=None, keywords="nothing_is_called_so", timeout=20)
        for _, arguments, expected in group:
            suite.check(
                f"{version} warm {fixture} {arguments}", lambda a=arguments, e=expected: warm(server, a, e)
            )


def cold(server, arguments, expected):
    outcome = server.run(cold=True, **arguments)
    assert outcome.mode == "cold", outcome
    expected.check(outcome)


def warm(server, arguments, expected):
    outcome = server.run(**arguments)
    assert outcome.mode == "warm", outcome
    expected.check(outcome)


def spread_over_processes(suite):
    for fixture, arguments, expected in spread():
        with Server(suite.binary, suite.fixtures / fixture, "--python", suite.python("9"), env=suite.env) as server:
            suite.check(
                f"xdist {fixture} {arguments}",
                lambda: expected.check(server.run(workers=2, cold=True, **arguments)),
            )
