"""Takes the numbers of staff (EMP-12345) out of every message, and says no to requests that ask for salaries.

One question a line comes in, one verdict a line goes out, under the same id. What is printed to standard error is kept for
the operator.
"""

import json
import re
import sys

STAFF = re.compile(r"EMP-[0-9]{5}")
SALARY = re.compile(r"salar(y|ies)", re.IGNORECASE)


def texts(value):
    """Every text in a message, names of members included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from texts(item)


def judge(question):
    found = {match for text in texts(question["message"]) for match in STAFF.findall(text)}
    asks = any(SALARY.search(text) for text in texts(question["message"]))
    if question["direction"] == "request" and asks:
        return {"verdict": "deny", "category": "salary", "message": "a request that asks for salaries"}
    if found:
        return {"verdict": "redact", "category": "staff_number", "strings": sorted(found)}
    return {"verdict": "allow"}


for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps({"id": question["id"], **judge(question)}), flush=True)
