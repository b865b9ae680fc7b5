"""The OCI images: unpacked as a container runtime does it, and run with a read-only root as their own user."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

from built import ROOT, ran

HERE = pathlib.Path(__file__).resolve().parent
USER = 10001


class UnpackedImage:
    """The root folder and the configuration of an image, with every digest verified."""

    def __init__(self, archive, folder):
        self.root = folder / "root"
        self.root.mkdir()
        with tarfile.open(archive) as image:
            self.files = {one.name: image.extractfile(one).read() for one in image if one.isfile()}
        assert json.loads(self.files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
        described, = json.loads(self.files["index.json"])["manifests"]
        self.manifest = json.loads(self.blob(described))
        self.config = json.loads(self.blob(self.manifest["config"]))
        plain = [gzip.decompress(self.blob(layer)) for layer in self.manifest["layers"]]
        assert [f"sha256:{hashlib.sha256(one).hexdigest()}" for one in plain] == self.config["rootfs"]["diff_ids"]
        for layer in plain:
            with tarfile.open(fileobj=io.BytesIO(layer)) as entries:
                entries.extractall(self.root, filter="fully_trusted", numeric_owner=True)

    def blob(self, described):
        content = self.files[f"blobs/{described['digest'].replace(':', '/')}"]
        assert len(content) == described["size"] and f"sha256:{hashlib.sha256(content).hexdigest()}" == described["digest"], described
        return content


def unpacked(built, pattern, name):
    assert os.geteuid() == 0, "an image cannot be unpacked with its owners; help: run this step as root"
    return UnpackedImage(built.one(pattern), built.place(name))


def contained(image, **what):
    """Runs `container.py` in namespaces of its own, and returns what it found."""
    plan = {"root": str(image.root), "config": image.config["config"], **what}
    namespaces = ["unshare", "--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child"]
    return json.loads(ran(*namespaces, sys.executable, HERE / "container.py", json.dumps(plan)).splitlines()[-1])


def the_plain_image_has_the_program_and_what_it_loads(built):
    image = unpacked(built, "failwell-[0-9].[0-9].[0-9]-amd64.oci.tar", "contents")
    programs = [file.relative_to(image.root) for file in image.root.rglob("*") if file.is_file() and file.stat().st_mode & 0o111]
    libraries = [str(file) for file in programs if file.parts[0].startswith("lib") or file.parts[:2] == ("usr", "lib")]
    assert {str(file) for file in programs} == {"usr/bin/failwell", *libraries} and len(libraries) == 4, programs
    owned = {str(file.relative_to(image.root)) for file in image.root.rglob("*") if file.stat().st_uid != 0}
    assert owned == {"var/lib/failwell"}, owned
    assert image.config["config"]["User"] == f"{USER}:{USER}"
    labels = image.config["config"]["Labels"]
    assert labels["org.opencontainers.image.version"] in image.manifest["annotations"].values() and "/healthz" in labels["dev.failwell.health"]
    older, = json.loads(image.files["manifest.json"])
    assert older["RepoTags"] == [f"localhost/failwell:{labels['org.opencontainers.image.version']}"]
    assert older["Layers"] == [f"blobs/{layer['digest'].replace(':', '/')}" for layer in image.manifest["layers"]]


def the_plain_image_serves_as_its_own_user(built):
    image = unpacked(built, "failwell-[0-9].[0-9].[0-9]-amd64.oci.tar", "plain")
    found = contained(image, key="a-key-of-this-test", echo="from the plain image")
    assert found == {"user": USER, "health": 200, "written": False, "text": "from the plain image"}, found


def without_a_key_the_image_refuses_to_listen(built):
    image = unpacked(built, "failwell-[0-9].[0-9].[0-9]-amd64.oci.tar", "keyless")
    try:
        contained(image, echo="from nowhere")
    except AssertionError as problem:
        assert "before it served" in str(problem) and "FAILWELL_KEY" in str(problem), problem
    else:
        raise AssertionError("everybody may call the container")


def the_image_with_node_starts_servers_over_stdio(built):
    image = unpacked(built, "*-node-uv-amd64.oci.tar", "node-uv")
    mounted = built.place("node-uv-mounted")
    (mounted / "failwell.toml").write_text(
        'listen = "0.0.0.0:8484"\n'
        '[[upstream]]\nname = "node"\ncommand = ["node", "/srv/server.mjs"]\n'
        '[[upstream]]\nname = "npx"\ncommand = ["npx", "--yes", "--offline", "--package=/srv/whereabouts.tgz", "whereabouts"]\n'
    )
    server = {"name": "whereabouts", "version": "1.0.0", "type": "module", "bin": {"whereabouts": "server.mjs"}}
    shutil.copy(HERE / "server.mjs", mounted)
    with tarfile.open(mounted / "whereabouts.tgz", "w:gz") as package:
        package.add(HERE / "server.mjs", "package/server.mjs")
        manifest = tarfile.TarInfo("package/package.json")
        manifest.size = len(json.dumps(server))
        package.addfile(manifest, io.BytesIO(json.dumps(server).encode()))
    for file in mounted.iterdir():
        file.chmod(0o755)
    pinned = json.loads((ROOT / "tools/packages/pins.json").read_text())["x86_64"]
    text = f"node v{pinned['node']['version']} as {USER}"
    found = contained(image, key="a-key-of-this-test", mounted=str(mounted), calls=["node__whereabouts", "npx__whereabouts"], versions=["npm", "uvx"])
    assert found["texts"] == [text, text] and found["user"] == USER and not found["written"], found
    assert f"uvx {pinned['uv']['version']}" in found["uvx"] and found["npm"] == pinned["npm"]["version"], found


def the_wheel_is_run_by_the_uvx_of_the_image(built):
    image = unpacked(built, "*-node-uv-amd64.oci.tar", "uvx")
    home = built.place("uvx-home")
    environment = {"HOME": str(home), "PATH": f"{pathlib.Path(sys.executable).parent}:/usr/bin:/bin"}
    uvx = image.root / "usr/local/bin/uvx"
    ran = subprocess.run(
        [uvx, "--offline", "--no-index", "--from", built.one("*.whl"), "failwell", "--version"],
        env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ran.stdout.startswith("failwell "), ran.stderr


CASES = [
    the_plain_image_has_the_program_and_what_it_loads,
    the_plain_image_serves_as_its_own_user,
    without_a_key_the_image_refuses_to_listen,
    the_image_with_node_starts_servers_over_stdio,
    the_wheel_is_run_by_the_uvx_of_the_image,
]
