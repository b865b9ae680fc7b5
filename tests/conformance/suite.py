"""Runs the official conformance suite against a URL, and reads its results."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = pathlib.Path(os.environ.get("FAILWELL_TOOLS", HERE.parent.parent / ".tools"))
SUITE_LIMIT = 1200  # seconds for one requirement set
STAMP = re.compile(r"-\d{4}-\d\d-\d\dT[-\dZ]*$")


def run_suite(url, revision):
    """Runs one requirement set; returns its exit code, its output, and every check by scenario."""
    node = TOOLS / "npm/bin/node"
    suite = TOOLS / "npm/node_modules/@modelcontextprotocol/conformance/dist/index.js"
    if not suite.exists():
        sys.exit("error: the conformance suite is not installed\nhelp: run ./x tools")
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        command = [node, suite, "server", "--url", url, "--requirements", revision, "-o", folder]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SUITE_LIMIT, check=False
        )
        return done.returncode, done.stdout, read_checks(folder)


def read_checks(folder):
    """Every check of the run, by scenario. The folders are named server-<scenario>-<timestamp>."""
    scenarios = {}
    for file in sorted(pathlib.Path(folder).glob("server-*/checks.json")):
        name = STAMP.sub("", file.parent.name.removeprefix("server-"))
        scenarios[name] = json.loads(file.read_text())
    return scenarios
