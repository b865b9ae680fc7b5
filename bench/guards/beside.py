"""`/healthz` while messages of 16 KB, 1 MB and 15.9 MB pass the guards, as answers and as requests. Fails above one of the bars.

    beside.py FAILWELL [KB…]

A process of its own asks on a fixed schedule, whether the last answer has come or not. A latency counts from the
scheduled time, so a stall counts for every request that was due in it.
"""

import concurrent.futures
import http.client
import json
import multiprocessing
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "promises"))

from program import Program  # noqa: E402

MOST, LONGEST = 0.050, 0.250  # seconds: the 99th percentile, and any one
INTERVAL = 0.010  # seconds
# Bytes of a message, and how many of them pass while `/healthz` is asked. Ten are on their way at once.
SIZES = {16_000: 2_000, 1_000_000: 60, 15_900_000: 10}
AT_ONCE = 10
TEXTS = {"ordinary": "The report lists 1,250 units in 14 boxes; see https://example.com/r?id=42. ", "settings": "pwd=a;uid=", "digits": "1 1 1 1 ", "addresses": "x://a:"}


def probe(host, begun, over, results):
    """Sends a request every `INTERVAL` until the end, and returns the latencies."""
    wire, latencies = http.client.HTTPConnection(host, timeout=60), []
    begun.set()
    due = time.monotonic()
    while not over.is_set() or due < time.monotonic():
        time.sleep(max(0, due - time.monotonic()))
        wire.request("GET", "/healthz")
        answer = wire.getresponse()
        assert answer.status == 200 and answer.read(), answer.status
        latencies.append(time.monotonic() - due)
        due += INTERVAL
    results.put(sorted(latencies))


def measure(program, arguments, messages):
    """The sorted latencies during so many such calls."""
    context = multiprocessing.get_context("spawn")
    begun, over, results = context.Event(), context.Event(), context.Queue()
    probing = context.Process(target=probe, args=(program.address.removeprefix("http://"), begun, over, results), daemon=True)
    probing.start()
    assert begun.wait(60), "the probe does not start"
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        statuses = [status for status, _ in pool.map(lambda _: program.tool("large", **arguments), range(messages))]
    over.set()
    latencies = results.get(timeout=120)
    probing.join(60)
    assert statuses == [200] * messages, statuses
    return latencies


def beside(program, name, unit, size, messages):
    """Prints the latencies beside messages of this size. Whether they keep the bars."""
    held = True
    answers, requests = {"unit": unit, "bytes": size}, {"unit": "x", "bytes": 1, "text": unit * (size // len(unit))}
    for kind, arguments in (("answers", answers), ("requests", requests)):
        latencies = measure(program, arguments, messages)
        late, longest = latencies[len(latencies) * 99 // 100], latencies[-1]
        held = held and late <= MOST and longest <= LONGEST
        print(
            f"/healthz beside {messages} {kind} of {size / 1e6:g} MB ({name}): p99 {late * 1000:.1f} ms (at most {MOST * 1000:.0f} ms), "
            f"longest {longest * 1000:.1f} ms (at most {LONGEST * 1000:.0f} ms), {len(latencies)} requests",
            flush=True,
        )
    return held


def main():
    command = json.dumps([sys.executable, str(ROOT / "tests" / "promises" / "servers" / "leaky_server.py"), "unused"])
    rules = "".join(f'[guard.{name}]\naction = "redact"\n' for name in ("pii", "injection"))
    held = True
    with tempfile.TemporaryDirectory() as home:
        with Program(sys.argv[1], pathlib.Path(home) / "run", f'[[upstream]]\nname = "leaky"\ncommand = {command}\n{rules}') as program:
            # The upstream starts with its first call.
            assert program.tool("large", unit="x", bytes=1)[0] == 200
            wanted = [int(size) * 1000 for size in sys.argv[2:]]
            for size, messages in [(size, 10) for size in wanted] or SIZES.items():
                for name, unit in TEXTS.items():
                    held = beside(program, name, unit, size, messages) and held
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
