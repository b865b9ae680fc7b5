"""The results that every Python client must get from the conformance fixture."""

import argparse
import json
import sys

LIMIT = 90  # seconds for one client's whole visit
ANSWERS = {"username": "testuser", "email": "test@example.com", "name": "Alice"}
TEXT = {
    "simple_text": "This is a simple text response for testing.",
    "resource": "This is the content of the static text resource.",
    "prompt": "This is a simple prompt for testing.",
    "prompt_arguments": "Prompt with arguments: arg1='hello', arg2='world'",
}
VERSION = {"session": "2025-11-25", "modern": "2026-07-28", "auto": "2026-07-28"}


def arguments():
    parser = argparse.ArgumentParser()
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--url")
    where.add_argument("--stdio", nargs=argparse.REMAINDER)
    parser.add_argument("--era", choices=sorted(VERSION), required=True)
    parser.add_argument("--list", action="store_true", help="list the tools and end")
    # --stdio takes the rest of the line, so the others come first
    return parser.parse_args()


def form(schema):
    """Answers an elicitation form from the fixed answers."""
    return {name: ANSWERS[name] for name in schema["properties"]}


class Visit:
    """Collects the results of a client and the mismatches."""

    def __init__(self):
        self.seen = {}
        self.wrong = []

    def check(self, name, found, expected):
        self.seen[name] = found
        if found != expected:
            self.wrong.append(f"{name}: expected {expected!r}, found {found!r}")

    def contains(self, name, found, parts):
        """For lists of names: the fixture may offer more than these."""
        self.seen[name] = len(found)
        self.wrong += [f"{name}: {part!r} is missing" for part in parts if part not in found]

    def holds(self, name, found, part):
        """For texts whose exact wording is the server's own."""
        self.seen[name] = found
        if part not in found:
            self.wrong.append(f"{name}: {part!r} is not in {found!r}")

    def end(self, client):
        print(json.dumps({"client": client, "ok": not self.wrong, "wrong": self.wrong, "seen": self.seen}))
        sys.exit(1 if self.wrong else 0)
