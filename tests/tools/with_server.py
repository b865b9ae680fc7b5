"""Starts a server on a free loopback port, runs a command against it, and stops the server.

    with_server.py COMMAND… '{url}' … -- SERVER COMMAND…

The server says `listening on http://…` on stderr once it is ready; `{url}` in the command becomes that address.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

READY = re.compile(r"listening on (http://\S+)")
START_LIMIT = 120  # seconds: a cold `cargo run` may still have to link
STOP_LIMIT = 30
KEPT_LINES = 200


@contextlib.contextmanager
def serving(command):
    """Yields the URL of the server that `command` starts, and ends its process group afterwards."""
    server = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    lines, ready, url = [], threading.Event(), []

    def read():
        for line in server.stderr:
            if len(lines) < KEPT_LINES:
                lines.append(line)
            found = READY.search(line)
            if found and not url:
                url.append(found.group(1))
                ready.set()
        ready.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        ready.wait(START_LIMIT)
        if not url:
            sys.exit("error: the server did not start: " + " ".join(map(str, command)) + "\n" + "".join(lines))
        yield url[0]
    finally:
        stop(server)


@contextlib.contextmanager
def serving_at(command, url, environment=None):
    """Yields `url` once something listens there; for servers that do not say when they are ready."""
    place = urllib.parse.urlsplit(url)
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True, env=environment)
    try:
        deadline = time.monotonic() + START_LIMIT
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection((place.hostname, place.port), 1).close()
                break
            if time.monotonic() > deadline or server.poll() is not None:
                sys.exit("error: the server did not start: " + " ".join(map(str, command)))
            time.sleep(0.05)
        yield url
    finally:
        stop(server)


def stop(server):
    """Ends the server's process group: SIGTERM, then SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(STOP_LIMIT)
            return


def split(arguments):
    """Splits at the first `--`: what comes before it, and the server's command after it."""
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def main():
    command, server = split(sys.argv[1:])
    if not command or not server:
        sys.exit(__doc__)
    with serving(server) as url:
        return subprocess.run([word.replace("{url}", url) for word in command], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
