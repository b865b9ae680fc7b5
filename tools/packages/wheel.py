"""The wheel: the program as a script, for `pip install` and `uvx`. PEP 427 has the format, PEP 600 the tag."""

import base64
import hashlib

import archive
import contents
from archive import Entry

# A newer tag than the symbols need would refuse older systems; glibc 2.17 is the oldest that PEP 600 speaks of.
OLDEST_GLIBC = (2, 17)
# Libraries that PEP 600 lets a wheel take from the system.
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1"}
PRERELEASES = {"alpha": "a", "beta": "b", "rc": "rc"}


def platform(needs):
    foreign = {name for name in needs.libraries if name not in SYSTEM_LIBRARIES and not name.startswith("ld-linux")}
    if foreign:
        # Installable where the libraries are; no index accepts this tag.
        return f"linux_{needs.machine}"
    major, minor = max(needs.newest("GLIBC") or OLDEST_GLIBC, OLDEST_GLIBC)[:2]
    return f"manylinux_{major}_{minor}_{needs.machine}"


def write(release, out):
    version = contents.prerelease(release.version, "", PRERELEASES)
    tag = f"py3-none-{platform(release.needs)}"
    info = f"failwell-{version}.dist-info"
    files = [
        Entry(f"failwell-{version}.data/scripts/failwell", release.program, 0o755),
        *contents.licenses(f"{info}/licenses"),
        Entry(f"{info}/METADATA", metadata(version).encode()),
        Entry(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: failwell-packages\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()),
    ]
    files.append(Entry(f"{info}/RECORD", record(files, f"{info}/RECORD").encode()))
    return [out(f"failwell-{version}-{tag}.whl", archive.zipped(files, release.seconds, release.level))]


def metadata(version):
    lines = [
        "Metadata-Version: 2.4",
        "Name: failwell",
        f"Version: {version}",
        f"Summary: {contents.SUMMARY}",
        f"Author: {contents.AUTHORS}",
        f"License-Expression: {contents.LICENSE}",
        *(f"License-File: {name}" for name in contents.LICENSE_FILES),
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (contents.ROOT / "README.md").read_text()


def record(files, own):
    lines = [f"{file.path},sha256={digest(file.content)},{len(file.content)}" for file in files]
    return "\n".join([*lines, f"{own},,"]) + "\n"


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
