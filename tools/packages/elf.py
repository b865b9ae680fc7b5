"""Reads from a program of Linux which libraries, and which versions of their symbols, it needs."""

import dataclasses
import re
import struct

MACHINES = {62: "x86_64", 183: "aarch64"}
LOAD, DYNAMIC = 1, 2
NEEDED, STRING_TABLE, VERSION_NEEDS, VERSION_NEEDS_COUNT = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF


@dataclasses.dataclass(frozen=True)
class ElfNeeds:
    machine: str
    libraries: list
    symbols: dict  # library → names of versions, such as GLIBC_2.34

    def newest(self, name):
        """The newest version of this name that the program needs, such as (2, 34) of GLIBC."""
        numbers = [re.fullmatch(rf"{name}_([0-9.]+)", version) for versions in self.symbols.values() for version in versions]
        return max((tuple(map(int, found[1].split("."))) for found in numbers if found), default=None)


def needs(content):
    """What this program needs. A file of another kind is a `ValueError`."""
    if content[:6] != b"\x7fELF\x02\x01":
        raise ValueError("it is no 64-bit ELF program of a little-endian machine")
    machine = MACHINES.get(struct.unpack_from("<H", content, 18)[0])
    if not machine:
        raise ValueError(f"it is for none of the machines {', '.join(MACHINES.values())}")
    return ElfReader(content).read(machine)


class ElfReader:
    def __init__(self, content):
        self.content = content
        start, = struct.unpack_from("<Q", content, 32)
        size, count = struct.unpack_from("<HH", content, 54)
        self.segments = [struct.unpack_from("<IIQQQQQQ", content, start + index * size) for index in range(count)]

    def read(self, machine):
        tags = self.tags()
        if not tags:
            return ElfNeeds(machine, [], {})
        self.strings = self.offset(dict(tags)[STRING_TABLE])
        libraries = [self.text(value) for tag, value in tags if tag == NEEDED]
        return ElfNeeds(machine, libraries, self.versions(dict(tags)))

    def tags(self):
        """Pairs of tag and value of the dynamic section. A static program has none."""
        for kind, _, offset, _, _, size, _, _ in self.segments:
            if kind == DYNAMIC:
                return [pair for pair in struct.iter_unpack("<QQ", self.content[offset : offset + size]) if pair[0]]
        return []

    def offset(self, address):
        """The place in the file of an address in memory."""
        for kind, _, offset, start, _, size, _, _ in self.segments:
            if kind == LOAD and start <= address < start + size:
                return offset + address - start
        raise ValueError("its dynamic section points nowhere")

    def text(self, at):
        start = self.strings + at
        return self.content[start : self.content.index(b"\0", start)].decode()

    def versions(self, tags):
        found = {}
        if VERSION_NEEDS not in tags:
            return found
        at = self.offset(tags[VERSION_NEEDS])
        for _ in range(tags[VERSION_NEEDS_COUNT]):
            _, count, file, first, following = struct.unpack_from("<HHIII", self.content, at)
            names, place = found.setdefault(self.text(file), []), at + first
            for _ in range(count):
                _, _, _, name, step = struct.unpack_from("<IHHII", self.content, place)
                names.append(self.text(name))
                place += step
            at += following
        return found
