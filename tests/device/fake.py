"""The device server → real Appium → its fake driver, whose app is a file."""

import json
import pathlib

from processes import appium
from server import each, png_size, serving

APP = pathlib.Path(__file__).resolve().with_name("pantry.xml")


def device(url, name="fake", **more):
    capabilities = {
        "platformName": "Fake", "appium:automationName": "Fake", "appium:deviceName": "Fake", "appium:app": str(APP), **more,
    }
    return {"name": name, "driver": "appium", "url": url, "capabilities": capabilities}


def checks(binary):
    with appium() as url, serving(binary, device(url), device(url, "second")) as server:
        yield from each(Flow(server).checks())


class Flow:
    def __init__(self, server):
        self.server = server

    def checks(self):
        return [
            self.a_session_starts, self.the_screen_is_seen, self.text_goes_in_and_out, self.an_alert_is_answered,
            self.what_the_driver_cannot_do_is_said, self.a_screenshot_is_kept, self.orientation_turns,
            self.two_sessions_keep_apart, self.sessions_end,
        ]

    def a_session_starts(self):
        names = [one["name"] for one in self.server.do("list_devices")["devices"]]
        assert names == ["fake", "second"], names
        started = self.server.do("start_session", device="fake")
        assert started["driver"] == "appium" and started["state"] == "open", started
        assert "pantry.xml" not in json.dumps(started), "where files are is nobody's business"
        self.session = started["session"]

    def the_screen_is_seen(self):
        seen = self.server.do("get_screen_hierarchy")["elements"]
        assert any("log-in" in json.dumps(one) for one in seen), seen
        found = self.server.do("find_element", selector="log-in", strategy="id")["element"]
        assert found["ref"].startswith("e") and found["rect"]["y"] == 220, found

    def text_goes_in_and_out(self):
        self.server.do("enter_text", selector="username", strategy="id", text="ada")
        assert self.server.do("get_element_text", selector="username", strategy="id")["text"] == "ada"
        self.server.do("clear_text", selector="//MockInputField[@id='username']")
        assert self.server.do("get_element_text", selector="username", strategy="id")["text"] == ""
        holds = self.server.do("assert_element_property", selector="help", strategy="id", property="enabled", equals="false")
        assert holds["holds"] is True, holds

    def an_alert_is_answered(self):
        self.server.do("tap_element", selector="log-in", strategy="id")
        failed = self.server.refuse("device/ALERT_OPEN", "tap_element", selector="log-in", strategy="id", timeout=1)
        assert "Welcome to Pantry" in json.dumps(failed.object), failed.object
        assert "Welcome" not in failed.fault["detail"], "the app's words are not ours"
        assert self.server.do("handle_alert", action="accept")["alert"] == "Welcome to Pantry"
        self.server.refuse("device/NO_ALERT", "handle_alert", action="accept", timeout=0)

    def what_the_driver_cannot_do_is_said(self):
        self.server.refuse("device/UNSUPPORTED", "find_element", selector="name == 'x'", strategy="predicate", timeout=0)
        # This driver has no error name for an unknown path.
        self.server.refuse("device/REFUSED", "find_element", selector="//[", strategy="xpath", timeout=0)
        missing = self.server.refuse("device/NO_SUCH_ELEMENT", "tap_element", selector="log-on", strategy="id", timeout=0.2)
        assert missing.object["screenshot"]["uri"].startswith("resource://screenshots/"), missing.object
        assert "log-in" in json.dumps(missing.object["nearest"]), missing.object

    def a_screenshot_is_kept(self):
        reply = self.server.call("take_screenshot")
        taken = reply.done()
        png = self.server.read(taken["screenshot"]["uri"])
        assert png_size(png) == (taken["width"], taken["height"]) and len(png) == taken["screenshot"]["bytes"]
        assert reply.blocks("image") and reply.blocks("resource_link"), reply.result

    def orientation_turns(self):
        self.server.do("set_device_orientation", orientation="landscape")
        self.server.do("set_device_orientation", orientation="portrait")

    def two_sessions_keep_apart(self):
        other = self.server.do("start_session", device="second")["session"]
        self.server.refuse("device/WHICH_SESSION", "tap_element", selector="help", strategy="id")
        self.server.do("enter_text", session=other, selector="username", strategy="id", text="grace")
        mine = self.server.do("get_element_text", session=self.session, selector="username", strategy="id")
        assert mine["text"] == "", "what one types the other does not see"
        self.server.refuse("device/BUSY", "start_session", device="second")
        self.server.do("stop_session", session=other)

    def sessions_end(self):
        self.server.do("stop_session", session=self.session)
        self.server.refuse("device/NO_SESSION", "tap_element", selector="help", strategy="id")
        self.server.refuse("device/UNKNOWN_SESSION", "tap_element", session=self.session, selector="help", strategy="id")
