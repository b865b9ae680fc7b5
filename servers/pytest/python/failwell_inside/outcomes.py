"""From the reports of setup, call and teardown to one event per test."""

from .text import LONGEST_MESSAGE, LONGEST_PATH, LONGEST_SECTION, cut, text_of


class Tests:
    """Turns reports into one event per test."""

    def __init__(self, pipe):
        self.pipe = pipe
        self.open = {}
        self.may_wait = False
        self.single = False
        self.smooth = None  # a test of which nothing but good is known so far: id, duration, whether it was called

    def take(self, report):
        if self.single and report.outcome == "passed" and self.glide(report):
            return
        if self.smooth is not None:
            name, duration, called = self.smooth
            self.smooth = None
            self.open[name, None] = {"e": "test", "id": name, "o": "passed" if called else None, "d": duration}
        key = (report.nodeid, getattr(getattr(report, "node", None), "gateway", None) and report.node.gateway.id)
        test = self.open.get(key)
        if test is None:
            test = self.open[key] = {"e": "test", "id": report.nodeid, "o": None, "d": 0.0}
        if type(report).__name__ in ("SubtestReport", "SubTestReport"):
            self.subtest(test, report)
            return
        if report.outcome == "rerun":
            test["rerun"] = True
            return
        test["d"] += getattr(report, "duration", 0.0) or 0.0
        self.phase(test, report)
        if report.when in ("teardown", "???"):
            self.close(key)

    def glide(self, report):
        """The way of most tests: setup, call and teardown pass, and there is nothing to tell but that."""
        if report.__class__.__name__ != "TestReport" or hasattr(report, "wasxfail"):
            return False
        if report.when == "setup":
            if self.smooth is None and not self.open:
                self.smooth = (report.nodeid, report.duration, False)
                return True
            return False
        if self.smooth is None or self.smooth[0] != report.nodeid:
            return False
        duration = self.smooth[1] + report.duration
        if report.when == "call":
            self.smooth = (report.nodeid, duration, True)
            return True
        if not (report.when == "teardown" and self.smooth[2] and self.may_wait):
            return False
        self.smooth = None
        self.pipe.passed(report.nodeid, duration)
        return True

    def subtest(self, test, report):
        test["subtests"] = test.get("subtests", 0) + 1
        if report.failed:
            test["subfailed"] = test.get("subfailed", 0) + 1
            if "sub" not in test:
                test["sub"] = self.account(report)

    def phase(self, test, report):
        if report.failed:
            if test["o"] in ("failed", "error"):
                test["also"] = text_of(report.longreprtext, LONGEST_SECTION)
                return
            test["o"] = "failed" if report.when in ("call", "???") else "error"
            test["phase"] = report.when if report.when != "???" else "call"
            test.update(self.account(report))
        elif report.skipped:
            expected = hasattr(report, "wasxfail")
            test["o"] = "xfailed" if expected else "skipped"
            test["msg"] = text_of(report.wasxfail, LONGEST_MESSAGE) if expected else reason_of(report)
        elif report.when == "call":
            test["o"] = "xpassed" if hasattr(report, "wasxfail") else "passed"

    def account(self, report):
        """What failed, where, and what it printed."""
        details = {"tb": text_of(report.longreprtext)}
        crash = getattr(report.longrepr, "reprcrash", None)
        if crash is not None:
            details["msg"] = text_of(crash.message, LONGEST_MESSAGE)
            details["path"] = text_of(crash.path, LONGEST_PATH)
            details["line"] = crash.lineno
        else:
            lines = [line for line in details["tb"].splitlines() if line.strip()]
            details["msg"] = cut(lines[-1], LONGEST_MESSAGE) if lines else ""
        sections = [(name, cut(content, LONGEST_SECTION)) for name, content in report.sections if content]
        if sections:
            details["sections"] = sections[:6]
        return details

    def close(self, key):
        test = self.open.pop(key)
        if test.pop("rerun", False) and test["o"] is None:
            return
        sub = test.pop("sub", None)
        if sub is not None and test["o"] not in ("failed", "error"):
            test.update(sub, o="failed", phase="call")
        elif sub is not None:
            test["also"] = sub["tb"][:LONGEST_SECTION]
        if test["o"] is None:
            test["o"] = "passed"
        if len(test) == 4 and test["o"] == "passed" and self.may_wait:
            self.pipe.passed(test["id"], test["d"])
            return
        test["d"] = round(test["d"], 6)
        self.pipe.tell(**test)

    def is_open_in(self, gateway):
        """Whether a test of this process of pytest-xdist has begun and not ended."""
        return any(place == gateway for _, place in self.open)

    def close_all(self):
        self.smooth = None
        for key, test in list(self.open.items()):
            if test["o"] is not None:
                self.close(key)


def reason_of(report):
    longrepr = report.longrepr
    text = text_of(longrepr[2] if isinstance(longrepr, tuple) and len(longrepr) == 3 else longrepr, LONGEST_MESSAGE)
    return text[9:] if text.startswith("Skipped: ") else text
