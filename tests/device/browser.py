"""The device server → chromedriver, which it starts → Chromium that emulates a phone, on a local page."""

import json
import os
import shutil
import signal
import sys
import time

from pages import shop
from processes import below
from server import each, png_size, serving


def device(name="browser", **more):
    programs = {program: shutil.which(program) for program in ("chromium", "chromedriver")}
    if None in programs.values():
        sys.exit("error: chromium and chromedriver are not installed\nhelp: run ./x test device, which installs them")
    arguments = [
        "--no-sandbox",  # Chromium refuses its own sandbox to root, whom containers run as
        "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    ]
    options = {"binary": programs["chromium"], "args": arguments}
    return {"name": name, "driver": "chromedriver", "command": [programs["chromedriver"]], "capabilities": {"goog:chromeOptions": options}, **more}


def checks(binary):
    with shop() as counter, serving(binary, device()) as server:
        yield from each(Flow(server, counter).checks())


class Flow:
    def __init__(self, server, counter):
        self.server, self.do, self.counter, self.address = server, server.do, counter, counter.address

    def checks(self):
        return [
            self.a_login, self.one_button_that_changed_is_seen, self.what_people_do_on_pages, self.a_dialog_is_told_and_answered,
            self.addresses_that_are_closed, self.a_report_people_can_read, self.a_driver_killed_at_work,
            self.a_driver_killed_between_calls, self.it_ends,
        ]

    def text(self, selector):
        return self.do("get_element_text", selector=selector, strategy="css")["text"]

    def a_login(self):
        started = self.do("start_session")
        assert started["driver"] == "chromedriver", started
        self.do("launch_app", app=f"{self.address}/")
        self.do("enter_text", selector="Name", text="ada")
        self.do("enter_text", selector="Password", text="guess")
        self.do("tap_element", selector="#log-in", strategy="css")
        assert self.do("assert_element_exists", selector="Wrong name or password")["holds"]
        self.do("enter_text", selector="Name", text="ada")
        self.do("enter_text", selector="Password", text="sesame", submit=True)
        holds = self.do("assert_element_property", selector="#greeting", strategy="css", property="text", equals="Hello, ada")
        assert holds["holds"], holds
        seen = self.do("get_screen_hierarchy")
        assert seen["title"] == "Shop of ada" and any(one["name"] == "Buy" for one in seen["elements"]), seen

    def one_button_that_changed_is_seen(self):
        before = self.do("take_screenshot")
        assert (before["width"], before["height"]) == (1170, 2532), before
        uri = before["screenshot"]["uri"]
        for _ in range(5):
            self.do("launch_app", app=f"{self.address}/home")
            found = self.do("compare_screenshots", before=uri)
            assert found["same"], f"the same page is the same picture: {found}"
        self.do("launch_app", app=f"{self.address}/home?sale")
        place = self.do("find_element", selector="Buy")["element"]["rect"]
        found = self.do("compare_screenshots", before=uri)
        assert not found["same"] and found["same_size"] and len(found["regions"]) == 1, found
        region = found["regions"][0]
        near = lambda one, other: abs(one - other * 3) <= 4  # noqa: E731 three pixels to a point
        assert all(near(region[side], place[side]) for side in ("x", "y", "width", "height")), (region, place)
        assert png_size(self.server.read(found["difference"]["uri"])) == (1170, 2532)
        self.do("launch_app", app=f"{self.address}/home")

    def what_people_do_on_pages(self):
        self.do("tap_element", selector="Buy")
        assert self.text("#state") == "Bought"
        self.do("select_picker_value", selector="Size", value="Large")
        assert self.do("assert_element_property", selector="Size", property="value", equals="Large")["holds"]
        self.server.refuse("device/INVALID_VALUE", "select_picker_value", selector="Size", value="Huge")
        assert self.do("scroll_to", selector="Far below")["swipes"] >= 1
        failed = self.server.refuse("device/NO_SUCH_ELEMENT", "tap_element", selector="Byy", timeout=0.3)
        assert "Buy" in json.dumps(failed.object["nearest"]), failed.object
        self.server.refuse("device/UNSUPPORTED", "find_element", selector="x", strategy="predicate", timeout=0)
        self.server.refuse("device/INVALID_SELECTOR", "find_element", selector="p[", strategy="css", timeout=0)

    def a_dialog_is_told_and_answered(self):
        self.do("tap_element", selector="Ask")
        failed = self.server.refuse("device/ALERT_OPEN", "tap_element", selector="Buy", timeout=1)
        assert failed.object["alert"] == "Really?", failed.object
        assert self.do("handle_alert", action="accept")["alert"] == "Really?"
        assert self.text("#state") == "Yes"

    def addresses_that_are_closed(self):
        for address in ("file:///etc/passwd", "chrome://version", "javascript:alert(1)", "devtools://x", "data:text/html,x"):
            self.server.refuse("device/ADDRESS_DENIED", "launch_app", app=address)

    def a_report_people_can_read(self):
        """The report, opened in the browser: every element is displayed, and no request leaves the machine."""
        report = self.do("get_report", title="Shop")
        page, junit = (self.server.read(report[kind]["uri"]) for kind in ("html", "junit"))
        assert "••••".encode() in page, "the steps are there"
        for secret in (b"guess", b"sesame"):
            assert secret not in page + junit, "no secret_name marked it, but the field hides it"
        self.counter.shown["/report"] = page
        self.do("get_logs")
        self.do("launch_app", app=f"{self.address}/report")
        assert self.do("assert_element_exists", selector="h1", strategy="css")["holds"]
        assert self.text("h1") == "Shop"
        picture = self.do("find_element", selector="details[open] img", strategy="css")["element"]
        assert picture["rect"]["width"] > 100 and picture["rect"]["height"] > 200, "a picture that is there has a size"
        assert "The screen after step" in picture["name"], picture
        wrong = [one for one in self.do("get_logs")["entries"] if "favicon" not in one["message"]]
        assert wrong == [], wrong

    def a_driver_killed_at_work(self):
        """The driver is killed during a tap: the effect is unknown, and the session can be started again."""
        self.do("launch_app", app=f"{self.address}/home")
        driver = next(number for number, name in below(self.server.process.pid).items() if name == "chromedriver")
        browsers = [number for number, name in below(driver).items() if name.startswith("chrom")]
        assert browsers, "there is a browser"
        tap = self.server.begin("tap_element", selector="Stall")
        time.sleep(1.5)  # waits: a busy page tells nobody; should it not be busy yet, the outcome is the same
        os.kill(driver, signal.SIGKILL)
        failed = self.server.finish(tap).refused("device/DRIVER_DIED")
        assert failed.fault["effect"] == "unknown" and failed.fault["origin"] == "upstream", failed.fault
        self.server.refuse("device/SESSION_GONE", "tap_element", selector="Buy", timeout=0)
        deadline = time.monotonic() + 60
        while any(number in below(os.getpid()) for number in browsers):
            assert time.monotonic() < deadline, "its browser is still there"
            time.sleep(0.1)
        self.do("recover_session")
        self.do("launch_app", app=f"{self.address}/home")
        assert self.text("#greeting") == "Hello, ada"

    def a_driver_killed_between_calls(self):
        """The driver is killed between calls: the effect is `none`, and the session can be ended."""
        driver = next(number for number, name in below(self.server.process.pid).items() if name == "chromedriver")
        os.kill(driver, signal.SIGKILL)
        deadline = time.monotonic() + 60
        while driver in below(os.getpid()):
            assert time.monotonic() < deadline, "it is still there"
            time.sleep(0.05)
        failed = self.server.refuse("device/DRIVER_DIED", "tap_element", selector="Buy", timeout=0)
        assert failed.fault["effect"] == "none", failed.fault
        self.do("recover_session")

    def it_ends(self):
        """The browser ends with its session. The driver waits for the next one, and ends with the server."""
        self.do("stop_session")
        deadline = time.monotonic() + 60
        while left := [name for name in below(self.server.process.pid).values() if name.startswith("chrom") and name != "chromedriver"]:
            assert time.monotonic() < deadline, f"still there: {left}"
            time.sleep(0.1)
