"""A rule about a resource holds for every spelling of its URI."""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request

from mcp_client import Session, modern
from program import SERVERS, Program

SERVER = SERVERS / "resource_server.py"
MARK = "marker-of-the-private-file"
# Spellings of FOLDER/private/s.txt.
SPELLINGS = [
    "file://{f}/private/s.txt",
    "FILE://{f}/private/s.txt",
    "file://{f}/notes/../private/s.txt",
    "file://{f}/notes/%2e%2e/private/s.txt",
    "file://{f}/notes/.%2E/private/s.txt",
    "file://{f}/%70rivate/s.txt",
    "file://localhost{f}/private/s.txt",
    "file://LocalHost{f}/private/s.txt",
    "file:{f}/private/s.txt",
    "file://{f}//private/s.txt",
    "file:///{f}/private/s.txt",
    "file://{f}/./private/s.txt",
    "file://{f}/private/s.txt?x=1",
    "file://{f}/private/s.txt#x",
    "file://{f}/private/s%2etxt",
    "file://elsewhere{f}/private/s.txt",
    "file://{f}/notes/%2e%2e%2fprivate/s.txt",
    "file://{f}/private%2fs.txt",
    "file://{f}/notes/%252e%252e/private/s.txt",
    "file://{f}/private/s.txt%00",
    "file://{f}\\private\\s.txt",
    "file://{f}/private/\u200bs.txt",
]


def folder_of(home):
    files = home.parent / (home.name + "-files")
    for name in ("private", "notes"):
        (files / name).mkdir(parents=True)
    (files / "private" / "s.txt").write_text(MARK)
    (files / "notes" / "a.txt").write_text("a note")
    return files.resolve()


def configured(files, log, rules="", top=""):
    command = json.dumps([sys.executable, str(SERVER), str(files), str(log)])
    return f'{top}servers = ["lobby"]\n[[upstream]]\nname = "f"\ncommand = {command}\n{rules}'


def faces(program, uri):
    """The responses to a read of the URI, in every dialect."""
    yield "mcp", json.dumps(modern(program, "resources/read", {"uri": "f+" + uri}))
    yield "rpc", json.dumps(program.rpc("read_resource", {"uri": "f+" + uri}))
    yield "single", json.dumps(modern(program, "resources/read", {"uri": uri}, "/mcp/f"))
    request = urllib.request.Request(program.address + "/v1/resources/" + urllib.parse.quote("f+" + uri, safe=""))
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            yield "rest", answer.read().decode()
    except urllib.error.HTTPError as refusal:
        yield "rest", refusal.read().decode()


def hidden_files_stay_hidden(binary, home):
    """H1: 22 spellings in four dialects; the rule hides a folder."""
    files = folder_of(home)
    rules = f'[resources.f]\nhide = ["file://{files}/private/*"]\n'
    with Program(binary, home, configured(files, home / "uris", rules)) as program:
        for uri in (spelling.format(f=files) for spelling in SPELLINGS):
            for face, text in faces(program, uri):
                assert MARK not in text, (face, uri)
                assert "UNKNOWN_RESOURCE" in text or "BAD_URI" in text, (face, uri, text)
        seen = (home / "uris").read_text() if (home / "uris").exists() else ""
        assert "s.txt" not in seen.replace("%2e", "."), seen
        for uri in (f"file://{files}/notes/a.txt", f"FILE:{files}/private/../notes/a.txt"):
            for face, text in faces(program, uri):
                assert "a note" in text, (face, uri, text)
        listed = json.dumps(modern(program, "resources/list", {})) + json.dumps(modern(program, "resources/templates/list", {}))
        assert "/private" not in listed and "notes/a.txt" in listed, listed


def allowed_folders_have_no_way_out(binary, home):
    """H1: `allow` of one folder, and the rule itself in another spelling."""
    files = folder_of(home)
    rules = f'[resources.f]\nallow = ["FILE://localhost{files}/private/../notes/*"]\n'
    with Program(binary, home, configured(files, home / "uris", rules)) as program:
        for uri in (f"file://{files}/notes/../private/s.txt", f"file://{files}/notes/%2e%2e/private/s.txt"):
            for face, text in faces(program, uri):
                assert MARK not in text, (face, uri)
        for face, text in faces(program, f"file://{files}/notes/a.txt"):
            assert "a note" in text, (face, text)


def policies_know_one_spelling(binary, home):
    """H1: a Cedar policy about one resource."""
    files = folder_of(home)
    policy = home.parent / (home.name + ".cedar")
    policy.write_text(f'permit (principal, action, resource);\nforbid (principal, action, resource == Resource::"f/FILE:{files}/x/../private/s.txt");\n')
    top = f"cedar = {json.dumps(str(policy))}\n"
    with Program(binary, home, configured(files, home / "uris", top=top)) as program:
        for uri in (spelling.format(f=files) for spelling in SPELLINGS):
            for face, text in faces(program, uri):
                assert MARK not in text, (face, uri)
        for face, text in faces(program, f"file://{files}/notes/a.txt"):
            assert "a note" in text, (face, text)


