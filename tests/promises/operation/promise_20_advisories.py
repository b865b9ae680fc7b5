"""Dependencies are compared with a dated list of advisories, and no check is claimed that does not run."""

import pathlib
import re

from nodes import one_node

ROOT = pathlib.Path(__file__).resolve().parents[3]


def numbers(text):
    """The numbers of a version, without what follows them."""
    return tuple(int(number) for number in re.match(r"(\d+)\.(\d+)\.(\d+)", text).groups())


def fits(version, conditions):
    compare = {">=": lambda a, b: a >= b, "<": lambda a, b: a < b}
    return all(compare[sign](numbers(version), numbers(limit)) for sign, limit in re.findall(r"(>=|<) ([\d.]+)", conditions))


@one_node("it reads the repository and starts nothing")
def no_dependency_is_on_the_list(_binary, _folder):
    text = (ROOT / "tools" / "advisories.txt").read_text()
    assert re.search(r"as of \d{4}-\d{2}-\d{2}", text), "the list has no date"
    rows = [[part.strip() for part in line.split("|")] for line in text.splitlines() if line and not line.startswith("#")]
    packages = re.findall(r'name = "([^"]+)"\nversion = "([^"]+)"', (ROOT / "Cargo.lock").read_text())
    assert len(rows) > 20, rows
    for package, advisory, fixed in rows:
        for _, version in [found for found in packages if found[0] == package]:
            assert any(fits(version, alternative) for alternative in fixed.split(" or ")), (package, version, advisory)


@one_node("it reads the repository and starts nothing")
def no_check_is_claimed_that_does_not_run(_binary, _folder):
    assert "checked elsewhere" not in (ROOT / "deny.toml").read_text()
    tidy = (ROOT / "xtask" / "src" / "tidy.rs").read_text()
    assert "advisories::check" in tidy
    assert "tools/advisories.txt" in (ROOT / "SECURITY.md").read_text()


CASES = [no_dependency_is_on_the_list, no_check_is_claimed_that_does_not_run]
