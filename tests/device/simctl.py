"""The device server → `xcrun simctl`, replayed from a recording: every argument vector is logged, without a shell."""

import json
import os
import pathlib
import struct
import sys
import tempfile
import zlib

from server import each, png_size, serving

UDID = "6F0A5C1E-7C1D-4C4B-9C3B-0D6F2A4E8B11"
LIST = {
    "devices": {
        "com.apple.CoreSimulator.SimRuntime.iOS-18-2": [
            {"udid": "11111111-0000-4000-8000-000000000000", "name": "iPad Air", "state": "Shutdown", "isAvailable": True},
            {"udid": UDID, "name": "iPhone 16", "state": "Shutdown", "isAvailable": True},
        ]
    }
}


def grey_pixel():
    """The smallest PNG there can be."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")


# A Python script that is started directly, so that it logs its exact arguments.
XCRUN = """#!{python}
import json, sys
with open({log!r}, "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
words = sys.argv[2:]
if words[:2] == ["list", "devices"]:
    print(open({list!r}).read())
elif words[0] == "io" and words[2] == "screenshot":
    sys.stdout.buffer.write(open({png!r}, "rb").read())
elif words[0] == "get_app_container":
    sys.exit(0 if words[2] == "com.example.shop" else 2)
elif words[0] == "spawn" and words[2:4] == ["launchctl", "list"]:
    print("57\\t0\\tUIKitApplication:com.example.shop[f00d][rb-legacy]")
elif words[0] == "launch" and words[2] == "com.example.broken":
    sys.exit("An error was encountered processing the command, /Users/someone/secret")
elif words[0] == "spawn":
    print("2026-11-15 19:00:00.000 Df shop[57] hello from the log")
"""


def checks(binary):
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        (home / "list.json").write_text(json.dumps(LIST))
        (home / "screen.png").write_bytes(grey_pixel())
        (home / "bin").mkdir()
        (home / "apps").mkdir()
        (home / "apps" / "Shop.app").mkdir()
        xcrun = home / "bin" / "xcrun"
        names = {"log": "calls.jsonl", "list": "list.json", "png": "screen.png"}
        xcrun.write_text(XCRUN.format(python=sys.executable, **{name: str(home / file) for name, file in names.items()}))
        xcrun.chmod(0o755)
        env = {"PATH": f"{home / 'bin'}:{os.environ['PATH']}"}
        device = {"name": "simulator", "driver": "simctl", "udid": UDID}
        with serving(binary, device, env=env, apps=[str(home / "apps")]) as server:
            yield from each(Flow(server, home).checks())


class Flow:
    def __init__(self, server, home):
        self.server, self.do, self.home = server, server.do, home

    def checks(self):
        return [
            self.it_boots_what_is_off, self.apps, self.pictures_and_the_rest, self.words_that_look_like_options,
            self.what_it_cannot_do, self.what_fails_keeps_its_words, self.it_turns_off_what_it_turned_on,
        ]

    def calls(self):
        """The commands since the last call."""
        log = self.home / "calls.jsonl"
        lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        log.write_text("")
        assert all(words[0] == "simctl" for words in lines), lines
        return [words[1:] for words in lines]

    def it_boots_what_is_off(self):
        started = self.do("start_session")
        assert started["driver"] == "simctl" and started["about"]["deviceName"] == "iPhone 16", started
        assert self.calls() == [["list", "devices", "-j"], ["boot", UDID], ["bootstatus", UDID]]

    def apps(self):
        self.do("install_app", app="Shop.app")
        self.do("launch_app", app="com.example.shop")
        assert self.do("get_app_state", app="com.example.shop")["state"] == "foreground"
        assert self.do("get_app_state", app="com.example.none")["state"] == "not_installed"
        self.do("terminate_app", app="com.example.shop")
        assert self.calls() == [
            ["install", UDID, str((self.home / "apps" / "Shop.app").resolve())],
            ["launch", UDID, "com.example.shop"],
            ["get_app_container", UDID, "com.example.shop"],
            ["spawn", UDID, "launchctl", "list"],
            ["get_app_container", UDID, "com.example.none"],
            ["terminate", UDID, "com.example.shop"],
        ]

    def pictures_and_the_rest(self):
        taken = self.do("take_screenshot")
        assert png_size(self.server.read(taken["screenshot"]["uri"])) == (1, 1)
        self.do("set_location", latitude=54.3, longitude=-10.1)
        self.do("change_permission", app="com.example.shop", permission="camera", action="grant")
        self.do("get_logs")
        calls = self.calls()
        assert calls[:3] == [
            ["io", UDID, "screenshot", "--type=png", "-"],
            ["location", UDID, "set", "54.3,-10.1"],
            ["privacy", UDID, "grant", "camera", "com.example.shop"],
        ], calls
        assert calls[3][:4] == ["spawn", UDID, "log", "show"] and len(calls) == 4, calls

    def words_that_look_like_options(self):
        for app in ("--help", "$(touch /tmp/x)", "a;b", "com.example.shop booted", "com/example", "`id`"):
            self.server.refuse("device/INVALID_VALUE", "launch_app", app=app)
        for app in ("../list.json", "/etc/passwd", "Shop.app/../../list.json", "nowhere"):
            self.server.refuse("device/APP_DENIED", "install_app", app=app)
        assert self.calls() == [], "none of it was asked"

    def what_it_cannot_do(self):
        for tool, arguments in (
            ("get_screen_hierarchy", {}), ("tap_element", {"x": 1, "y": 1}), ("find_element", {"selector": "x", "timeout": 0}),
            ("swipe", {"direction": "up"}), ("set_device_orientation", {"orientation": "landscape"}),
        ):
            self.server.refuse("device/UNSUPPORTED", tool, **arguments)

    def what_fails_keeps_its_words(self):
        failed = self.server.refuse("device/SIMCTL", "launch_app", app="com.example.broken")
        assert "secret" not in json.dumps(failed.result), "where things are is the operator's"

    def it_turns_off_what_it_turned_on(self):
        self.calls()
        self.do("stop_session")
        assert self.calls() == [["shutdown", UDID]]
