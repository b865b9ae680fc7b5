"""A guard that does whatever the message tells it to."""

import json
import os
import sys
import time

LOG = os.environ.get("ODD_LOG")
if LOG:
    with open(LOG, "a") as log:
        log.write(f"{os.getpid()} {sorted(os.environ)}\n")

print("the guard is here", file=sys.stderr, flush=True)
waiting = []
for line in sys.stdin:
    question = json.loads(line)
    text = json.dumps(question["message"])
    answer = {"id": question["id"], "verdict": "allow"}
    if "odd:crash" in text:
        print("last words of the guard", file=sys.stderr, flush=True)
        os._exit(3)
    elif "odd:slow" in text:
        time.sleep(60)  # waits: longer than the deadline of any guard
    elif "odd:silent" in text:
        continue
    elif "odd:nonsense" in text:
        answer = {"id": question["id"], "verdict": "perhaps"}
    elif "odd:both" in text:
        answer = {"id": question["id"], "verdict": "allow", "strings": ["odd"]}
    elif "odd:oversize" in text:
        answer = {"id": question["id"], "verdict": "deny", "message": "x" * 100_000}
    elif "odd:wrong-id" in text:
        answer = {"id": question["id"] + 1_000_000, "verdict": "allow"}
    elif "odd:babble" in text:
        for number in range(5_000):
            print(f"line {number} is no verdict")
        sys.stdout.flush()
        continue
    elif "odd:shout" in text:
        print("x" * 5_000_000, file=sys.stderr, flush=True)
    elif "odd:noise" in text:
        print("this is no verdict", flush=True)
    elif "odd:overlap" in text:
        answer = {"id": question["id"], "verdict": "redact", "category": "words", "strings": ["abcd", "cdef"]}
    elif "odd:nowhere" in text:
        answer = {"id": question["id"], "verdict": "redact", "strings": ["this is nowhere"]}
    elif "odd:deny" in text:
        answer = {"id": question["id"], "verdict": "deny", "category": "odd_thing", "message": "WORDS-FOR-THE-OPERATOR"}
    elif "odd:later" in text:
        waiting.append(answer)
        if len(waiting) < 3:
            continue
        for answer in reversed(waiting[1:]):
            print(json.dumps(answer), flush=True)
        answer = waiting[0]
    print(json.dumps(answer), flush=True)
