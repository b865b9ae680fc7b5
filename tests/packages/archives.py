"""Packages without a system around them: the tarball, the wheel and the npm package."""

import base64
import csv
import hashlib
import sys
import tarfile
import zipfile

from built import ran, served_here


def the_tarball_is_unpacked_and_serves(built):
    place, home = built.place("tarball"), built.place("tarball-home")
    file = built.one("*.tar.gz")
    with tarfile.open(file) as archive:
        assert all((one.uid, one.gid) == (0, 0) for one in archive), "an entry has an owner"
    ran("tar", "-xzf", file, "-C", place)
    folder, = place.iterdir()
    assert folder.name == file.name.removesuffix(".tar.gz")
    for name in ("share/man/man1/failwell.1", "share/bash-completion/completions/failwell", "share/doc/failwell/LICENSE-MIT"):
        assert (folder / name).stat().st_size > 100, name
    served_here(folder / "bin/failwell", home)


def the_wheel_is_installed_by_pip_and_serves(built):
    place, home = built.place("wheel"), built.place("wheel-home")
    wheel = built.one("*.whl")
    ran(sys.executable, "-m", "venv", place / "venv")
    ran(place / "venv/bin/python", "-m", "pip", "install", "--no-index", wheel)
    served_here(place / "venv/bin/failwell", home)
    asked = "import importlib.metadata as found; print(found.metadata('failwell')['License-Expression'])"
    assert ran(place / "venv/bin/python", "-c", asked).strip() == "MIT OR Apache-2.0"
    ran(place / "venv/bin/python", "-m", "pip", "uninstall", "--yes", "failwell")
    assert not (place / "venv/bin/failwell").exists()


def the_record_of_the_wheel_is_right(built):
    with zipfile.ZipFile(built.one("*.whl")) as wheel:
        record = next(name for name in wheel.namelist() if name.endswith("/RECORD"))
        rows = list(csv.reader(wheel.read(record).decode().splitlines()))
        assert {row[0] for row in rows} == set(wheel.namelist())
        for path, digest, size in rows:
            if path != record:
                content = wheel.read(path)
                hashed = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                assert (digest, int(size)) == (f"sha256={hashed}", len(content)), path


def the_npm_package_is_installed_and_serves(built):
    place, home = built.place("npm"), built.place("npm-home")
    environment = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    ran("npm", "install", "--offline", "--prefix", place, built.one("*.tgz"), env=environment)
    served_here(place / "node_modules/.bin/failwell", home)
    # Without an installation.
    output = ran("npx", "--offline", "--yes", f"--package={built.one('*.tgz')}", "failwell", "--version", cwd=home, env=environment)
    assert "failwell " in output, output


CASES = [
    the_tarball_is_unpacked_and_serves,
    the_wheel_is_installed_by_pip_and_serves,
    the_record_of_the_wheel_is_right,
    the_npm_package_is_installed_and_serves,
]
