"""Where it begins: one run (`run SETTINGS ARG…`), or a worker that forks once per run (`serve SOCKET ROOT`)."""

import json
import os
import sys

from .run import run


def main():
    verb = sys.argv[1]
    if verb == "run":
        settings = json.loads(sys.argv[2])
        sys.exit(run(settings, sys.argv[3:], int(os.environ.pop("FAILWELL_EVENTS"))))
    from .serve import serve

    serve(sys.argv[2], sys.argv[3])
