"""The ledgers of several nodes in one PostgreSQL: copying, failures, and detection of tampering."""

import contextlib
import json
import signal
import threading

from node import Node, nodes, until
from postgres import PASSWORD, Postgres


def node(binary, postgres, more="", critical=False, url=None, folder=None):
    config = 'servers = ["lobby"]\n[audit]\n' + ("critical = true\n" if critical else "")
    config += '[audit.postgres]\nurl = "${ARCHIVE}"\ntimeout_s = 3\n' + ("critical = true\n" if critical else "") + more
    return Node(binary, config, folder=folder, environment={"ARCHIVE": url or postgres.url()})


def copied(postgres, count=0, name=None):
    where = f" WHERE node = '{name}'" if name else ""
    return int(postgres.sql(f"SELECT count(*) FROM failwell_record{where}")[0][0]) >= count


def caught_up(node, postgres):
    """Checks that every record of the node's ledger is there, byte for byte."""
    def same():
        name = name_of(node, postgres)
        if not name:
            return None
        ours = [(record["seq"], record["hash"]) for record in node.records("--limit", "1000000")]
        theirs = [(int(seq), hash) for seq, hash in postgres.sql(
            f"SELECT seq, encode(hash, 'hex') FROM failwell_record WHERE node = '{name}' ORDER BY seq")]
        # Records that the ledger has removed since are still there.
        return ours == theirs[-len(ours):] and ours

    return until("everything is copied", same)


def name_of(node, postgres):
    """The name of the node whose first record is that of this ledger."""
    kept = node.records("--limit", "1000000")
    if not kept or postgres.sql("SELECT to_regclass('failwell_record') IS NULL") == [["t"]]:
        return None
    first = kept[0]
    found = postgres.sql(f"SELECT node FROM failwell_record WHERE seq = {first['seq']} AND encode(hash, 'hex') = '{first['hash']}'")
    return found[0][0] if found else None


def two_nodes(binary):
    """Two nodes at once: each has its own chain, both are queried together and verified separately, and no output has the password."""
    with Postgres() as postgres:
        one, two = node(binary, postgres), node(binary, postgres)
        with nodes(one, two):
            for number in range(20):
                one.call("echo", {"text": f"one {number}"})
                two.call("echo", {"text": f"two {number}"})
            _, answer = two.call("fail", {"reason": "gateway/UPSTREAM_TIMEOUT"})
            reference = answer["error"]["data"]["ref"] if "error" in answer else answer["result"]["_meta"]["dev.failwell/fault"]["ref"]
            caught_up(one, postgres), caught_up(two, postgres)
            names = {name_of(one, postgres), name_of(two, postgres)}
            assert len(names) == 2
            # Both nodes can query by their configuration, and any machine by the address.
            found = one.records("--postgres", "--tool", "echo")
            assert len(found) == 40 and {record["node"] for record in found} == names, found
            assert [record["timestamp"] for record in found] == sorted(record["timestamp"] for record in found)
            alone = one.records("--postgres", postgres.url(), "--node", sorted(names)[0][:6], "--limit", "5")
            assert len(alone) == 5 and {record["node"] for record in alone} == {sorted(names)[0]}
            story = one.run("explain", reference, "--postgres").stdout
            assert "gateway/UPSTREAM_TIMEOUT" in story and f"node {name_of(two, postgres)}" in story, story
            assert len(one.run("audit", "tail", "--postgres", "-n", "7").stdout.splitlines()) == 7
            sheet = one.run("audit", "export", "--postgres", "--format", "csv").stdout.splitlines()
            assert sheet[0].endswith(",node") and len(sheet) == 1 + int(postgres.sql("SELECT count(*) FROM failwell_record")[0][0])
            verdict = json.loads(one.run("audit", "verify", "--postgres", "--json").stdout)
            assert verdict["ok"] and {chain["node"] for chain in verdict["nodes"]} == names, verdict
            text = one.run("audit", "verify", "--postgres").stdout
            assert text.count("all as they were written") == 2, text
            numbers = one.metrics()
            assert numbers['failwell_export_up{to="postgres"}'] == 1 and numbers['failwell_export_sent_total{to="postgres"}'] >= 20
            for text in (one.output(), two.output(), story, json.dumps(numbers), one.run("check", "--json").stdout):
                assert PASSWORD not in text, text


