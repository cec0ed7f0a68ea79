"""What a console shows of its insides: memory without side effects, registers by name."""

from __future__ import annotations

import numpy as np


class Registers:
    """Live view of some integers of one section of the console's record.

    ``names`` maps what the view calls them to the field (or to a function of
    the section that returns an int). Fields can be assigned to; functions not.
    """

    __slots__ = ("_names", "_section")

    def __init__(self, section, names):
        object.__setattr__(self, "_section", section)
        object.__setattr__(self, "_names", names)

    def __getattr__(self, name):
        try:
            field = self._names[name]
        except KeyError:
            raise AttributeError(f"no register {name!r}; there are {', '.join(self._names)}") from None
        return int(self._section[field]) if isinstance(field, str) else int(field(self._section))

    def __setattr__(self, name, value):
        field = self._names.get(name)
        if not isinstance(field, str):
            raise AttributeError(f"register {name!r} cannot be set")
        self._section[field] = value

    def __dir__(self):
        return list(self._names)

    def as_dict(self):
        """All registers as ``{name: int}``."""
        return {name: getattr(self, name) for name in self._names}

    def __repr__(self):
        return "<" + " ".join(f"{name}={value:#x}" for name, value in self.as_dict().items()) + ">"


class Memory:
    """The CPU's address space: ``memory[a]``, ``memory[a:b]`` read without side effects, ``memory[a] = v`` writes.

    Reads return ``int`` or, for a slice, ``bytes``. A write is what the CPU's
    would be (a register or a board reacts to it), but takes no time.
    """

    __slots__ = ("_peek", "_poke")

    def __init__(self, peek, poke):
        self._peek = peek
        self._poke = poke

    def __getitem__(self, where):
        if isinstance(where, slice):
            return bytes(self._peek(a) for a in range(*where.indices(0x10000)))
        return self._peek(_address(where))

    def __setitem__(self, where, value):
        if not isinstance(where, slice):
            self._poke(_address(where), _byte(value))
            return
        places = range(*where.indices(0x10000))
        values = [_byte(v) for v in value]
        if len(values) != len(places):
            raise ValueError(f"{len(values)} bytes for {len(places)} addresses")
        for a, v in zip(places, values, strict=True):
            self._poke(a, v)

    def __len__(self):
        return 0x10000


def _address(value):
    value = int(value)
    if not 0 <= value <= 0xFFFF:
        raise IndexError(f"address {value:#x} is not in $0000-$FFFF")
    return value


def _byte(value):
    value = int(value)
    if not 0 <= value <= 0xFF:
        raise ValueError(f"{value} is not a byte (0 to 255)")
    return value


def read_only(array):
    """A read-only view of an array of the record."""
    view = np.asarray(array)[...]
    view.flags.writeable = False
    return view
