"""The device server → an emulated WebDriverAgent: once through real Appium with its XCUITest driver, once directly."""

import json
import re
import xml.etree.ElementTree as xml

from processes import appium, emulating
from server import each, png_size, serving

APP = "org.example.pantry"


def through_driver(url, emulator, **more):
    """The answers that the XCUITest driver needs on a machine that is not a Mac."""
    capabilities = {
        "platformName": "iOS", "appium:automationName": "XCUITest", "appium:udid": "00008120-000000000000001E",
        "appium:platformVersion": "18.2", "appium:webDriverAgentUrl": emulator.base, "appium:noReset": True,
        "appium:skipLogCapture": True, "appium:autoLaunch": False, **more,
    }
    return {"name": "phone", "driver": "appium", "url": url, "capabilities": capabilities}


def direct(emulator):
    return {"name": "phone", "driver": "webdriveragent", "url": emulator.base}


def through_appium(binary):
    with appium() as url, emulating(binary) as emulator, serving(binary, through_driver(url, emulator)) as server:
        yield from each(Flow(server, emulator).checks())


def directly(binary):
    with emulating(binary) as emulator, serving(binary, direct(emulator)) as server:
        yield from each(Flow(server, emulator).checks())


class Flow:
    """One way through the app. Each check begins where the one before it ended."""

    def __init__(self, server, emulator):
        self.server, self.emulator, self.do = server, emulator, server.do

    def checks(self):
        return [
            self.a_login_by_reference, self.the_list_scrolls, self.pictures_show_what_changed, self.the_picker_turns_both_ways,
            self.an_alert_in_the_way_is_told, self.fingers, self.what_is_not_there_is_told_with_evidence,
            self.an_assertion_that_does_not_hold_is_a_finding, self.steps_at_once, self.recorded_and_replayed,
            self.apps_start_and_end, self.a_report_of_it_all, self.it_ends,
        ]

    def reference(self, wanted):
        seen = self.do("get_screen_hierarchy")["elements"]
        return next(one["ref"] for one in seen if wanted in (one.get("accessibility_id"), one["name"]))

    def text(self, selector):
        return self.do("get_element_text", selector=selector)["text"]

    def a_login_by_reference(self):
        self.do("start_session")
        self.do("enter_text", ref=self.reference("username"), text="ada")
        button = self.reference("log-in")
        holds = self.do("assert_element_property", ref=button, property="enabled", equals="true", timeout=0)
        assert holds["holds"] is False, "both fields first"
        # Only the type of the field shows that the text is a secret.
        self.do("enter_text", selector="password", text="sesame")
        self.do("tap_element", ref=button)
        assert self.emulator.dump()["user"] == "ada"
        assert self.do("assert_element_exists", selector="item-Almonds")["holds"]
        self.server.refuse("device/STALE_REFERENCE", "tap_element", ref=button, timeout=0)

    def the_list_scrolls(self):
        assert self.do("scroll_to", selector="item-Yeast")["swipes"] >= 1
        assert self.emulator.dump()["scroll"] > 0
        self.server.refuse("device/NOT_FOUND_BY_SCROLLING", "scroll_to", selector="item-Caviar", max_swipes=3)
        assert self.do("scroll_to", selector="item-Almonds", direction="up")["done"]
        self.do("tap_element", selector="item-Beans")
        assert self.text("item-name") == "Beans"
        self.do("navigate_back")
        assert self.emulator.dump()["open"] is None

    def pictures_show_what_changed(self):
        self.do("tap_element", selector="tab-account")
        before = self.do("take_screenshot")
        assert (before["width"], before["height"]) == (750, 1334), before
        uri = before["screenshot"]["uri"]
        assert self.do("compare_screenshots", before=uri)["same"] is True
        place = self.do("find_element", selector="notifications")["element"]["rect"]
        self.do("tap_element", selector="notifications")
        found = self.do("compare_screenshots", before=uri)
        assert found["same"] is False and len(found["regions"]) == 1, found
        region = found["regions"][0]
        assert place["x"] * 2 <= region["x"] and region["x"] + region["width"] <= (place["x"] + place["width"]) * 2, (region, place)
        assert place["y"] * 2 <= region["y"] and region["y"] + region["height"] <= (place["y"] + place["height"]) * 2, (region, place)
        assert png_size(self.server.read(found["difference"]["uri"])) == (750, 1334)
        masked = self.do("compare_screenshots", before=uri, masks=[region])
        assert masked["same"] is True, masked

    def the_picker_turns_both_ways(self):
        self.do("tap_element", selector="tab-order")
        for value in ("Family", "Small", "Large"):
            self.do("select_picker_value", selector="box-size-wheel", value=value)
            assert self.emulator.dump()["size"] == value
        self.server.refuse("device/INVALID_VALUE", "select_picker_value", selector="box-size-wheel", value="Huge", timeout=1)

    def an_alert_in_the_way_is_told(self):
        self.do("tap_element", selector="place-order")
        failed = self.server.refuse("device/ALERT_OPEN", "tap_element", selector="tab-items", timeout=1)
        assert "Place the order?" in failed.object["alert"] and failed.fault["effect"] == "none", failed.fault
        assert "Place the order?" in self.do("handle_alert", action="accept")["alert"]
        assert self.text("order-status") == "Ordered: Large"

    def fingers(self):
        self.do("tap_element", selector="tab-items")
        self.do("long_press", selector="item-Apples")
        self.do("handle_alert", action="accept")
        assert self.do("assert_element_exists", selector="item-Apples", exists=False)["holds"]
        self.do("swipe", direction="up")
        assert self.emulator.dump()["scroll"] > 100
        self.do("swipe", direction="down")
        place = self.do("find_element", selector="tab-order")["element"]["rect"]
        self.do("tap_element", x=place["x"] + place["width"] / 2, y=place["y"] + place["height"] / 2)
        assert self.emulator.dump()["tab"] == "Order"
        self.do("set_device_orientation", orientation="landscape")
        taken = self.do("take_screenshot")
        assert (taken["width"], taken["height"]) == (1334, 750), taken
        self.do("set_device_orientation", orientation="portrait")
        self.do("set_location", latitude=54.3, longitude=10.1)

    def what_is_not_there_is_told_with_evidence(self):
        failed = self.server.refuse("device/NO_SUCH_ELEMENT", "tap_element", selector="place-ordr", timeout=0.3)
        assert failed.fault["effect"] == "none", failed.fault
        assert "place-order" in json.dumps(failed.object["nearest"][0]), failed.object
        png = self.server.read(failed.object["screenshot"]["uri"])
        assert png_size(png) == (750, 1334)
        wrong = self.server.refuse("device/INVALID_SELECTOR", "find_element", selector="//*[", strategy="xpath", timeout=0) \
            if self.knows_selectors() else None
        assert wrong is None or "//*[" not in wrong.fault["title"]

    def knows_selectors(self):
        """Whether WebDriverAgent is driven directly: only then is an invalid selector told apart from one without matches."""
        return self.do("list_devices")["devices"][0]["driver"] == "webdriveragent"

    def an_assertion_that_does_not_hold_is_a_finding(self):
        found = self.do("assert_element_property", selector="order-status", property="text", equals="Ordered: Small", timeout=0)
        assert found["holds"] is False and found["actual"] == "Ordered: Large", found

    def steps_at_once(self):
        steps = [
            {"tool": "tap_element", "arguments": {"selector": "tab-items"}},
            {"tool": "tap_element", "arguments": {"selector": "item-Beans"}},
            {"tool": "tap_element", "arguments": {"selector": "add-to-basket"}},
            {"tool": "assert_element_property", "arguments": {"selector": "basket-count", "property": "text", "equals": "In the basket: 1"}},
            {"tool": "tap_element", "arguments": {"selector": "nowhere", "timeout": 0}},
            {"tool": "navigate_back", "arguments": {}},
        ]
        made = self.server.refuse("device/STEP_FAILED", "run_steps", steps=steps)
        assert [made.object[name] for name in ("passed", "failed", "broken", "skipped")] == [4, 0, 1, 1], made.object
        assert made.fault["effect"] == "partial", made.fault
        assert self.emulator.dump()["basket"] == 1
        unread = self.server.refuse("device/BAD_RECORDING", "run_steps", steps=[*steps[:1], {"tool": "tap", "arguments": {}}])
        assert unread.fault["effect"] == "none" and self.emulator.dump()["open"] == "Beans", "nothing was made"
        self.do("navigate_back")

    def recorded_and_replayed(self):
        self.do("start_recording")
        self.do("tap_element", selector="tab-account")
        self.do("tap_element", selector="log-out")
        self.do("handle_alert", action="accept")
        self.do("enter_text", selector="username", text="grace")
        self.do("enter_text", selector="password", text="sesame", secret_name="password")
        self.do("tap_element", selector="log-in")
        self.do("tap_element", selector="tab-account")
        self.do("assert_element_property", selector="greeting", property="text", equals="Hello, grace")
        recording = self.do("stop_recording")["recording"]["uri"]
        kept = self.server.read(recording).decode()
        assert "sesame" not in kept and "${password}" in kept, kept
        again = self.do("replay", uri=recording, values={"password": "sesame"})
        assert (again["passed"], again["failed"], again["broken"]) == (8, 0, 0), again
        assert self.emulator.dump()["user"] == "grace"
        wrong = self.server.call("replay", uri=recording, values={"password": "guess"})
        assert wrong.object.get("broken") == 1 or wrong.object.get("failed") == 1, wrong.object

    def apps_start_and_end(self):
        state = lambda: self.do("get_app_state", app=APP)["state"]  # noqa: E731
        assert state() == "foreground"
        self.do("terminate_app", app=APP)
        assert state() == "not_running"
        self.do("launch_app", app=APP)
        assert state() == "foreground" and self.do("assert_element_exists", selector="username")["holds"]

    def a_report_of_it_all(self):
        report = self.do("get_report", title="Pantry <from end to end>")
        page = self.server.read(report["html"]["uri"]).decode()
        assert "<h1>Pantry &lt;from end to end&gt;</h1>" in page and "data:image/png;base64," in page
        assert not re.search(r"<script|https?://|sesame", page), "it stands alone, and keeps secrets"
        assert page.count("••••") >= 2, "the step is there, without its text"
        junit = self.server.read(report["junit"]["uri"]).decode()
        assert "sesame" not in junit, junit
        suite = xml.fromstring(junit)[0]
        counts = [int(suite.get(name)) for name in ("tests", "failures", "errors")]
        cases = suite.findall("testcase")
        assert counts == [len(cases), len(suite.findall("*/failure")), len(suite.findall("*/error"))], counts
        assert counts[1:] == [report["failed"], report["broken"]] and report["broken"] >= 5, report

    def it_ends(self):
        self.do("stop_session")
        assert self.emulator.dump()["session"] is None, "the runner has no session any more"
