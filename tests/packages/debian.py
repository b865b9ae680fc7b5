"""The Debian package: installed below a folder, run as its unit says, upgraded, removed and purged."""

import dataclasses
import json
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys

from built import ROOT, ran
from running import ServedProgram

EXPOSURE = 30  # tenths; systemd calls up to 4 "OK"
NEWER = "99.0.0"
NOTIFY_LIMIT = 60  # seconds


class DebianRoot:
    """A folder that dpkg takes for a system, with the libraries of this one installed."""

    def __init__(self, folder):
        self.folder = folder
        database = folder / "var/lib/dpkg"
        for name in ("info", "updates", "triggers"):
            (database / name).mkdir(parents=True)
        (database / "status").write_text(ran("dpkg-query", "--status", "libc6", "libgcc-s1"))
        self.unit = folder / "usr/lib/systemd/system/failwell.service"
        self.program = folder / "usr/bin/failwell"
        self.settings = folder / "etc/failwell/failwell.toml"
        self.state = folder / "var/lib/failwell"
        self.enabled = folder / "etc/systemd/system/multi-user.target.wants/failwell.service"

    def dpkg(self, *arguments):
        own = f"--root={self.folder}", "--force-script-chrootless", "--force-not-root", "--force-confold"
        return ran("dpkg", *own, *arguments)

    def ask(self, *arguments):
        return ran(self.program, *arguments, env={"STATE_DIRECTORY": str(self.state)})

    def values(self, key):
        return re.findall(rf"^{key}=(.*)$", self.unit.read_text(), re.M)


def report(manager):
    return manager.recv(512).decode()


def serve(root, text):
    """Runs ExecStart below the folder as systemd would, and calls a tool once it says that it is ready."""
    command = [f"{root.folder}{word}" if word.startswith("/") else word for word in shlex.split(root.values("ExecStart")[0])]
    path = root.folder / "notify"
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(path))
        manager.settimeout(NOTIFY_LIMIT)
        environment = {"STATE_DIRECTORY": str(root.state), "NOTIFY_SOCKET": str(path), "PATH": "/usr/bin:/bin", "HOME": str(root.state)}
        with ServedProgram(command, root.state, environment) as served:
            assert report(manager) == "READY=1"
            served.echo(text)
        assert report(manager) == "STOPPING=1"


def installed(built, name):
    root = DebianRoot(built.place(name))
    root.dpkg("--install", built.one("*.deb"))
    root.state.mkdir(parents=True)
    text = root.settings.read_text()
    assert 'listen = "127.0.0.1:8484"' in text, "the service does not listen where the guide says"
    # Port 8484 may be another program's on this machine. It is also the edit that an upgrade must keep.
    root.settings.write_text(text.replace(":8484", ":0"))
    return root


def newer_package(built):
    """The same program as a later version."""
    sys.path.insert(0, str(ROOT / "tools/packages"))
    import contents
    import deb

    release = dataclasses.replace(contents.read(built.program, 1), version=NEWER)
    folder = built.place("newer")
    name, = deb.write(release, lambda name, content: (folder / name).write_bytes(content) and name)
    return folder / name


def the_service_is_upgraded_removed_and_purged(built):
    root = installed(built, "debian")
    assert root.enabled.is_symlink(), "the service does not start with the system"
    serve(root, "before the upgrade")
    before = json.loads(root.ask("audit", "query", "--json").splitlines()[0])
    root.dpkg("--install", newer_package(built))
    assert f"Version: {NEWER}" in ran("dpkg-query", f"--admindir={root.folder}/var/lib/dpkg", "--status", "failwell")
    assert ":0" in root.settings.read_text(), "the upgrade lost the settings"
    serve(root, "after the upgrade")
    records = [json.loads(line) for line in root.ask("audit", "query", "--json").splitlines()]
    assert before in records and len([one for one in records if "echo" in json.dumps(one)]) >= 2, "records were lost"
    root.ask("audit", "verify")
    root.dpkg("--remove", "failwell")
    assert not root.program.exists() and root.settings.exists() and any(root.state.iterdir()), "remove keeps settings and state"
    root.dpkg("--purge", "failwell")
    left = [path for path in (root.settings.parent, root.state, root.enabled) if path.exists() or path.is_symlink()]
    assert not left, f"purge leaves {left}"


def the_needs_are_those_of_the_program(built):
    fields = ran("dpkg-deb", "--field", built.one("*.deb"), "Depends")
    newest = max(tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", ran("objdump", "-T", built.program)))
    assert fields.strip() == f"libc6 (>= {'.'.join(map(str, newest))}), libgcc-s1", fields


def systemd_accepts_the_unit(built):
    assert shutil.which("systemd-analyze"), "systemd-analyze is missing; help: install the package systemd"
    place = built.place("unit")
    ran("dpkg-deb", "--extract", built.one("*.deb"), place)
    unit = place / "failwell.service"
    text = (place / "usr/lib/systemd/system/failwell.service").read_text()
    # The program is not below / here; everything else is checked as it is.
    unit.write_text(text.replace("/usr/bin/failwell", str(place / "usr/bin/failwell")))
    output = ran("systemd-analyze", "verify", "--man=no", unit)
    assert "failwell" not in output, output
    ran("systemd-analyze", "security", "--offline=yes", f"--threshold={EXPOSURE}", "--no-pager", unit)
    wrong = place / "wrong.service"
    wrong.write_text(text.replace("Type=notify", "Type=telegram"))
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", wrong], capture_output=True, text=True)
    assert "telegram" in result.stderr or result.returncode, "a wrong unit passes"


def the_unit_is_hardened(built):
    place = built.place("hardening")
    ran("dpkg-deb", "--extract", built.one("*.deb"), place)
    lines = (place / "usr/lib/systemd/system/failwell.service").read_text().splitlines()
    for line in (
        "Type=notify", "StateDirectory=failwell", "DynamicUser=yes", "NoNewPrivileges=yes", "ProtectSystem=strict",
        "PrivateDevices=yes", "RestrictSUIDSGID=yes", "ExecReload=/bin/kill -HUP $MAINPID", "KillMode=mixed",
    ):  # fmt: skip
        assert line in lines, f"{line} is missing"
    for page in ("usr/share/man/man1/failwell.1.gz", "usr/share/bash-completion/completions/failwell"):
        assert pathlib.Path(place / page).exists(), page


CASES = [
    the_service_is_upgraded_removed_and_purged,
    the_needs_are_those_of_the_program,
    systemd_accepts_the_unit,
    the_unit_is_hardened,
]
