"""On stdio every request with a readable id is answered, and nothing is buffered without bound."""

import collections
import json
import os
import pathlib
import threading
import time

from nodes import one_node
from program import Stdio, until


def rss(process):
    return int(pathlib.Path(f"/proc/{process.pid}/status").read_text().split("VmRSS:")[1].split()[0])


@one_node("standard input belongs to one process")
def every_readable_id_is_answered(binary, home):
    """D5: 30 requests without `jsonrpc`, 15 with a duplicate key; all are answered, and a proper one after them."""
    with Stdio(binary, home, 'servers = ["lobby"]\n') as client:
        client.begin()
        lines = ['{"id":%d,"method":"ping"}' % n for n in range(500, 530)]
        lines += ['{"jsonrpc":"2.0","id":"d%d","method":"ping","method":"ping"}' % n for n in range(15)]
        for line in lines:
            client.write(line)
        answers = [client.hear(20) for _ in lines]
        ids = collections.Counter(str(answer["id"]) for answer in answers)
        assert ids == collections.Counter([str(n) for n in range(500, 530)] + [f"d{n}" for n in range(15)]), ids
        codes = collections.Counter(answer["error"]["code"] for answer in answers)
        assert set(codes) <= {-32600, 1429}, codes
        client.send(id="after", method="ping")
        assert client.hear(10) == {"jsonrpc": "2.0", "id": "after", "result": {}}


@one_node("standard input belongs to one process")
def unreadable_lines_are_not_answered_without_end(binary, home):
    """Lines without an id: ten answers, then silence and one line in the log. Requests are answered as before."""
    with Stdio(binary, home, 'servers = ["lobby"]\n') as client:
        client.begin()
        for _ in range(100):
            client.write("{nope")
        client.send(id=1, method="ping")
        answers = []
        while not answers or answers[-1].get("id") != 1:
            answers.append(client.hear(20))
        assert len(answers) == 11, answers
        # Another thread writes the log, so wait for it.
        until("the warning", lambda: "too many unreadable lines" in client.log())
        assert client.log().count("too many unreadable lines") == 1, client.log()


@one_node("standard input belongs to one process")
def output_that_is_not_read_stops_the_input(binary, home):
    """L16: a client that sends requests and never reads; the program stops reading, and does not grow."""
    with Stdio(binary, home, 'servers = ["lobby"]\n', listening=False) as client:
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": {"name": "echo", "arguments": {"text": "x" * 1000}}}).encode() + b"\n"
        sent = 0

        def flood():
            nonlocal sent
            try:
                while True:
                    sent += os.write(client.process.stdin.fileno(), line * 50)
            except OSError:
                pass

        threading.Thread(target=flood, daemon=True).start()

        def is_full():
            before = sent
            time.sleep(0.2)
            return sent == before > 0

        until("the input is full", is_full)
        before, began = rss(client.process), sent
        time.sleep(3)  # waits: while nobody reads the answers, the input stays full
        assert sent - began < 3_000_000, f"{sent - began} bytes were read although nobody reads the answers"
        assert rss(client.process) < before + 40_000, f"it grew from {before} to {rss(client.process)} kB"


CASES = [every_readable_id_is_answered, unreadable_lines_are_not_answered_without_end, output_that_is_not_read_stops_the_input]
