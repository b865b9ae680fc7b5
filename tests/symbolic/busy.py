"""The same verdicts on an idle machine and with every CPU busy: budgets are steps, not seconds."""

import multiprocessing
import os

import verdicts

# Only times, and values that depend on them, may differ.
LEFT_OUT = ("time_seconds", "memory_usage_mb")


def burn():
    while True:
        sum(range(100_000))


def checks(suite):
    if suite.answers is None:
        with suite.server() as server:
            suite.answers = verdicts.ask_all(server)
    burners = [multiprocessing.Process(target=burn, daemon=True) for _ in range(2 * (os.cpu_count() or 2))]
    for burner in burners:
        burner.start()
    try:
        with suite.server() as server:
            busy = verdicts.ask_all(server)
    finally:
        for burner in burners:
            burner.kill()
            burner.join()
    for name, answer in suite.answers.items():
        suite.check(f"busy: {name}", lambda a=answer, b=busy[name]: the_same(a, b))


def the_same(calm, busy):
    left, right = essence(calm.content), essence(busy.content)
    assert left == right, f"at rest {left}, busy {right}"


def essence(content):
    # The progress of an analysis that hit its time limit depends on the machine; only the verdict is compared.
    if content.get("error_type") == "TimeoutError":
        return {"status": content["status"], "error_type": content["error_type"]}
    return {name: value for name, value in content.items() if name not in LEFT_OUT}
