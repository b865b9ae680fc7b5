"""`/healthz` while ten answers of 15.9 MB pass the guards: p99, by the text of the answers. Fails above the bar.

    beside.py FAILWELL
"""

import concurrent.futures
import json
import pathlib
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "promises"))

from program import Program  # noqa: E402

MOST = 0.050  # seconds
SIZE = 15_900_000
ANSWERS = 10
TEXTS = {"ordinary": "The report lists 1,250 units in 14 boxes; see https://example.com/r?id=42. ", "settings": "pwd=a;uid=", "digits": "1 1 1 1 ", "addresses": "x://a:"}


def measure(program, unit):
    took = []
    with concurrent.futures.ThreadPoolExecutor(ANSWERS) as pool:
        running = [pool.submit(program.tool, "large", unit=unit, bytes=SIZE) for _ in range(ANSWERS)]
        while not all(future.done() for future in running):
            began = time.monotonic()
            urllib.request.urlopen(program.address + "/healthz", timeout=60).read()
            took.append(time.monotonic() - began)
            time.sleep(max(0, 0.005 - took[-1]))
    took.sort()
    return took[len(took) * 99 // 100], took[-1]


def main():
    command = json.dumps([sys.executable, str(ROOT / "tests" / "promises" / "servers" / "leaky_server.py"), "unused"])
    rules = "".join(f'[guard.{name}]\naction = "redact"\n' for name in ("pii", "injection"))
    held = True
    with tempfile.TemporaryDirectory() as home:
        with Program(sys.argv[1], pathlib.Path(home) / "run", f'[[upstream]]\nname = "leaky"\ncommand = {command}\n{rules}') as program:
            for name, unit in TEXTS.items():
                late, longest = measure(program, unit)
                held = held and late <= MOST
                print(f"/healthz beside {ANSWERS} answers of 15.9 MB ({name}): p99 {late * 1000:.1f} ms, longest {longest * 1000:.1f} ms (at most {MOST * 1000:.0f} ms)")
    sys.exit(0 if held else 1)


main()
