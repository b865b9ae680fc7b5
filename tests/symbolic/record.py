#!/usr/bin/env python3
"""Asks CrossHair for its verdict on each of its own examples, and writes crosshair.json.

    FAILWELL_SYMBOLIC=… record.py [SECONDS]
"""

import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True

import peers  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


class CrossHair:
    """The warm driver, in CrossHair's own environment."""

    def __init__(self, environments):
        command = [str(environments / "peers" / "bin" / "python"), str(HERE / "crosshair_driver.py")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"verdict": "error", "seconds": 0.0, "told": ["gone"]}

    def close(self):
        self.process.kill()
        self.process.wait()


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    environments = pathlib.Path(os.environ["FAILWELL_SYMBOLIC"])
    crosshair = CrossHair(environments)
    verdicts = {}
    for name, code, function, _ in peers.examples(environments):
        answer = crosshair.ask(code=code, function=function, seconds=seconds)
        verdicts[name] = answer["verdict"]
        print(name, answer["verdict"], answer["told"][:1], flush=True)
    crosshair.close()
    (HERE / "crosshair.json").write_text(json.dumps(verdicts, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
