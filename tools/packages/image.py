"""Two OCI images as archives: one with the program alone, one with Node and uv for servers over stdio.

The layout is that of the OCI image specification 1.1, with the `manifest.json` that older container programs read.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import tempfile

import archive
import contents
import pins
import sbom
from archive import Entry, folder, link
from contents import PackageError

# A name without a registry would be taken for one of a public registry.
NAME = "localhost/failwell"
USER = 10001
HOME = "var/lib/failwell"
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
PATH = "/usr/local/bin:/usr/bin:/bin"
NODE_MODULES = "usr/local/lib/node_modules"
# npx starts programs through a shell, and scripts name their interpreter through env.
SHELL = ("/bin/sh", "/usr/bin/env")
INDEX, MANIFEST, CONFIG, LAYER = (
    f"application/vnd.oci.image.{kind}" for kind in ("index.v1+json", "manifest.v1+json", "config.v1+json", "layer.v1.tar+gzip")
)


def write(release, cache, out):
    pinned = pins.of(release.needs.machine)
    found = {name: pins.unpacked(pins.fetched(pin, cache)) for name, pin in pinned.items()}
    plain = [layer(base(release, found["certificates"]), release), layer(program(release), release)]
    tools = [*plain, layer(with_libraries(node_and_uv(found), {entry.path for entry in base(release, found["certificates"])}), release)]
    written = []
    for layers, suffix in ((plain, ""), (tools, "-node-uv")):
        tag = f"{release.version}{suffix}"
        written.append(out(f"failwell-{tag}-{ARCHITECTURES[release.needs.machine]}.oci.tar", packed(release, layers, tag)))
    return written


def base(release, certificates):
    """Users, certificates, writable folders, and the libraries of the program."""
    name = "failwell:x:{0}:{0}:Failwell:/{1}:/usr/sbin/nologin\n".format(USER, HOME)
    entries = [
        Entry("etc/passwd", b"root:x:0:0:root:/root:/usr/sbin/nologin\n" + name.encode()),
        Entry("etc/group", f"root:x:0:\nfailwell:x:{USER}:\n".encode()),
        Entry("etc/nsswitch.conf", b"passwd: files\ngroup: files\nhosts: files dns\n"),
        Entry(CERTIFICATES, certificates["certifi/cacert.pem"][0]),
        folder("tmp", 0o1777),
        folder(HOME, 0o700, owner=USER),
    ]
    return with_libraries(entries, set(), [release.path])


def program(release):
    return [
        Entry("usr/bin/failwell", release.program, 0o755),
        Entry("etc/failwell/failwell.toml", (contents.PACKAGING / "failwell.image.toml").read_bytes()),
        *contents.licenses("usr/share/doc/failwell"),
    ]


def node_and_uv(found):
    """Node with npm and npx, uv with uvx, a shell, and nothing else of their packages."""
    entries = [Entry("usr/local/bin/node", found["node"]["bin/node"][0], 0o755)]
    for path, (content, mode) in found["npm"].items():
        if path.split("/")[0] not in ("docs", "man"):
            entries.append(Entry(f"{NODE_MODULES}/npm/{path}", content, 0o755 if mode & 0o100 else 0o644))
    entries += [link(f"usr/local/bin/{name}", f"/{NODE_MODULES}/npm/bin/{name}-cli.js") for name in ("npm", "npx")]
    for path, (content, _) in found["uv"].items():
        if ".data/scripts/" in path:
            entries.append(Entry(f"usr/local/bin/{path.rpartition('/')[2]}", content, 0o755))
    return entries + [Entry(path[1:], pathlib.Path(path).read_bytes(), 0o755) for path in SHELL]


def with_libraries(entries, known, programs=()):
    """The entries, and the libraries of this machine that their programs load."""
    needed = {}
    with tempfile.TemporaryDirectory() as place:
        copies = []
        for number, entry in enumerate(entries):
            if entry.content[:4] == b"\x7fELF":
                copies.append(pathlib.Path(place) / str(number))
                copies[-1].write_bytes(entry.content)
                copies[-1].chmod(0o755)
        for binary in [*programs, *copies]:
            needed |= libraries(binary)
    return entries + [
        Entry(path, file.read_bytes(), 0o755) for path, file in sorted(needed.items()) if path not in known
    ]


def libraries(binary):
    """Where the loader looks for each library of a program, and the file there."""
    ran = subprocess.run(["ldd", binary], capture_output=True, text=True)
    if "not a dynamic executable" in ran.stderr or "statically linked" in ran.stdout:
        return {}
    missing = re.findall(r"(\S+) => not found", ran.stdout)
    if ran.returncode or missing:
        raise PackageError(f"{binary} needs libraries that this machine lacks: {', '.join(missing) or ran.stderr.strip()}", "install them")
    paths = re.findall(r"(?:=> )?(/\S+) \(0x", ran.stdout)
    return {path.lstrip("/"): pathlib.Path(path).resolve() for path in paths}


def layer(entries, release):
    """The compressed bytes of a layer, and the digest of its plain ones."""
    plain = archive.tar(entries, release.seconds)
    return archive.gzipped(plain, release.level), digest(plain)


def digest(content):
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def packed(release, layers, tag):
    """The archive: every blob under its digest, the index, and what names the image."""
    blobs = {}

    def blob(content, kind):
        name = digest(content)
        blobs[name.replace(":", "/")] = content
        return {"mediaType": kind, "digest": name, "size": len(content)}

    config = blob(as_json(configuration(release, layers, tag)), CONFIG)
    parts = [blob(content, LAYER) for content, _ in layers]
    manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": parts, "annotations": labels(release)}
    named = {"org.opencontainers.image.ref.name": tag, "io.containerd.image.name": f"{NAME}:{tag}"}
    described = blob(as_json(manifest), MANIFEST) | {"annotations": named}
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [described]}

    def at(part):
        return f"blobs/{part['digest'].replace(':', '/')}"

    older = [{"Config": at(config), "RepoTags": [f"{NAME}:{tag}"], "Layers": [at(part) for part in parts]}]
    entries = [Entry(f"blobs/{name}", content) for name, content in blobs.items()]
    entries.append(Entry("oci-layout", as_json({"imageLayoutVersion": "1.0.0"})))
    entries.append(Entry("index.json", as_json(index)))
    entries.append(Entry("manifest.json", as_json(older)))
    return archive.tar(entries, release.seconds)


def configuration(release, layers, tag):
    created = sbom.moment(release.seconds)
    return {
        "created": created,
        "architecture": ARCHITECTURES[release.needs.machine],
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "Entrypoint": ["/usr/bin/failwell"],
            "Cmd": ["up", "--config", "/etc/failwell/failwell.toml"],
            "Env": [f"PATH={PATH}", f"HOME=/{HOME}", f"FAILWELL_STATE=/{HOME}", f"SSL_CERT_FILE=/{CERTIFICATES}"],
            "ExposedPorts": {"8484/tcp": {}},
            "Volumes": {f"/{HOME}": {}},
            "WorkingDir": f"/{HOME}",
            "StopSignal": "SIGTERM",
            "Labels": labels(release),
        },
        "rootfs": {"type": "layers", "diff_ids": [name for _, name in layers]},
        "history": [{"created": created, "created_by": f"failwell {tag}"} for _ in layers],
    }


def labels(release):
    """The specification has no health check, so labels say what to ask."""
    named = "org.opencontainers.image."
    return {
        f"{named}title": "failwell",
        f"{named}description": contents.SUMMARY,
        f"{named}version": release.version,
        f"{named}revision": release.revision,
        f"{named}created": sbom.moment(release.seconds),
        f"{named}licenses": contents.LICENSE,
        "dev.failwell.health": "GET :8484/healthz",
        "dev.failwell.ready": "GET :8484/readyz",
    }


def as_json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