def killed(binary):
    """A node killed while it writes, and killed again while it catches up: nothing twice, nothing missing."""
    with Postgres() as postgres:
        one = node(binary, postgres, "batch = 7\n")
        for _ in range(3):
            with nodes(one):
                stop = threading.Event()

                def load():
                    while not stop.is_set():
                        with contextlib.suppress(Exception):
                            one.call("echo", {"text": "x" * 200})

                threads = [threading.Thread(target=load) for _ in range(4)]
                [thread.start() for thread in threads]
                before = one.metrics()["failwell_ledger_records_total"]
                until("some are written", lambda: one.metrics()["failwell_ledger_records_total"] > before + 100)
                one.stop(signal.SIGKILL)
                stop.set()
                [thread.join() for thread in threads]
        with nodes(one):
            kept = caught_up(one, postgres)
            assert len(kept) > 300
            assert one.run("audit", "verify", "--postgres").stdout.count("all as they were written") == 1


def outage(binary):
    """The server stops and comes back: no call waits, the log says so, and every record arrives in the end."""
    with Postgres() as postgres:
        one = node(binary, postgres)
        with nodes(one):
            one.call("echo", {"text": "before"})
            caught_up(one, postgres)
            postgres.stop()
            for _ in range(50):
                assert one.call("echo", {"text": "meanwhile"})[0] == 200
            until("it is told", lambda: "the export does not work; it is retried" in one.output())
            until("counted", lambda: one.metrics()['failwell_export_up{to="postgres"}'] == 0)
            assert one.metrics()['failwell_export_failures_total{to="postgres"}'] >= 1
            gone = one.run("audit", "query", "--postgres", ok=False)
            assert gone.returncode == 1 and "PostgreSQL cannot be reached" in gone.stderr, gone.stderr
            one.stop()
        with nodes(one):  # and a new start meanwhile
            one.call("echo", {"text": "after a new start"})
            until("it is told", lambda: "PostgreSQL cannot be reached" in one.output())
            postgres.start()
            assert len(caught_up(one, postgres)) >= 52
            until("told again", lambda: "the export works again" in one.output())
            numbers = one.metrics()
            assert numbers['failwell_export_dropped_total{to="postgres"}'] == 0
            until("nothing waits", lambda: one.metrics()['failwell_export_waiting{to="postgres"}'] == 0)


def turned_away(binary):
    """A wrong password, no such database, a user who may not write, a database that is read-only: each by its name."""
    with Postgres() as postgres:
        postgres.sql("CREATE USER reader PASSWORD 'only-looking-4711'", "CREATE DATABASE still", "ALTER DATABASE still SET default_transaction_read_only = on")
        first = node(binary, postgres)
        with nodes(first):
            first.call("echo", {"text": "x"})
            caught_up(first, postgres)
        postgres.sql("GRANT SELECT ON failwell_record, failwell_node TO reader")
        for url, why in (
            (postgres.url(password="wrong-4711"), "PostgreSQL does not take the password"),
            (postgres.url(database="nowhere"), "the database does not exist"),
            (postgres.url("reader", "only-looking-4711"), "the user may not do this with the tables"),
            (postgres.url(database="still"), "the database is read-only"),
        ):
            turned = node(binary, postgres, url=url)
            with nodes(turned):
                assert turned.call("echo", {"text": "x"})[0] == 200
                until(why, lambda: why in turned.output())
                lines = [json.loads(line) for line in turned.lines if why in line]
                assert lines[0]["reason"] == "audit/NOT_CARRIED" and lines[0]["service"] == "postgres", lines
                assert "4711" not in turned.output(), turned.output()
        # A read-only user can query.
        looked = first.run("audit", "verify", "--postgres", postgres.url("reader", "only-looking-4711"))
        assert "all as they were written" in looked.stdout


