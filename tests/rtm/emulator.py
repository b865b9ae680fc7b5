"""A running emulator, and a minimal client of it."""

import contextlib
import hashlib
import json
import re
import signal
import subprocess
import sys
import threading
import urllib.parse
import urllib.request

START_LIMIT, CALL_LIMIT, STOP_LIMIT = 60, 30, 10  # seconds


class Emulator:
    def __init__(self, base, key, secret):
        self.base, self.key, self.secret = base, key, secret

    def signed(self, **parameters):
        """The parameters with the key and the signature, as a query."""
        parameters = {"api_key": self.key, **parameters}
        text = self.secret + "".join(name + value for name, value in sorted(parameters.items()))
        return urllib.parse.urlencode({**parameters, "api_sig": hashlib.md5(text.encode()).hexdigest()})

    def call(self, method, **parameters):
        query = self.signed(method=method, format="json", v="2", **parameters)
        with urllib.request.urlopen(f"{self.base}/services/rest/?{query}", timeout=CALL_LIMIT) as answer:
            return json.load(answer)["rsp"]

    def link(self, frob, permission):
        """The URL to which an application sends its user."""
        return f"{self.base}/services/auth/?{self.signed(frob=frob, perms=permission)}"


@contextlib.contextmanager
def emulating(binary, *arguments):
    """Yields an emulator, and stops it afterwards."""
    process = subprocess.Popen(
        [binary, "emulate", "rtm", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    # Ends the read if the emulator prints nothing.
    watch = threading.Timer(START_LIMIT, process.kill)
    watch.start()
    try:
        output = ""
        while "stop with Ctrl-C" not in output:
            line = process.stdout.readline()
            if not line:
                sys.exit(f"error: the emulator did not start: {output}")
            output += line
        watch.cancel()
        name = lambda pattern: re.search(pattern, output).group(1)  # noqa: E731
        yield Emulator(name(r"is up on (http://\S+)"), name(r"api key +(\S+)"), name(r"secret +(\S+)"))
    finally:
        watch.cancel()
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
