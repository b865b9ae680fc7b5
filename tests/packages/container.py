"""Runs an image as a container runtime does: a read-only root, no other network, the image's user, environment and command.

`images.py` starts this in fresh namespaces, with a plan as JSON. The last line of standard output says what was found.
"""

import array
import errno
import fcntl
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import urllib.request

sys.dont_write_bytecode = True

from running import McpClient, ServedProgram  # noqa: E402

SET_FLAGS, UP = 0x8914, 1
LIMIT = 60  # seconds
DEVICES = ("null", "zero", "full", "random", "urandom")


def bring_loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, array.array("B", struct.pack("16sh14x", b"lo", UP)))


def mount(*arguments):
    subprocess.run(["mount", *map(str, arguments)], check=True)


class Container:
    def __init__(self, plan):
        self.plan, self.config = plan, plan["config"]
        self.root = pathlib.Path(plan["root"])
        self.user, self.group = map(int, self.config["User"].split(":"))

    def prepare(self):
        """Mounts what a runtime mounts. Only the volumes and /tmp can be written to."""
        for name in ("proc", "dev", "srv"):
            (self.root / name).mkdir()
        for device in DEVICES:
            (self.root / "dev" / device).touch()
        mount("--bind", self.root, self.root)
        mount("-o", "remount,bind,ro", self.root)
        mount("-t", "proc", "proc", self.root / "proc")
        mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", self.root / "tmp")
        for volume in self.config["Volumes"]:
            mount("-t", "tmpfs", "-o", f"mode=0700,uid={self.user},gid={self.group}", "tmpfs", f"{self.root}{volume}")
        for device in DEVICES:
            mount("--bind", f"/dev/{device}", self.root / "dev" / device)
        if mounted := self.plan.get("mounted"):
            mount("--bind", mounted, self.root / "srv")
            mount("--bind", f"{mounted}/failwell.toml", self.root / "etc/failwell/failwell.toml")

    def enter(self):
        os.chroot(self.root)
        os.chdir(self.config["WorkingDir"])
        os.setgroups([])
        os.setgid(self.group)
        os.setuid(self.user)

    def environment(self):
        found = dict(line.split("=", 1) for line in self.config["Env"])
        return found | ({"FAILWELL_KEY": self.plan["key"]} if "key" in self.plan else {})

    def run(self, *command):
        result = subprocess.run(
            command, env=self.environment(), preexec_fn=self.enter, capture_output=True, text=True, timeout=LIMIT
        )
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    def serve(self):
        command = [*self.config["Entrypoint"], *self.config["Cmd"]]
        with ServedProgram(command, "/", self.environment(), preexec=self.enter) as served:
            # The number is that of the container, so it is looked up in the container's /proc.
            status = (self.root / f"proc/{served.process.pid}/status").read_text()
            found = {"user": int(status.split("Uid:")[1].split()[1]), "written": self.is_writable()}
            with urllib.request.urlopen(f"{served.address}/healthz", timeout=LIMIT) as answer:
                found["health"] = answer.status
            if "echo" in self.plan:
                served.echo(self.plan["echo"])
                found["text"] = self.plan["echo"]
            for name in self.plan.get("calls", []):
                found.setdefault("texts", []).append(McpClient(served.address, served.key).call(name))
        return found

    def is_writable(self):
        try:
            (self.root / "etc/written").touch()
        except OSError as problem:
            return problem.errno != errno.EROFS
        return True


def main():
    container = Container(json.loads(sys.argv[1]))
    bring_loopback_up()
    container.prepare()
    found = container.serve()
    for tool in container.plan.get("versions", []):
        found[tool] = container.run(f"/usr/local/bin/{tool}", "--version")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