def completion_and_subscription_look_too(binary, home):
    """H1: a hidden template is not completed, and a hidden resource is not subscribed to."""
    files = folder_of(home)
    rules = f'[resources.f]\nhide = ["file://{files}/private/*"]\n'
    with Program(binary, home, configured(files, home / "uris", rules)) as program:
        for spelling in ("file://{f}/private/{{name}}", "FILE://{f}/private/{{name}}", "file://{f}/notes/../private/{{name}}", "file:{f}/private/{{name}}"):
            uri = spelling.format(f=files)
            text = json.dumps(modern(program, "completion/complete", {"ref": {"type": "ref/resource", "uri": "f+" + uri}, "argument": {"name": "name", "value": ""}}))
            assert "s.txt" not in text and "error" in text, (uri, text)
        session = Session(program)
        for uri in (spelling.format(f=files) for spelling in SPELLINGS):
            text = session.request("resources/subscribe", {"uri": "f+" + uri})
            assert "error" in text, (uri, text)
        assert not (home / "uris").exists() or "private" not in (home / "uris").read_text()


def what_servers_list_stays_readable(binary, home):
    """Custom schemes, templates and spellings that the server lists reach it unchanged; others in normal form."""
    files = folder_of(home)
    with Program(binary, home, configured(files, home / "uris")) as program:
        listed = [one["uri"] for one in modern(program, "resources/list", {})["result"]["resources"]]
        assert "f+demo://odd%2Fname" in listed, listed
        for uri in ("demo://Mixed/Case%2dHere", "demo://odd%2Fname", "demo://a//b", "urn:example:one", "greeting://World", "greeting://J%C3%BCrgen",
                    "fetch://https://example.org//x"):
            for face, text in faces(program, uri):
                assert "text of" in text, (face, uri, text)
            assert (home / "uris").read_text().splitlines()[-1] == uri
        text = modern(program, "resources/read", {"uri": f"f+FILE:{files}//notes/./%61.txt"})
        assert "a note" in json.dumps(text), text
        assert (home / "uris").read_text().splitlines()[-1] == f"file://{files}/notes/a.txt"
        for uri in ("demo://other%2Fname", f"file://{files}/notes%2fa.txt"):
            for face, text in faces(program, uri):
                assert "text of" not in text and "a note" not in text, (face, uri)


def listed_spellings_are_readable_before_a_list(binary, home):
    """The first request of a client is a read, as of one that listed on another node or before a restart."""
    for number, uri in enumerate(("demo://Mixed/Case%2dHere", "demo://a//b")):
        files = folder_of(home / str(number))
        with Program(binary, home / f"up-{number}", configured(files, home / "uris")) as program:
            answer = modern(program, "resources/read", {"uri": f"f+{uri}"})
            assert "text of" in json.dumps(answer), (uri, answer)
            answer = modern(program, "resources/read", {"uri": "f+demo://other%2Fname"})
            assert "text of" not in json.dumps(answer), answer


# Spellings of `db://h/a:b` and of a resource below `repo://h/private`.
OTHERS = [
    "db://h/a:b",
    "db://h/a%3Ab",
    "db://h/a%3ab",
    "db://h//a:b",
    "db://h/x/../a%3Ab",
    "DB://H/%61:b",
    "repo://h/private/x",
    "repo://h//private/x",
    "repo://h/private//x",
    "repo://h/notes//../private/x",
    "repo://h/notes/..//private/x",
    "repo://h/%70rivate/x",
    "repo://h/private/%24x",
]


def other_schemes_have_one_spelling(binary, home):
    """A rule about a resource of a custom scheme holds for escapes and doubled slashes too."""
    files = folder_of(home)
    policy = home.parent / (home.name + ".cedar")
    policy.write_text('permit (principal, action, resource);\nforbid (principal, action, resource == Resource::"f/repo://h/notes//b%2Bc");\n')
    rules = '[resources.f]\nhide = ["db://h/a:b", "repo://h//private/*"]\n'
    top = f"cedar = {json.dumps(str(policy))}\n"
    with Program(binary, home, configured(files, home / "uris", rules, top)) as program:
        for uri in OTHERS + ["repo://h/notes/b+c", "repo://h/notes//b%2bc"]:
            for face, text in faces(program, uri):
                assert MARK not in text and "text of" not in text, (face, uri, text)
        assert not (home / "uris").exists() or "private" not in (home / "uris").read_text()
        for uri in ("repo://h/notes/a%3Ab", "repo://h//notes/a:b"):
            for face, text in faces(program, uri):
                assert "text of repo://h/notes/a:b" in text, (face, uri, text)
            # The upstream gets the URI that the rules have checked.
            assert (home / "uris").read_text().splitlines()[-1] == "repo://h/notes/a:b"


CASES = [hidden_files_stay_hidden, allowed_folders_have_no_way_out, policies_know_one_spelling, completion_and_subscription_look_too,
         other_schemes_have_one_spelling, what_servers_list_stays_readable, listed_spellings_are_readable_before_a_list]
