"""Programs of others for the images: fetched by name from their registries, and refused unless their bytes are the pinned ones."""

import hashlib
import io
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

from contents import PackageError

PINS = pathlib.Path(__file__).with_name("pins.json")
LIMIT = 600  # seconds
FETCH = {
    "npm": ["npm", "pack", "--silent", "{package}@{version}"],
    "pypi": [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "{package}=={version}"],
}


def of(machine):
    pins = json.loads(PINS.read_text())
    if machine not in pins:
        raise PackageError(f"nothing is pinned for {machine}", f"add its programs to {PINS.name}, or leave out the format image")
    return pins[machine]


def fetched(pin, cache):
    """The bytes of a pinned package, from the cache or from its registry."""
    cache.mkdir(parents=True, exist_ok=True)
    kept = cache / pin["sha256"]
    if not kept.exists():
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            arrived = fetch(pin, pathlib.Path(folder))
            arrived.rename(kept)
    content = kept.read_bytes()
    if hashlib.sha256(content).hexdigest() != pin["sha256"]:
        kept.unlink()
        raise PackageError(f"{pin['package']} {pin['version']} is not what was pinned", f"compare its hash with {PINS.name}, and find out who changed it")
    return content


def fetch(pin, folder):
    command = [word.format(**pin) for word in FETCH[pin["registry"]]]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=LIMIT)
    except (OSError, subprocess.SubprocessError) as problem:
        stderr = getattr(problem, "stderr", None) or b""
        raise PackageError(
            f"{pin['package']} {pin['version']} cannot be fetched: {problem} {stderr.decode(errors='replace')[-400:]}",
            f"check that {command[0]} reaches its registry, or leave out the format image",
        ) from None
    arrived, = folder.iterdir()
    return arrived


def unpacked(content):
    """Files of an npm package (without its folder) or of a wheel: path → bytes and mode."""
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as wheel:
            return {one.filename: (wheel.read(one), one.external_attr >> 16 & 0o777) for one in wheel.infolist()}
    with tarfile.open(fileobj=io.BytesIO(content)) as package:
        files = [one for one in package if one.isfile()]
        return {one.name.partition("/")[2]: (package.extractfile(one).read(), one.mode & 0o777) for one in files}


def components(pins):
    """The pinned packages in the words of the bill of materials."""
    return [
        {
            "type": "application",
            "bom-ref": f"pkg:{pin['registry']}/{pin['package']}@{pin['version']}",
            "name": pin["package"],
            "version": pin["version"],
            "purl": f"pkg:{pin['registry']}/{pin['package']}@{pin['version']}",
            "licenses": [{"expression": pin["license"]}],
            "hashes": [{"alg": "SHA-256", "content": pin["sha256"]}],
            "properties": [{"name": "failwell:package", "value": "image"}],
        }
        for pin in pins.values()
    ]
