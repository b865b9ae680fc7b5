"""Stored files belong to the caller who stored them, and an approver sees everything that is approved."""

import base64
import json

from nodes import one_node
from program import Program, upstream

NAMES = {"alice": "user", "bob": "user", "root": "admin"}
KEYS = "".join(f'[[key]]\nname = "{name}"\nkey = "{name}-key-0123456789abcdef0123456789abcdef"\nroles = ["{role}"]\n' for name, role in NAMES.items())


def by(name):
    return {"X-API-Key": f"{name}-key-0123456789abcdef0123456789abcdef"}


def listed(program, name):
    status, answer = program.ask("GET", "/v1/resources", headers=by(name))
    assert status == 200, answer
    return [item["uri"] for item in answer["resources"]]


@one_node("a stored file is on the node that took it")
def files_of_others_are_unknown(binary, folder):
    with Program(binary, folder, f'servers = ["lobby"]\n{KEYS}') as program:
        status, answer = program.upload("diary.txt", b"dear diary", headers=by("alice"))
        assert status == 201, answer
        uri = answer["uri"]
        path = f"/v1/resources/{uri}"
        assert (listed(program, "alice"), listed(program, "bob"), listed(program, "root")) == ([uri], [], [uri])
        unknown = program.ask("GET", path.replace(uri[30:40], "0" * 10), headers=by("bob"))
        for verb, place, body in (("GET", path, None), ("PATCH", path + "/metadata", b'{"mine": true}'), ("DELETE", path, None)):
            headers = {**by("bob"), **({"Content-Type": "application/json"} if body else {})}
            status, answer = program.ask(verb, place, body, headers)
            assert (status, answer["detail"]["reason"]) == (404, "mcp/UNKNOWN_RESOURCE"), (verb, answer)
            assert status == unknown[0] and answer["error_code"] == unknown[1]["error_code"], (verb, answer, unknown)
        body = {"jsonrpc": "2.0", "id": 1, "method": "read_resource", "params": {"uri": uri}}
        assert program.send("/rpc", body, by("bob"))[1]["error"]["code"] == -32800
        assert "dear diary" in json.dumps(program.send("/rpc", body, by("alice"))[1])
        assert program.ask("GET", path, headers=by("root"))[1] == b"dear diary"

        # The same bytes of two callers are two files.
        assert program.upload("diary.txt", b"dear diary", headers=by("bob"))[0] == 201
        assert program.ask("DELETE", path, headers=by("bob"))[0] == 204
        assert program.ask("GET", path, headers=by("alice"))[1] == b"dear diary"


@one_node("a stored file is on the node that took it")
def a_caller_cannot_use_up_the_places_of_all(binary, folder):
    with Program(binary, folder, f'servers = ["lobby"]\n{KEYS}[shelf]\nmax_items_per_caller = 2\n') as program:
        assert program.upload("a.txt", b"a", headers=by("alice"))[0] == 201
        assert program.upload("b.txt", b"b", headers=by("alice"))[0] == 201
        status, answer = program.upload("c.txt", b"c", headers=by("alice"))
        assert (status, answer["detail"]["reason"]) == (413, "shelf/SHARE_CROWDED"), answer
        assert program.upload("c.txt", b"c", headers=by("bob"))[0] == 201


@one_node("a stored file is on the node that took it")
def a_role_can_use_all_files(binary, folder):
    with Program(binary, folder, f'servers = ["lobby"]\n{KEYS}[shelf]\nall_files = ["user"]\n') as program:
        assert program.upload("a.txt", b"a", headers=by("alice"))[0] == 201
        assert len(listed(program, "bob")) == 1


def an_approver_sees_what_is_approved(binary, folder):
    token = "ghp_" + "A1b2C3d4E5" * 3 + "F6g7H8"
    hidden = base64.b64encode(f"rm -rf /srv # {token}".encode()).decode()
    settings = upstream("up") + '[tools.up]\napprove = ["*"]\n[guard.secrets]\naction = "audit_only"\n'
    with Program(binary, folder, settings) as program:
        status, answer = program.tool("up__succeed", text=f"run {hidden} now")
        assert answer["detail"]["reason"] == "policy/APPROVAL_NEEDED", answer
        status, details = program.ask("GET", f"/v1/approvals/{answer['detail']['facts']['approval']}")
        shown = json.dumps(details)
        assert "rm -rf /srv" in shown, shown
        assert token not in shown and hidden not in shown, shown
        assert "40 bytes, sha256 " in shown, shown
        key = "-----BEGIN PRIVATE KEY-----\n" + "rm -rf /\n" * 3 + base64.b64encode(bytes(range(180))).decode() + "\n-----END PRIVATE KEY-----"
        status, answer = program.tool("up__succeed", text=key)
        assert answer["detail"]["reason"] == "policy/APPROVAL_HIDDEN", answer


def an_approver_sees_personal_data_too(binary, folder):
    """L24: guards for results and for other servers do not hide arguments from an approver."""
    address, number = "ann.example@mail.example.org", "4111 1111 1111 1111"
    settings = upstream("up") + '[tools.up]\napprove = ["*"]\n[guard.pii]\naction = "{}"\ndirections = ["results"]\n'
    for action in ("redact", "block"):
        with Program(binary, folder / action, settings.format(action)) as program:
            status, answer = program.tool("up__succeed", text=f"pay {number} of {address}", to=address)
            assert answer["detail"]["reason"] == "policy/APPROVAL_NEEDED", answer
            approval = answer["detail"]["facts"]["approval"]
            status, shown = program.ask("GET", f"/v1/approvals/{approval}")
            assert status == 200, shown
            assert shown["arguments"] == {"text": f"pay {number} of {address}", "to": address}, shown
            status, output = program.run("approve", "--json", approval)
            assert status == 0 and output.count(address) == 2 and number in output, output


def the_name_of_the_environments_key_is_reserved(binary, folder):
    with Program(binary, folder, f'servers = ["lobby"]\n{KEYS}') as program:
        status, answer = program.send("/v1/keys", {"name": "environment", "roles": ["user"]}, by("root"))
        assert status == 409, answer


CASES = [
    files_of_others_are_unknown,
    a_caller_cannot_use_up_the_places_of_all,
    a_role_can_use_all_files,
    an_approver_sees_what_is_approved,
    an_approver_sees_personal_data_too,
    the_name_of_the_environments_key_is_reserved,
]
