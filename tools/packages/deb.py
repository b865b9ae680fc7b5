"""The Debian package: the program, its manual, and a unit for systemd."""

import hashlib

import archive
import contents
from archive import Entry
from contents import PackageError

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# The package of Debian that has each library.
OWNERS = {
    "libc.so.6": "libc6", "libm.so.6": "libc6", "libdl.so.2": "libc6", "libpthread.so.0": "libc6", "librt.so.1": "libc6",
    "ld-linux-x86-64.so.2": "libc6", "ld-linux-aarch64.so.1": "libc6", "libgcc_s.so.1": "libgcc-s1",
}  # fmt: skip
CONFFILE = "etc/failwell/failwell.toml"
SCRIPTS = ("postinst", "prerm", "postrm")
DOC = "usr/share/doc/failwell"


def depends(needs):
    """The packages that the program needs, in the version that has its symbols."""
    unknown = [name for name in needs.libraries if name not in OWNERS]
    if unknown:
        raise PackageError(f"no Debian package is known for {', '.join(unknown)}", "add its package to OWNERS in tools/packages/deb.py")
    found = {OWNERS[name]: "" for name in needs.libraries}
    if newest := needs.newest("GLIBC"):
        found["libc6"] = f" (>= {'.'.join(map(str, newest))})"
    return ", ".join(package + version for package, version in sorted(found.items()))


def write(release, out):
    architecture = ARCHITECTURES[release.needs.machine]
    version = contents.prerelease(release.version, "~")
    files = installed(release)
    size = sum(len(file.content) for file in files)
    control = [
        Entry("control", control_file(version, architecture, depends(release.needs), size).encode()),
        Entry("conffiles", f"/{CONFFILE}\n".encode()),
        Entry("md5sums", checksums(files).encode()),
        *(Entry(name, (contents.PACKAGING / "deb" / name).read_bytes(), 0o755) for name in SCRIPTS),
    ]
    packed = [archive.gzipped(archive.tar(part, release.seconds, prefix="./"), release.level) for part in (control, files)]
    members = [("debian-binary", b"2.0\n"), ("control.tar.gz", packed[0]), ("data.tar.gz", packed[1])]
    return [out(f"failwell_{version}_{architecture}.deb", archive.ar(members, release.seconds))]


def installed(release):
    """The files of the package. Debian's policy wants its manual pages and its changelog compressed."""
    shared = contents.share(release, "usr/share", "zsh/vendor-completions")
    pages = [Entry(f"{file.path}.gz", archive.gzipped(file.content, 9)) for file in shared if "/man1/" in file.path]
    return [
        Entry("usr/bin/failwell", release.program, 0o755),
        Entry("usr/lib/systemd/system/failwell.service", (contents.PACKAGING / "failwell.service").read_bytes()),
        Entry(CONFFILE, (contents.PACKAGING / "failwell.toml").read_bytes()),
        *pages,
        *(file for file in shared if "/man1/" not in file.path),
        Entry(f"{DOC}/changelog.gz", archive.gzipped((contents.ROOT / "CHANGELOG.md").read_bytes(), 9)),
        Entry(f"{DOC}/copyright", copyright().encode()),
    ]


def copyright():
    texts = [(contents.ROOT / name).read_text() for name in contents.LICENSE_FILES]
    return f"Failwell is licensed under {contents.LICENSE}, at your choice.\n\n" + "\n\n".join(texts)


def control_file(version, architecture, needed, size):
    fields = {
        "Package": "failwell",
        "Version": version,
        "Architecture": architecture,
        "Maintainer": f"{contents.AUTHORS} <contributors@failwell.invalid>",
        "Installed-Size": -(-size // 1024),
        "Depends": needed,
        "Recommends": "ca-certificates",
        "Suggests": "nodejs, npm, python3",
        "Section": "net",
        "Priority": "optional",
        "Description": f"{contents.SUMMARY}\n The gateway puts any number of MCP servers behind one address. It decides who may see and\n"
        " call which tool, records every exchange, and answers every request exactly once.",
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items() if value)


def checksums(files):
    lines = [f"{hashlib.md5(file.content).hexdigest()}  {file.path}\n" for file in files if file.path != CONFFILE]
    return "".join(sorted(lines, key=lambda line: line.split("  ", 1)[1]))
