"""Real projects: the same outcome per test as plain pytest, cold and warm, and an unchanged folder."""

import json
import pathlib
import subprocess
import tarfile
import time

from client import Server, digest

# The source folder and the tests of each project. click's test_deprecations needs click installed. wcwidth's suite
# needs a compiled part that is missing here: about 1,700 errors with one cause, which tests the grouping.
PROJECTS = {
    "toolz": (".", []),
    "pluggy": ("src", []),
    "cachetools": ("src", []),
    "click": ("src", ["tests/test_[!d]*.py", "tests/test_default*.py"]),
    "wcwidth": (".", []),
    "more_itertools": (".", []),
    "tomlkit": (".", ["tests"]),
    "boltons": (".", ["tests"]),
}
# Files that a project's own settings make pytest write.
OWN_OUTPUT = {"wcwidth": "htmlcov"}
# pytest imports these packages, so their own suites never get a warm worker.
NEVER_WARM = {"pluggy"}


# The ones whose suites take a few seconds each.
SMALLER = ["toolz", "cachetools", "pluggy", "tomlkit"]


def jobs(suite):
    chosen = PROJECTS if suite.full else SMALLER
    named = [(f"real project {name}", name, *PROJECTS[name]) for name in chosen]
    return [(title, lambda t=title, n=n, c=c, s=s: suite.check(t, lambda: compare(suite, n, c, s))) for title, n, c, s in named]


def compare(suite, name, code, selection):
    archive = next((suite.environments / "projects").glob(f"{name}-*.tar.gz"))
    folder = suite.home / "real" / name
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    project = next(folder.iterdir())
    env = dict(suite.env, PYTHONPATH=str(project / code), PYTHONHASHSEED="0")
    selection = [str(path.relative_to(project)) for part in selection for path in sorted(project.glob(part))]
    plain = what_plain_pytest_says(suite, project, selection, env)
    assert len(plain) >= 100, f"only {len(plain)} tests ran at all"
    before = digest(project)
    with Server(suite.binary, project, "--python", suite.python(), "--pass-env", "PYTHONHASHSEED", env=env) as server:
        arguments = {"detail": "full", "budget": 4_000_000, "timeout": 300, **({"node_ids": selection} if selection else {})}
        cold = server.run(**arguments)
        assert cold.mode == "cold"
        same(plain, cold)
        if name in NEVER_WARM:
            time.sleep(2)  # waits: a worker would be warm by then, and must not be
            assert server.run(**arguments).mode == "cold", "its own modules are loaded"
        else:
            same(plain, server.warm(**arguments))
    after = digest(project)
    changed = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    changed = [name for name in changed if not name.startswith(OWN_OUTPUT.get(name_of(project), "\0"))]
    assert not changed, f"changed in the project: {changed}"
    print(f"  {project.name}: {len(plain)} tests alike")


def name_of(project):
    return project.name.rpartition("-")[0]


def what_plain_pytest_says(suite, project, selection, env):
    output = suite.home / f"{project.name}.json"
    recorder = pathlib.Path(__file__).resolve().parent / "plain"
    env = dict(env, RECORDER_OUTPUT=str(output), PYTHONDONTWRITEBYTECODE="1")
    env["PYTHONPATH"] += f":{recorder}"
    command = [suite.python(), "-m", "pytest", "-q", "-p", "recorder", "-p", "no:cacheprovider", *selection]
    subprocess.run(command, cwd=project, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=300)
    return json.loads(output.read_text())


def same(plain, outcome):
    assert not outcome.failed, outcome
    result = outcome.structured
    assert "tests_omitted" not in result, result.get("tests_omitted")
    ours = {test["node_id"]: test["outcome"] for test in result["tests"]}
    different = {node for node in plain.keys() | ours.keys() if plain.get(node) != ours.get(node)}
    differences = [(node, plain.get(node), ours.get(node)) for node in sorted(different)[:10]]
    assert not different, f"{len(different)} of {len(plain)} differ: {differences}"
    assert sum(outcome.counts()) == len(plain), outcome.counts()
