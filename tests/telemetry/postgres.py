"""A real PostgreSQL on its own port. It is removed afterwards."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from ports import free_port

PROGRAMS = pathlib.Path(os.environ.get("FAILWELL_POSTGRES_BIN", "/usr/lib/postgresql/15/bin"))
PASSWORD = "open-sesame-4711"
PATIENCE = "60"


class Postgres:
    def __init__(self):
        # The server refuses to run as root, so it runs as an unprivileged user.
        self.drop = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="failwell-postgres-"))
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        if self.drop:
            for path in (self.folder, secret):
                shutil.chown(path, "nobody", "nogroup")
        self.port = free_port()
        self.data = self.folder / "data"
        self.do("initdb", "-D", self.data, "-U", "owner", "--auth=scram-sha-256", f"--pwfile={secret}", "--no-sync", "-E", "UTF8")
        self.start()

    def do(self, program, *arguments):
        done = subprocess.run(
            [*self.drop, PROGRAMS / program, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=False, env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
        )
        assert done.returncode == 0, (program, done.stdout, done.stderr)

    def start(self):
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} -c fsync=off -c max_connections=30"
        self.do("pg_ctl", "start", "-w", "-t", PATIENCE, "-D", self.data, "-l", self.folder / "log", "-o", options)

    def stop(self, how="immediate"):
        self.do("pg_ctl", "stop", "-w", "-t", PATIENCE, "-m", how, "-D", self.data)

    def url(self, user="owner", password=PASSWORD, database="postgres"):
        return f"postgres://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def sql(self, *statements, database="postgres"):
        """Every row as a list of texts."""
        command = [PROGRAMS / "psql", "-X", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port), "-U", "owner", database]
        for statement in statements:
            command += ["-c", statement]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False, env=os.environ | {"PGPASSWORD": PASSWORD})
        assert done.returncode == 0, (statements, done.stderr)
        return [line.split("\t") for line in done.stdout.splitlines() if "\t" in line or line]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
