"""The npm package: the program as its `bin`, for `npx`."""

import json

import archive
import contents
from archive import Entry

CPUS = {"x86_64": "x64", "aarch64": "arm64"}


def write(release, out):
    cpu = CPUS[release.needs.machine]
    manifest = {
        "name": "failwell",
        "version": release.version,
        "description": contents.SUMMARY,
        "license": contents.LICENSE,
        "author": contents.AUTHORS,
        "bin": {"failwell": "bin/failwell"},
        "files": ["bin"],
        "os": ["linux"],
        "cpu": [cpu],
        "libc": ["glibc"],
    }
    entries = [
        Entry("package.json", (json.dumps(manifest, indent=2) + "\n").encode()),
        Entry("README.md", (contents.ROOT / "README.md").read_bytes()),
        *(Entry(name, (contents.ROOT / name).read_bytes()) for name in contents.LICENSE_FILES),
        Entry("bin/failwell", release.program, 0o755),
    ]
    packed = archive.tar(entries, release.seconds, prefix="package/")
    return [out(f"failwell-{release.version}-linux-{cpu}.tgz", archive.gzipped(packed, release.level))]
