"""Archives whose bytes depend on their contents alone: fixed times, sorted entries, owner 0."""

import dataclasses
import gzip
import io
import posixpath
import tarfile
import time
import zipfile


@dataclasses.dataclass(frozen=True)
class Entry:
    """A file, a folder or a symbolic link of an archive."""

    path: str
    content: bytes = b""
    mode: int = 0o644
    owner: int = 0
    target: str = ""
    is_folder: bool = False


def folder(path, mode=0o755, owner=0):
    return Entry(path, mode=mode, owner=owner, is_folder=True)


def link(path, target):
    return Entry(path, mode=0o777, target=target)


def with_parents(entries):
    """The entries in order of their paths, and every folder above them before it is used."""
    known = {entry.path: entry for entry in entries}
    assert len(known) == len(entries), "a path is in the archive twice"
    for path in list(known):
        while path := posixpath.dirname(path):
            known.setdefault(path, folder(path))
    return [known[path] for path in sorted(known, key=lambda path: path.split("/"))]


def tar(entries, seconds, prefix=""):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for entry in with_parents(entries):
            header = tarfile.TarInfo(prefix + entry.path)
            header.mtime, header.mode = seconds, entry.mode
            header.uid = header.gid = entry.owner
            if entry.is_folder:
                header.type = tarfile.DIRTYPE
            elif entry.target:
                header.type, header.linkname = tarfile.SYMTYPE, entry.target
            header.size = len(entry.content)
            archive.addfile(header, io.BytesIO(entry.content))
    return buffer.getvalue()


def gzipped(content, level):
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=level, fileobj=buffer, mtime=0) as stream:
        stream.write(content)
    return buffer.getvalue()


def zipped(entries, seconds, level):
    """A zip file of the entries in the given order."""
    buffer = io.BytesIO()
    moment = time.gmtime(max(seconds, 315532800))[:6]  # the format begins in 1980
    with zipfile.ZipFile(buffer, "w") as archive:
        for entry in entries:
            header = zipfile.ZipInfo(entry.path, moment)
            header.create_system = 3
            header.external_attr = (0o100000 | entry.mode) << 16
            archive.writestr(header, entry.content, zipfile.ZIP_DEFLATED, level)
    return buffer.getvalue()


def ar(members, seconds):
    """The container of a .deb: pairs of name and content."""
    parts = [b"!<arch>\n"]
    for name, content in members:
        parts.append(f"{name:<16}{seconds:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode())
        parts.append(content + b"\n" * (len(content) % 2))
    return b"".join(parts)