def critical(binary):
    """Where PostgreSQL is critical, no answer leaves without it, and nothing is forwarded while it is away."""
    with Postgres() as postgres:
        one = node(binary, postgres, critical=True)
        with nodes(one):
            for _ in range(10):
                status, answer = one.call("echo", {"text": "x"})
                assert status == 200 and "result" in answer, answer
                # The record was there before the response was sent.
            assert copied(postgres, 10)
            postgres.stop()

            def refused():
                _, answer = one.call("echo", {"text": "x"})
                return answer.get("error")

            error = until("a refusal", refused)
            assert error["data"]["reason"] == "audit/FAILED" and error["code"] == 1503, error
            error = until("nothing is forwarded", lambda: (refused() or {}).get("data", {}).get("effect") == "none")
            reasons = until("why", lambda: [line for line in one.lines if "PostgreSQL does not have the record" in line])
            assert reasons
            postgres.start()
            until("it works again", lambda: "result" in one.call("echo", {"text": "x"})[1])
            caught_up(one, postgres)


def tampering(binary):
    """An edited, removed, truncated or forged record and an invented node are detected, and so is a replaced chain."""
    with Postgres() as postgres:
        one = node(binary, postgres)
        with nodes(one):
            for number in range(12):
                one.call("echo", {"text": f"{number}"})
            caught_up(one, postgres)
        name = name_of(one, postgres)
        postgres.sql("CREATE TABLE kept_record AS TABLE failwell_record", "CREATE TABLE kept_node AS TABLE failwell_node")
        for change, found in (
            ("UPDATE failwell_record SET body = replace(body, 'anonymous', 'key:boss') WHERE seq = 3", f"node {name}: record 3 (ref "),
            ("DELETE FROM failwell_record WHERE seq = 5", f"node {name}: record 5: it is missing"),
            ("DELETE FROM failwell_record WHERE seq <= 4", f"node {name}: record 1: records 1 to 4 are missing"),
            ("DELETE FROM failwell_record WHERE seq >= 11", f"node {name}: record 11: the end is missing"),
            ("UPDATE failwell_record SET at = at + 5000 WHERE seq = 2", "its columns do not match its record"),
            ("INSERT INTO failwell_record SELECT 'forged', seq, at, ref, hash, body FROM failwell_record", "node forged: record "),
        ):
            postgres.sql(change)
            done = one.run("audit", "verify", "--postgres", ok=False)
            assert done.returncode == 1 and found in done.stdout and "the ledger was changed" in done.stderr, (change, done.stdout, done.stderr)
            postgres.sql("TRUNCATE failwell_record, failwell_node", "INSERT INTO failwell_record SELECT * FROM kept_record", "INSERT INTO failwell_node SELECT * FROM kept_node")
        assert "all as they were written" in one.run("audit", "verify", "--postgres").stdout
        # The node reports that the stored end of its chain was changed.
        postgres.sql("UPDATE failwell_node SET hash = decode(repeat('ab', 32), 'hex')")
        with nodes(one):
            until("it is told", lambda: "is not what its ledger has" in one.output())


def removed_first(binary):
    """Records that the ledger removed before they were copied are a reported gap; the others still verify."""
    with Postgres() as postgres:
        postgres.stop()
        one = node(binary, postgres, "[audit.retention]\nrecords = 1000\ndays = 0\n")
        with nodes(one):
            for _ in range(600):
                one.send("/rpc", [{"jsonrpc": "2.0", "id": n, "method": "echo", "params": {"text": "x"}} for n in range(40)])
            until("old ones go", lambda: one.records("--limit", "1000000")[0]["seq"] > 1, patience=120)
            postgres.start()
            caught_up(one, postgres)
            until("it is counted", lambda: one.metrics()['failwell_export_dropped_total{to="postgres"}'] > 0)
            text = one.run("audit", "verify", "--postgres").stdout
            assert "were removed for their age before they were copied" in text and "all as they were written" in text, text


CASES = [two_nodes, killed, outage, turned_away, critical, tampering, removed_first]
