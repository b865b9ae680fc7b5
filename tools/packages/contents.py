"""What every package holds: the program, its manual, completions, settings and documents."""

import dataclasses
import os
import pathlib
import re
import subprocess
import tempfile

import elf
from archive import Entry

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
SUMMARY = "A security gateway and tool servers for the Model Context Protocol"
LICENSE = "MIT OR Apache-2.0"
AUTHORS = "Failwell contributors"
LICENSE_FILES = ("LICENSE-APACHE", "LICENSE-MIT")
START_LIMIT = 60  # seconds


class PackageError(Exception):
    """A problem and what to do about it, for the person at the terminal."""

    def __init__(self, problem, help):
        super().__init__(problem)
        self.help = help


@dataclasses.dataclass(frozen=True)
class Release:
    """One version of the program, ready to be packaged."""

    version: str
    revision: str
    seconds: int  # the time of everything in the packages
    program: bytes
    path: pathlib.Path
    needs: elf.ElfNeeds
    manual: dict  # file name → page
    completions: dict  # shell → script
    level: int  # of compression, 1 to 9


def read(path, level):
    """Examines the program and has it write its manual and completions."""
    try:
        program = path.read_bytes()
    except OSError as problem:
        raise PackageError(f"{path} cannot be read: {problem.strerror}", "name a built failwell, or leave out --program") from None
    try:
        needs = elf.needs(program)
    except ValueError as problem:
        raise PackageError(f"{path} cannot be packaged: {problem}", "build it on Linux, on x86_64 or aarch64") from None
    version = output_of(path, "--version").decode().split()[-1]
    shells = {shell: output_of(path, "completions", shell) for shell in ("bash", "zsh", "fish")}
    return Release(version, revision(), seconds(), program, path, needs, manual(path), shells, level)


def output_of(path, *arguments):
    try:
        return subprocess.run([path, *arguments], check=True, capture_output=True, timeout=START_LIMIT).stdout
    except (OSError, subprocess.SubprocessError) as problem:
        raise PackageError(f"{path} {' '.join(arguments)} failed: {problem}", "name a failwell that runs on this machine") from None


def manual(path):
    with tempfile.TemporaryDirectory() as folder:
        output_of(path, "man", "--dir", folder)
        return {page.name: page.read_bytes() for page in sorted(pathlib.Path(folder).iterdir())}


def seconds():
    """`SOURCE_DATE_EPOCH`, otherwise the time of the commit."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct")
    if not epoch:
        raise PackageError("the time of this version is unknown: this is no git checkout", "set SOURCE_DATE_EPOCH to seconds since 1970")
    return int(epoch)


def revision():
    return git("rev-parse", "HEAD") or "unknown"


def git(*arguments):
    ran = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    return ran.stdout.strip() if ran.returncode == 0 else ""


def licenses(folder):
    return [Entry(f"{folder}/{name}", (ROOT / name).read_bytes()) for name in LICENSE_FILES]


def prerelease(version, joint, names=None):
    """A version in another spelling: `1.0.0-rc.1` as `1.0.0~rc.1` of Debian or `1.0.0rc1` of Python."""
    base, _, rest = version.partition("-")
    if not rest:
        return base
    if names is None:
        return base + joint + rest
    word, number = re.fullmatch(r"([a-z]+)\.?([0-9]*)", rest).groups()
    return base + joint + names[word] + (number or "0")


def share(release, prefix, zsh):
    """Manual pages and completions below a prefix such as `usr/share`."""
    pages = [Entry(f"{prefix}/man/man1/{name}", page) for name, page in release.manual.items()]
    shells = release.completions
    return pages + [
        Entry(f"{prefix}/bash-completion/completions/failwell", shells["bash"]),
        Entry(f"{prefix}/{zsh}/_failwell", shells["zsh"]),
        Entry(f"{prefix}/fish/vendor_completions.d/failwell.fish", shells["fish"]),
    ]
