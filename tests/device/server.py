"""The device server under test, and its client."""

import base64
import contextlib
import json
import os
import pathlib
import tempfile
import traceback

from stdio_client import Client

FAULT = "dev.failwell/fault"


class Server(Client):
    """One server with the devices it is given."""

    def call(self, tool, **arguments):
        return Reply(tool, super().call(tool, **arguments))

    def finish(self, number):
        """The response to a call that was started before."""
        return Reply("begun", self.answer(number))

    def do(self, tool, **arguments):
        """The result of a tool that must succeed."""
        return self.call(tool, **arguments).done()

    def refuse(self, reason, tool, **arguments):
        """The fault of a tool that must fail with this reason."""
        return self.call(tool, **arguments).refused(reason)

    def read(self, uri):
        """The bytes of a resource."""
        answer = self.ask("resources/read", {"uri": uri})
        assert "result" in answer, answer
        content = answer["result"]["contents"][0]
        return base64.b64decode(content["blob"]) if "blob" in content else content["text"].encode()


class Reply:
    """The result of a tool."""

    def __init__(self, tool, answer):
        assert "result" in answer, f"{tool}: {answer}"
        self.tool, self.result = tool, answer["result"]
        self.fault = self.result.get("_meta", {}).get(FAULT)
        self.object = self.result.get("structuredContent") or {}

    def done(self):
        assert not self.result.get("isError"), f"{self.tool}: {self.fault or self.result}"
        return self.object

    def refused(self, reason):
        assert self.result.get("isError") and self.fault, f"{self.tool} did not fail: {json.dumps(self.result)[:1500]}"
        assert self.fault["reason"] == reason, f"{self.tool}: {self.fault}"
        return self

    def blocks(self, kind):
        return [block for block in self.result.get("content", []) if block["type"] == kind]


def toml(value):
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {toml(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


@contextlib.contextmanager
def serving(binary, *devices, env=None, **settings):
    """Yields a server with these devices. Removes its files, and those of killed drivers and browsers, afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.mkdir(f"{folder}/tmp")
        lines = ["[device]", *(f"{name} = {toml(value)}" for name, value in settings.items())]
        for device in devices:
            lines += ["", "[[device.devices]]", *(f"{name} = {toml(value)}" for name, value in device.items())]
        config = pathlib.Path(folder) / "failwell.toml"
        config.write_text("\n".join(lines) + "\n")
        surroundings = {**os.environ, "FAILWELL_STATE": f"{folder}/state", "TMPDIR": f"{folder}/tmp", **(env or {})}
        with Server([binary, "serve", "device", "--config", config], env=surroundings) as server:
            server.state = pathlib.Path(folder) / "state"
            yield server


def each(checks):
    """Runs checks (functions, or pairs of a name and a function) in order, and yields the failures."""
    for check in checks:
        name, run = check if isinstance(check, tuple) else (check.__name__.replace("_", " "), check)
        try:
            run()
        except Exception as error:  # noqa: BLE001 whatever it is, the other checks still count
            place = traceback.extract_tb(error.__traceback__)[-4:]
            lines = "\n".join(f"{pathlib.Path(one.filename).name}:{one.lineno} {one.line}" for one in place)
            yield name, f"{type(error).__name__}: {str(error)[:3000]}\n{lines}"
        else:
            yield name, None


def png_size(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and png[12:16] == b"IHDR", png[:40]
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])

