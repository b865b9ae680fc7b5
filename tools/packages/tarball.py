"""The tarball: everything below one folder, to unpack anywhere."""

import archive
import contents
from archive import Entry


def write(release, out):
    name = f"failwell-{release.version}-{release.needs.machine}-linux"
    entries = [
        Entry("bin/failwell", release.program, 0o755),
        *contents.share(release, "share", "zsh/site-functions"),
        *contents.licenses("share/doc/failwell"),
        *(Entry(f"share/doc/failwell/{file}", (contents.ROOT / file).read_bytes()) for file in ("CHANGELOG.md", "README.md")),
        *(Entry(f"share/failwell/{file}", (contents.PACKAGING / file).read_bytes()) for file in ("failwell.service", "failwell.toml")),
    ]
    packed = archive.tar(entries, release.seconds, prefix=f"{name}/")
    return [out(f"{name}.tar.gz", archive.gzipped(packed, release.level))]
