"""Callers without credentials cannot push records out of the ledger, and no record is lost without a word."""

import json
import re
import shutil
import socket
import sqlite3
import time

from nodes import one_node
from program import Program, until, upstream

KEY = "alice-key-0123456789abcdef0123456789abcdef"
KEYS = f'[[key]]\nname = "alice"\nkey = "{KEY}"\nroles = ["user"]\n'
AS_ALICE = {"X-API-Key": KEY}
REFUSED = 24_000


def settings(audit="", more=""):
    return f'servers = ["lobby"]\n{more}\n[audit]\n{audit}\n'


def connect(program):
    host, port = program.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def count_answers(wire, needle, wanted):
    """Reads until this many answers have come."""
    count, tail = 0, b""
    while count < wanted:
        chunk = wire.recv(1 << 20)
        assert chunk, f"{count} of {wanted} answers"
        piece = tail + chunk
        count += piece.count(needle)
        tail = piece[-(len(needle) - 1):] if needle not in piece[-(len(needle) - 1):] else b""


def flood_evicts_nothing(binary, folder, flood, reason, refused):
    """Refusals of `flood` are counted, at most 100 are recorded, and the record of a caller stays."""
    with Program(binary, folder, settings("retention = { records = 500 }", KEYS)) as program:
        status, answer = program.send("/v1/tools/echo", {"text": 5}, AS_ALICE)
        assert status == 422, answer
        deed = answer["detail"]["ref"]
        flood(program)
        assert program.send("/v1/tools/echo", {"text": "after"}, AS_ALICE)[0] == 200
        # Once the last record is there, the ledger is complete.
        until("the last record", lambda: [record for record in program.records() if record["outcome"] == "ok"])
        rc, output = program.run("explain", deed)
        assert rc == 0, f"the deed is gone: {output}"
        rc, output = program.run("audit", "verify")
        assert rc == 0, output
        size = (folder / "log").stat().st_size
        assert size < 200_000, f"the log has {size} bytes"
    events = [record["event"] for record in program.records() if record["outcome"] == "event"]
    counted = sum(event["count"] for event in events if event["what"] == "refused")
    sampled = [record for record in program.records() if record.get("reason") == reason]
    assert counted + len(sampled) == refused, (counted, len(sampled))
    assert len(sampled) <= 100, len(sampled)
    assert all(record.get("address") == "127.0.0.1" for record in sampled), sampled[0]


