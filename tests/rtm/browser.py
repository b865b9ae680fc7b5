"""The approval page in a real browser: Chromium without a window, driven over WebDriver."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

START_LIMIT, CALL_LIMIT, PAGE_LIMIT, STOP_LIMIT = 60, 60, 30, 10  # seconds
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the name WebDriver gives to a reference to an element
TAB, ENTER = "\ue004", "\ue007"


class Browser:
    def __init__(self, driver, session):
        self.at, self.driver = f"{driver}/session/{session}", driver

    def ask(self, path, body=None):
        return ask(f"{self.at}/{path}", body)

    def go(self, url):
        self.ask("url", {"url": url})

    def script(self, text):
        return self.ask("execute/sync", {"script": text, "args": []})

    def find(self, selector):
        found = self.ask("elements", {"using": "css selector", "value": selector})
        return [one[ELEMENT] for one in found]

    def one(self, selector):
        """The only matching element, once the requested page is loaded."""
        deadline = time.monotonic() + PAGE_LIMIT
        while len(found := self.find(selector)) != 1:
            assert time.monotonic() < deadline, f"{len(found)} of {selector} on {self.ask('title')}"
            time.sleep(0.05)
        return found[0]

    def text(self, selector):
        """The text of an element. If the page is replaced meanwhile, that of the next page."""
        deadline = time.monotonic() + PAGE_LIMIT
        while True:
            try:
                return self.ask(f"element/{self.one(selector)}/text")
            except Exception as error:
                if "stale element" not in str(error) or time.monotonic() > deadline:
                    raise

    def click(self, selector):
        self.ask(f"element/{self.one(selector)}/click", {})

    def follow(self, selector):
        """Clicks a link to another page, and waits until this page is gone."""
        element = self.one(selector)
        self.ask(f"element/{element}/click", {})
        self.leave(element)

    def leave(self, element):
        """Waits until the page this belongs to is gone."""
        deadline = time.monotonic() + PAGE_LIMIT
        while self.is_there(element):
            assert time.monotonic() < deadline, "the page stays"
            time.sleep(0.02)

    def is_there(self, element):
        try:
            self.ask(f"element/{element}/name")
            return True
        except Exception as error:
            # The last one is the error of chromedriver for a page that is being closed.
            gone = ("stale element", "no such", "does not belong to the document")
            if any(words in str(error) for words in gone):
                return False
            raise

    def until(self, script, wanted):
        """Waits until a script returns this value."""
        deadline = time.monotonic() + PAGE_LIMIT
        while (found := self.script(script)) != wanted:
            assert time.monotonic() < deadline, f"{script}: {found!r}, not {wanted!r}"
            time.sleep(0.02)

    def press(self, *keys):
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("actions", {"actions": [{"type": "key", "id": "keyboard", "actions": steps}]})


def ask(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=CALL_LIMIT) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{url}: {error.read()[:1000]!r}") from error


@contextlib.contextmanager
def browsing():
    """Yields a browser that can reach only this machine, and stops it afterwards."""
    programs = [shutil.which(program) for program in ("chromium", "chromedriver")]
    if None in programs:
        sys.exit("error: chromium and chromedriver are not installed\nhelp: run ./x test tasks, which installs them")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [programs[1], "--port=0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "TMPDIR": profile},  # what they leave behind is gone with it
        )
        watch = threading.Timer(START_LIMIT, process.kill)
        watch.start()
        try:
            ready = next((found for line in process.stdout if (found := re.search(r"started successfully on port (\d+)", line))), None)
            if ready is None:
                sys.exit("error: chromedriver did not start")
            watch.cancel()
            driver = f"http://127.0.0.1:{ready.group(1)}"
            session = ask(f"{driver}/session", {"capabilities": {"alwaysMatch": capabilities(programs[0], profile)}})
            browser = Browser(driver, session["sessionId"])
            try:
                yield browser
            finally:
                request = urllib.request.Request(browser.at, method="DELETE")
                urllib.request.urlopen(request, timeout=CALL_LIMIT).close()
        finally:
            watch.cancel()
            process.terminate()
            try:
                process.wait(STOP_LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def capabilities(binary, profile):
    arguments = [
        "--headless=new",
        "--no-sandbox",  # Chromium refuses its own sandbox to root, whom containers run as
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        f"--user-data-dir={profile}",
    ]
    return {"browserName": "chrome", "goog:chromeOptions": {"binary": binary, "args": arguments}}


def frob(emulator):
    return emulator.call("rtm.auth.getFrob")["frob"]


def allow_by_mouse(browser, emulator):
    asked = frob(emulator)
    browser.go(emulator.link(asked, "write"))
    assert browser.text("h1") == "Allow access?", browser.text("h1")
    assert browser.text("#permission") == "write"
    assert emulator.call("rtm.auth.getToken", frob=asked)["err"]["code"] == "101", "looking is not allowing"
    browser.follow("button[value=allow]")
    assert browser.text("[role=status]").startswith("You can close this page")
    given = emulator.call("rtm.auth.getToken", frob=asked)
    assert given["auth"]["perms"] == "write", given
    token = given["auth"]["token"]
    assert emulator.call("rtm.auth.checkToken", auth_token=token)["stat"] == "ok"
    assert emulator.call("rtm.lists.getList", auth_token=token)["stat"] == "ok"


def allow_by_keyboard(browser, emulator):
    asked = frob(emulator)
    browser.go(emulator.link(asked, "delete"))
    # A key press before the first paint of the page is lost.
    browser.ask("execute/async", {"script": "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))", "args": []})
    browser.press(TAB)
    browser.until("return document.activeElement.textContent", "Allow")
    browser.press(TAB)
    browser.until("return document.activeElement.textContent", "Deny")
    browser.click("h1")
    page = browser.one("h1")
    browser.press(TAB, ENTER)
    browser.leave(page)
    browser.one("[role=status]")
    assert emulator.call("rtm.auth.getToken", frob=asked)["auth"]["perms"] == "delete"


def deny(browser, emulator):
    asked = frob(emulator)
    browser.go(emulator.link(asked, "read"))
    browser.follow("button[value=deny]")
    assert browser.text("h1") == "Application denied", browser.text("h1")
    assert emulator.call("rtm.auth.getToken", frob=asked)["err"]["code"] == "101"
    browser.ask("back", {})
    browser.follow("button[value=allow]")
    assert "already answered" in browser.text("[role=alert]"), "no is no"
    assert emulator.call("rtm.auth.getToken", frob=asked)["err"]["code"] == "101"


def forged(browser, emulator):
    asked = frob(emulator)
    browser.go(emulator.link(asked, "read").replace("perms=read", "perms=delete"))
    assert "signature" in browser.text("[role=alert]")
    assert browser.find("button") == [], "there is nothing to click"
    browser.go(emulator.link("<img src=x onerror=document.title='pwned'>", "read"))
    assert "no longer valid" in browser.text("[role=alert]")
    assert browser.script("return document.images.length") == 0


def accessible_and_alone(browser, emulator):
    browser.go(emulator.link(frob(emulator), "delete"))
    assert browser.script("return document.documentElement.lang") == "en"
    assert len(browser.find("h1")) == 1 and len(browser.find("main")) == 1
    assert "Allow access?" in browser.ask("title")
    for value, label in (("allow", "Allow"), ("deny", "Deny")):
        button = browser.one(f"button[value={value}]")
        assert browser.ask(f"element/{button}/computedrole") == "button"
        assert browser.ask(f"element/{button}/computedlabel") == label
    loaded = browser.script("return performance.getEntriesByType('resource').map(one => one.name)")
    foreign = [name for name in loaded if not name.startswith(emulator.base)]
    assert foreign == [], f"comes from elsewhere: {foreign}"
    assert browser.script("return document.scripts.length") == 0, "it works without scripts"


FLOWS = [allow_by_mouse, allow_by_keyboard, deny, forged, accessible_and_alone]


def checks(emulator):
    """Yields each flow with its failure, if any."""
    with browsing() as browser:
        for flow in FLOWS:
            try:
                flow(browser, emulator)
            except AssertionError as error:
                yield flow.__name__, f"{error or 'an assertion does not hold'} (line {line_of(error)})"
            else:
                yield flow.__name__, None


def line_of(error):
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return trace.tb_lineno
