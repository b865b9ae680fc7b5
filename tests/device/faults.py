"""Faults between the device server and a phone: reason, effect, complete files, and recovery."""

import hashlib
import json
import time

from phone import direct, through_driver
from processes import appium, emulating
from server import each, serving


LARGEST = 32 << 20  # bytes of one answer: enough for a picture of 20 MB as text, and not for one of 26


def checks(binary):
    with emulating(binary) as emulator, serving(binary, direct(emulator), timeout_s=8) as server:
        yield from each(Agent(server, emulator).checks())
    with emulating(binary) as emulator, serving(binary, direct(emulator), max_answer_bytes=LARGEST) as server:
        yield from each([
            ("a screenshot of 20 megabytes", lambda: large(server, emulator)),
            ("one that is too large", lambda: too_large(server, emulator)),
            ("a runner that dies at work", lambda: dies(server, emulator)),
        ])
    with appium() as url, emulating(binary) as emulator, serving(binary, through_driver(url, emulator), timeout_s=20) as server:
        yield from each([("a runner that dies behind Appium", lambda: dies_behind(server, emulator))])
    absent = {"name": "nobody", "driver": "webdriveragent", "url": "http://127.0.0.1:1"}
    with serving(binary, absent) as server:
        yield from each([("nobody is there", lambda: server.refuse("device/DRIVER_UNREACHABLE", "start_session"))])


def log_in(server):
    server.do("enter_text", selector="username", text="ada")
    server.do("enter_text", selector="password", text="sesame")
    server.do("tap_element", selector="log-in")


def large(server, emulator):
    server.do("start_session")
    for size, readable in ((10_000_000, True), (20_000_000, False)):
        emulator.fail("large_screenshot", bytes=size, commands="GET /screenshot", times=1)
        reply = server.call("take_screenshot")
        taken, link = reply.done(), reply.object["screenshot"]
        assert link["bytes"] > size and taken["inline"] is False, taken
        assert not reply.blocks("image") and reply.blocks("resource_link"), "linked, not in the answer"
        if readable:
            png = server.read(link["uri"])
            assert len(png) == link["bytes"], "all of it"
            assert hashlib.sha256(png).hexdigest() in link["uri"], "and none of it torn"
        else:
            answer = server.ask("resources/read", {"uri": link["uri"]})
            assert answer["error"]["data"]["reason"] == "server/TOO_LARGE", "more than one message may hold"
        kept_whole(server, link)


def kept_whole(server, link):
    """Every stored file matches the hash in its name, and none is incomplete."""
    shelf = server.state / "shelf"
    kept = [place for place in shelf.rglob("*.png") if place.stem in link["uri"]]
    assert len(kept) == 1 and hashlib.sha256(kept[0].read_bytes()).hexdigest() == kept[0].stem, kept
    half = [place for place in (shelf / "incoming").rglob("*") if place.is_file() and place.name != "lock"]
    assert half == [], half


def too_large(server, emulator):
    emulator.fail("large_screenshot", bytes=26_000_000, commands="GET /screenshot", times=1)
    failed = server.refuse("device/TOO_LARGE", "take_screenshot")
    assert failed.fault["facts"]["bytes"] > failed.fault["facts"]["limit_bytes"] == LARGEST, failed.fault
    assert server.do("list_sessions")["sessions"][0]["state"] == "open", "one answer too many ends nothing"
    assert server.do("take_screenshot")["inline"] is True


def dies(server, emulator):
    log_in(server)
    emulator.fail("die", commands="POST */click")
    failed = server.refuse("device/DRIVER_DIED", "tap_element", selector="tab-order")
    assert failed.fault["effect"] == "unknown", failed.fault
    assert emulator.process.wait(30) == 1, "it died as it was told"
    server.refuse("device/SESSION_GONE", "tap_element", selector="tab-order", timeout=0)
    server.refuse("device/DRIVER_UNREACHABLE", "recover_session")
    server.do("stop_session")


def dies_behind(server, emulator):
    server.do("start_session")
    log_in(server)
    emulator.fail("die", commands="POST */click")
    failed = server.call("tap_element", selector="tab-order", timeout=1)
    assert failed.result.get("isError") and failed.fault["effect"] in ("unknown", "none"), failed.result
    text = json.dumps(failed.result)
    assert emulator.base.removeprefix("http://") not in text and "ECONN" not in text, "whom Appium talks to is the operator's"
    server.call("stop_session").done()