@one_node("each node has a ledger of its own")
def refusals_are_counted_and_evict_nothing(binary, folder):
    def flood(program):
        request = b"GET /v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        with connect(program) as wire:
            for _ in range(REFUSED // 1000):
                wire.sendall(request * 1000)
                count_answers(wire, b"HTTP/1.1 401", 1000)

    flood_evicts_nothing(binary, folder, flood, "policy/UNAUTHENTICATED", REFUSED)


@one_node("each node has a ledger of its own")
def refused_batches_evict_nothing(binary, folder):
    """Each request of a batch is answered, and counted like a single one."""
    batches, ids = 100, 64

    def flood(program):
        body = json.dumps([{"jsonrpc": "2.0", "id": number, "method": "tools/list"} for number in range(ids)]).encode()
        head = b"POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        with connect(program) as wire:
            for _ in range(batches):
                wire.sendall(head % len(body) + body)
                count_answers(wire, b'"policy/UNAUTHENTICATED"', ids)

    flood_evicts_nothing(binary, folder, flood, "policy/UNAUTHENTICATED", batches * ids)


@one_node("each node has a ledger of its own")
def unreadable_heads_evict_nothing(binary, folder):
    refused = 1200

    def flood(program):
        for _ in range(refused):
            with connect(program) as wire:
                wire.sendall(b"GET / HTTP/7.7\r\n\r\n")
                count_answers(wire, b'"http/BAD_HEAD"', 1)

    flood_evicts_nothing(binary, folder, flood, "http/BAD_HEAD", refused)


@one_node("each node has a ledger of its own")
def each_refusal_of_a_caller_is_recorded(binary, folder):
    """An authenticated caller has one record per request under its name, at whatever stage the request ends."""
    json_body = {"Content-Type": "application/json", **AS_ALICE}
    events = {"Accept": "text/event-stream", **AS_ALICE}
    requests = {
        "policy/ROLE": lambda program: program.ask("GET", "/v1/keys", headers=AS_ALICE),
        "http/CONTENT_TYPE": lambda program: program.ask("POST", "/v1/tools/echo", b"{}", {"Content-Type": "text/plain", **AS_ALICE}),
        "rpc/CONTENT_TYPE": lambda program: program.ask("POST", "/rpc", b"{}", {"Content-Type": "text/plain", **AS_ALICE}),
        "http/TOO_LARGE": lambda program: program.ask("POST", "/v1/tools/echo", b" " * 17_000_000, json_body),
        "http/SESSION_LOST": lambda program: program.ask("GET", "/mcp", headers={"Mcp-Session-Id": "gone", **events}),
        "http/BAD_BODY": lambda program: cut_off(program),
    }

    def cut_off(program):
        head = f"POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: {KEY}\r\nContent-Type: application/json\r\n"
        with connect(program) as wire:
            wire.sendall(head.encode() + b"Content-Length: 100\r\n\r\n{}")
            wire.shutdown(socket.SHUT_WR)
            while wire.recv(65536):
                pass

    many = 60
    limits = '[limits]\nerrors = { rate = "100000/s", burst = 100000 }\n'
    with Program(binary, folder, settings(more=KEYS + limits)) as program:
        for request in requests.values():
            request(program)
        for _ in range(many):
            requests["policy/ROLE"](program)
    for reason in requests:
        found = [record for record in program.records() if record.get("reason") == reason]
        assert len(found) == (1 + many if reason == "policy/ROLE" else 1), (reason, len(found))
        assert all(record.get("caller") == "key:alice" and "address" not in record for record in found), found[0]


@one_node("each node has a ledger of its own")
def retention_tells_what_it_removed(binary, folder):
    """`audit verify` names each class with its number and date, and exits with 0."""
    calls, paths = 300, 40
    with Program(binary, folder, settings("retention = { records = 100 }", KEYS)) as program:
        for number in range(calls):
            assert program.send("/v1/tools/echo", {"text": str(number)}, AS_ALICE)[0] == 200
            if number < paths:
                # Two reasons, so that more refusals are recorded than their share of the retention.
                assert program.ask("GET", "/v1/me")[0] == 401 and program.ask("GET", "/nothing")[0] == 404
        # Retention is applied once a minute, first to refusals.
        until = time.monotonic() + 120
        while True:
            rc, output = program.run("audit", "verify")
            removed = dict((kind, int(number)) for number, kind in re.findall(r"^retention removed (\d+) (\w+), up to \d{4}-\d\d-\d\dT", output, re.M))
            if removed.keys() == {"records", "refusals"}:
                break
            assert time.monotonic() < until, output
            # It is removed while records are written.
            assert program.send("/v1/tools/echo", {"text": "more"}, AS_ALICE)[0] == 200
        assert rc == 0 and "all as they were written" in output, output
        assert 0 < removed["refusals"] <= 2 * paths and 0 < removed["records"], output
        assert "older ones were removed" in output, output


def lose(state, how):
    """What can happen to the file of a ledger while the program runs."""
    for file in state.glob("ledger.sqlite*"):
        file.unlink()
    if how == "replaced":
        (state / "ledger.sqlite").touch()


@one_node("each node has a ledger of its own")
def a_lost_ledger_is_a_failure(binary, folder):
    """M6: the file is removed, or an empty one is put in its place."""
    for how in ("removed", "replaced"):
        a_ledger_is_lost(binary, folder / how, how)


def a_ledger_is_lost(binary, folder, how):
    with Program(binary, folder, settings("critical = true")) as program:
        assert program.tool("echo", text="a")[0] == 200
        assert program.ask("GET", "/readyz")[0] == 200
        lose(folder / "state", how)
        status, answer = program.tool("echo", text="b")
        # The call was made before its record failed. Further calls are not made.
        assert (status, answer["detail"]["reason"], answer["detail"]["effect"]) == (503, "audit/FAILED", "unknown"), answer
        status, answer = program.tool("echo", text="c")
        assert (status, answer["detail"]["reason"], answer["detail"]["effect"]) == (503, "audit/FAILED", "none"), answer
        assert program.ask("GET", "/readyz")[0] == 503, "ready is said although nothing is forwarded"
        until = time.monotonic() + 20
        while program.tool("echo", text="c")[0] != 200:
            assert time.monotonic() < until, "it does not recover"
            time.sleep(0.2)
        assert program.ask("GET", "/readyz")[0] == 200
        events = [record["event"]["what"] for record in program.records() if record["outcome"] == "event"]
        assert "file_replaced" in events, events
        assert program.run("audit", "verify")[0] == 0
    log = (folder / "log").read_text()
    assert "removed or replaced" in log and "ledger.sqlite" in log, log


@one_node("each node has a ledger of its own")
def a_run_that_was_killed_is_noted(binary, folder):
    program = Program(binary, folder, settings())
    assert program.tool("echo", text="a")[0] == 200
    until("its record", program.records)
    program.process.kill()
    program.process.wait()
    program.log.close()
    again = Program(binary, folder / "again", settings(more=f'data_dir = "{folder / "state"}"'))
    with again:
        assert again.tool("echo", text="b")[0] == 200
    log = (folder / "again" / "log").read_text()
    assert "was killed" in log, log
    rc, output = again.run("audit", "query", "--json", "--outcome", "event", "--data-dir", str(folder / "state"))
    assert rc == 0 and "unclean_end" in output and str(program.process.pid) in output, output


@one_node("each node has a ledger of its own")
def one_file_after_a_clean_stop(binary, folder):
    with Program(binary, folder, settings(more=upstream("up") + KEYS.replace("user", "admin"))) as program:
        assert program.ask("GET", "/v1/tools", headers=AS_ALICE)[0] == 200
        assert program.upload("a.txt", b"text", headers=AS_ALICE)[0] == 201
        status, answer = program.send("/v1/keys", {"name": "bob", "roles": ["user"]}, AS_ALICE)
        assert status == 201, answer
    names = {path.name for path in (folder / "state").rglob("*.sqlite")}
    assert names == {"ledger.sqlite", "keys.sqlite", "consent.sqlite", "index.sqlite"}, names
    left = sorted(path.name for path in (folder / "state").rglob("*") if path.is_file() and ("-wal" in path.name or "-shm" in path.name or ".run." in path.name))
    assert not left, left
    copy = folder / "copy"
    copy.mkdir()
    shutil.copy(folder / "state" / "ledger.sqlite", copy)
    rc, output = program.run("audit", "verify", "--data-dir", str(copy))
    assert rc == 0 and "record" in output, output


@one_node("each node has a ledger of its own")
def records_that_cannot_be_written_are_counted(binary, folder):
    with Program(binary, folder, settings()) as program:
        assert program.tool("echo", text="a")[0] == 200
        until("its record", program.records)
        other = sqlite3.connect(folder / "state" / "ledger.sqlite", isolation_level=None, timeout=10)
        other.execute("BEGIN IMMEDIATE")
        for _ in range(20):
            assert program.tool("echo", text="b")[0] == 200
        program.process.terminate()
        program.process.wait(60)
        other.execute("ROLLBACK")
        other.close()
    log = (folder / "log").read_text()
    assert "20 records could not be written and are lost" in log, log
    again = Program(binary, folder / "again", settings(more=f'data_dir = "{folder / "state"}"'))
    with again:
        pass
    rc, output = again.run("audit", "query", "--json", "--outcome", "event", "--data-dir", str(folder / "state"))
    assert rc == 0 and '"lost":20' in output.replace(" ", ""), output


@one_node("each node has a ledger of its own")
def an_open_state_folder_is_told(binary, folder):
    state = folder.parent / (folder.name + "-state")
    state.mkdir()
    state.chmod(0o777)
    (folder.parent / "elsewhere.jsonl").touch()
    link = state / "audit.jsonl"
    link.symlink_to(folder.parent / "elsewhere.jsonl")
    with Program(binary, folder, f'data_dir = "{state}"\n' + settings(f'jsonl = "{link}"')):
        pass
    log = (folder / "log").read_text()
    assert "other users can write" in log and "is a link" in log, log


CASES = [
    refusals_are_counted_and_evict_nothing,
    refused_batches_evict_nothing,
    unreadable_heads_evict_nothing,
    each_refusal_of_a_caller_is_recorded,
    retention_tells_what_it_removed,
    a_lost_ledger_is_a_failure,
    a_run_that_was_killed_is_noted,
    one_file_after_a_clean_stop,
    records_that_cannot_be_written_are_counted,
    an_open_state_folder_is_told,
]
