"""The bill of materials, as CycloneDX 1.6: every package of Cargo.lock that is part of the program, and what images add."""

import hashlib
import json
import subprocess
import time
import tomllib
import uuid

import contents
from contents import PackageError

LIMIT = 120  # seconds
# Old crates separate licences with a slash; it means a choice.
OLD_CHOICE, CHOICE = "/", " OR "


def write(release, features, foreign, out):
    found = Inventory(features)
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": moment(release.seconds),
            "component": program(release, found.root),
            "properties": [
                {"name": "failwell:features", "value": ",".join(found.features)},
                {"name": "failwell:revision", "value": release.revision},
            ],
        },
        "components": [*found.components(), *foreign],
        "dependencies": found.dependencies(),
    }
    # The number names the contents: the same contents have the same number.
    name = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, name)}"
    return [out(f"failwell-{release.version}.cdx.json", (json.dumps(document, indent=1) + "\n").encode())]


def program(release, root):
    return {
        "type": "application",
        "bom-ref": reference(*root),
        "name": "failwell",
        "version": release.version,
        "description": contents.SUMMARY,
        "licenses": [{"expression": contents.LICENSE}],
        "purl": reference(*root),
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(release.program).hexdigest()}],
    }


def moment(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def reference(name, version):
    return f"pkg:cargo/{name}@{version.replace('+', '%2B')}"


def cargo(*arguments):
    command = ["cargo", *arguments, "--locked", "--offline"]
    ran = subprocess.run(command, cwd=contents.ROOT, capture_output=True, text=True, timeout=LIMIT)
    if ran.returncode:
        raise PackageError(f"{' '.join(command)} failed: {ran.stderr.strip()[-400:]}", "build the program from this checkout first")
    return ran.stdout


class Inventory:
    """The packages of a build with these features, by name and version. Without features: with the default ones."""

    def __init__(self, features):
        chosen = ["--no-default-features", "--features", features] if features is not None else []
        tree = cargo("tree", "--package", "failwell", "--edges", "normal,build", "--prefix", "none", "--format", "{p}", *chosen)
        lines = [line.split() for line in tree.splitlines() if line.strip()]
        self.found = {(words[0], words[1].removeprefix("v")) for words in lines}
        self.root = (lines[0][0], lines[0][1].removeprefix("v"))
        host = next(line[6:] for line in rustc().splitlines() if line.startswith("host: "))
        self.metadata = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", host))
        self.ids = {package["id"]: package for package in self.metadata["packages"]}
        defaults = next(package["features"]["default"] for package in self.ids.values() if package["name"] == "failwell")
        self.features = sorted(features.split(",") if features is not None else defaults)
        lock = tomllib.loads((contents.ROOT / "Cargo.lock").read_text())
        self.checksums = {(one["name"], one["version"]): one.get("checksum") for one in lock["package"]}

    def components(self):
        known = {(package["name"], package["version"]): package for package in self.ids.values()}
        return [self.component(known[key]) for key in sorted(self.found - {self.root})]

    def component(self, package):
        key = (package["name"], package["version"])
        component = {"type": "library", "bom-ref": reference(*key), "name": key[0], "version": key[1], "purl": reference(*key)}
        if package["license"]:
            component["licenses"] = [{"expression": package["license"].replace(OLD_CHOICE, CHOICE)}]
        if checksum := self.checksums[key]:
            component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return component

    def dependencies(self):
        """Which package needs which, without those that only tests need."""
        keys = {id: (package["name"], package["version"]) for id, package in self.ids.items()}
        edges = []
        for node in self.metadata["resolve"]["nodes"]:
            if keys[node["id"]] in self.found:
                needed = [keys[one["pkg"]] for one in node["deps"] if any(kind["kind"] != "dev" for kind in one["dep_kinds"])]
                needed = sorted({reference(*key) for key in needed if key in self.found})
                edges.append({"ref": reference(*keys[node["id"]]), "dependsOn": needed})
        return sorted(edges, key=lambda edge: edge["ref"])


def rustc():
    return subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
