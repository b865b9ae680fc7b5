"""Many runs in a row: memory and descriptors stay where they are."""

import os
import pathlib

from client import Server

RUNS = int(os.environ.get("FAILWELL_PYTEST_RUNS", "60"))
SETTLING = 25  # runs until every buffer and table has its size
ALLOWED = 6 * 1024  # KiB of growth


def resident(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def jobs(suite):
    return [("endurance", lambda: checks(suite))]


def checks(suite):
    def flat():
        with Server(suite.binary, suite.fixtures / "failing", "--python", suite.python(), env=suite.env) as server:
            server.warm()
            pid, before = server.process.pid, None
            for index in range(SETTLING + RUNS):
                outcome = server.run(cold=index % 10 == 9)
                assert outcome.counts() == (1, 4, 0, 0), outcome
                if index == SETTLING - 1:
                    before = resident(pid), len(os.listdir(f"/proc/{pid}/fd"))
            after = resident(pid), len(os.listdir(f"/proc/{pid}/fd"))
            print(f"  {RUNS} runs: memory {before[0]} → {after[0]} KiB, descriptors {before[1]} → {after[1]}")
            assert after[0] - before[0] < ALLOWED, (before, after)
            assert after[1] <= before[1], (before, after)

    suite.check(f"{RUNS} runs in a row", flat)