class Agent:
    def __init__(self, server, emulator):
        self.server, self.emulator, self.do = server, emulator, server.do

    def checks(self):
        return [
            self.a_driver_that_hangs, self.a_stale_element_is_found_anew, self.one_that_stays_stale_is_told, self.an_alert_comes_up,
            self.answers_that_are_none, self.an_answer_that_is_lost, self.calls_wait_their_turn,
            self.a_session_that_expires, self.a_device_that_is_busy, self.a_session_that_cannot_be,
        ]

    def a_driver_that_hangs(self):
        self.do("start_session")
        log_in(self.server)
        self.emulator.fail("hang", commands="POST */click", times=1)
        began = time.monotonic()
        failed = self.server.refuse("device/TIMEOUT", "tap_element", selector="tab-order")
        took = time.monotonic() - began
        assert failed.fault["effect"] == "unknown" and took < 60, (failed.fault, took)
        self.do("tap_element", selector="tab-order")
        assert self.emulator.dump()["tab"] == "Order", "the next call is served"

    def a_stale_element_is_found_anew(self):
        self.emulator.fail("stale", commands="POST */click", times=1)
        self.do("tap_element", selector="tab-items")
        assert self.emulator.dump()["tab"] == "Items"

    def one_that_stays_stale_is_told(self):
        self.emulator.fail("stale", commands="POST */click")
        failed = self.server.refuse("device/STALE_ELEMENT", "tap_element", selector="tab-order", timeout=0.5)
        assert failed.fault["effect"] == "none", failed.fault
        self.emulator.ask("DELETE", "fail")
        assert self.emulator.dump()["tab"] == "Items", "nothing was done"

    def an_alert_comes_up(self):
        self.emulator.fail("alert", commands="POST */click", times=1)
        failed = self.server.refuse("device/ALERT_OPEN", "tap_element", selector="tab-order", timeout=1)
        assert "Would Like to Send You Notifications" in failed.object["alert"], failed.object
        assert failed.object["screenshot"]["uri"], failed.object
        self.do("handle_alert", action="dismiss")

    def answers_that_are_none(self):
        self.emulator.fail("html", commands="GET /source", times=1)
        failed = self.server.refuse("device/BAD_ANSWER", "get_screen_hierarchy")
        assert failed.fault["effect"] == "none" and "doctype" not in json.dumps(failed.result), failed.result
        self.emulator.fail("truncate", commands="GET /source", times=1)
        assert self.do("get_screen_hierarchy")["elements"], "looking is done again when the connection breaks"
        asked = [outcome for command, outcome in self.emulator.calls() if command == "GET /source"]
        assert asked[-2:] == ["ok", "ok"], asked
        self.emulator.fail("truncate", commands="GET /source")
        failed = self.server.refuse("device/DRIVER_DIED", "get_screen_hierarchy")
        assert failed.fault["effect"] == "none", failed.fault
        self.emulator.ask("DELETE", "fail")
        self.again()

    def again(self):
        """A session can be started again after it was given up; the app keeps its state or starts anew."""
        sessions = self.do("list_sessions")["sessions"]
        if not sessions or sessions[0]["state"] != "open":
            self.do("recover_session")
        if self.emulator.dump()["user"] is None:
            log_in(self.server)

    def an_answer_that_is_lost(self):
        self.emulator.fail("reset", commands="POST */click", stage="after", times=1)
        failed = self.server.refuse("device/DRIVER_DIED", "tap_element", selector="tab-order")
        assert failed.fault["effect"] == "unknown", failed.fault
        taps = [outcome for command, outcome in self.emulator.calls() if command.endswith("/click")]
        assert taps[-1] == "reset" and self.emulator.dump()["tab"] == "Order", "done once, and not again"
        self.again()

    def calls_wait_their_turn(self):
        self.emulator.fail("delay", milliseconds=300, commands="GET /screenshot", times=4)
        numbers = [self.server.begin("take_screenshot") for _ in range(4)]
        began = [self.server.finish(number).done() for number in numbers]
        assert len({one["screenshot"]["uri"] for one in began}) == 1, "the same screen, four times"

    def a_session_that_expires(self):
        self.emulator.fail("expire", commands="POST */click", times=1)
        failed = self.server.refuse("device/SESSION_GONE", "tap_element", selector="tab-order")
        assert failed.fault["effect"] == "none", failed.fault
        self.server.refuse("device/SESSION_GONE", "tap_element", selector="tab-order", timeout=0)
        assert self.do("recover_session")["state"] == "open"
        self.do("tap_element", selector="tab-order")

    def a_device_that_is_busy(self):
        failed = self.server.refuse("device/BUSY", "start_session")
        assert failed.fault["effect"] == "none", failed.fault
        waiting = self.server.begin("start_session", wait_s=30)
        first = self.do("list_sessions")["sessions"][0]["session"]
        self.do("stop_session", session=first)
        second = self.server.finish(waiting).done()["session"]
        assert second != first
        self.do("stop_session")

    def a_session_that_cannot_be(self):
        self.emulator.fail("refuse", error="session not created", message="/Users/someone/secret", commands="POST /session", times=1)
        failed = self.server.refuse("device/SESSION_NOT_CREATED", "start_session")
        assert "secret" not in json.dumps(failed.result), "what the driver says is the operator's"
        self.do("start_session")
        self.do("stop_session")
