"""The packages under test: built twice from one program, at different times and places."""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/packages/run"
LIMIT = 600  # seconds
SETTINGS = 'listen = "127.0.0.1:0"\nservers = ["lobby"]\n'


class BuiltPackages:
    def __init__(self, program, home, cache):
        self.home, self.cache = home, cache
        # Line tables and names make packages several times as large, and every build and installation as slow.
        self.program = home / "program" / "failwell"
        self.program.parent.mkdir()
        subprocess.run(["strip", "-o", self.program, program], check=True)
        self.folder, self.again = home / "first", home / "second"
        first = self.start(self.folder, TZ="UTC")
        # Another place, time zone and mask: none of them may be in a package. The time of the commit is the default.
        elsewhere = home / "elsewhere"
        elsewhere.mkdir()
        moved = shutil.copy2(self.program, elsewhere / "failwell")
        second = self.start(self.again, program=moved, umask=0o077, SOURCE_DATE_EPOCH=committed(), TZ="Asia/Tokyo", TMPDIR=str(elsewhere))
        for build in (first, second):
            output, _ = build.communicate(timeout=LIMIT)
            assert build.returncode == 0, output

    def start(self, out, program=None, umask=0o022, **variables):
        command = [sys.executable, TOOL, "--program", program or self.program, "--out", out, "--cache", self.cache, "--level", "1"]
        return subprocess.Popen(
            command, env=os.environ | variables, umask=umask, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def one(self, pattern):
        """The one package with such a name."""
        found = list(self.folder.glob(pattern))
        assert len(found) == 1, f"{pattern}: {found}"
        return found[0]

    def place(self, name):
        """An empty folder for one installation."""
        folder = self.home / name
        folder.mkdir()
        return folder


def committed():
    return ran("git", "-C", ROOT, "log", "-1", "--format=%ct").strip()


def ran(*command, **options):
    """The output of a command that must succeed."""
    result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT, **options)
    assert result.returncode == 0, f"{' '.join(map(str, command))}\n{result.stdout}"
    return result.stdout


def served_here(program, folder):
    """Starts an installed program with a file of settings, and with nothing of this process's environment."""
    from running import ServedProgram

    (folder / "failwell.toml").write_text(SETTINGS)
    with ServedProgram([program, "up"], folder, {"HOME": str(folder), "PATH": "/usr/bin:/bin"}) as served:
        served.echo("from a package")
    assert (folder / ".local/state/failwell").is_dir(), "its state is not where the guide says"
