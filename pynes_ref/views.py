"""What a console shows of its insides: memory without side effects, registers by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import index
from typing import overload

import numpy as np


class Registers:
    """Live view of some integers of one section of the console's record.

    ``names`` are all of them; ``limits`` gives the greatest value of each that
    can be assigned to. AttributeError for any other, ValueError for a value
    that the register cannot hold.
    """

    __slots__ = ("_limits", "_names", "_section")

    def __init__(self, section: np.void, names: Mapping[str, str], limits: Mapping[str, int]):
        object.__setattr__(self, "_section", section)
        object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_limits", limits)

    def __getattr__(self, name: str) -> int:
        try:
            return int(self._section[self._names[name]])
        except KeyError:
            raise AttributeError(f"no register {name!r}; there are {', '.join(self._names)}") from None

    def __setattr__(self, name: str, value: int) -> None:
        if name not in self._limits:
            can = ", ".join(self._limits) or "none"
            raise AttributeError(f"register {name!r} cannot be set; those that can: {can}")
        value = index(value)
        if not 0 <= value <= self._limits[name]:
            raise ValueError(f"{name} must be from 0 to {self._limits[name]:#x}, not {value}")
        self._section[self._names[name]] = value

    def __dir__(self) -> list[str]:
        return ["as_dict", *self._names]

    def as_dict(self) -> dict[str, int]:
        """All registers as ``{name: int}``."""
        return {name: getattr(self, name) for name in self._names}

    def __repr__(self) -> str:
        return "<" + " ".join(f"{name}={value:#x}" for name, value in self.as_dict().items()) + ">"


class Memory:
    """The CPU's address space: ``memory[a]``, ``memory[a:b]`` read without side effects, ``memory[a] = v`` writes.

    Reads return ``int`` or, for a slice, ``bytes``. A write is what the CPU's
    would be (a register or a board reacts to it), but takes no time. IndexError
    for an address outside $0000-$FFFF, ValueError for what is no byte.
    """

    __slots__ = ("_peek", "_peek_range", "_poke")

    def __init__(
        self,
        peek: Callable[[int], int],
        poke: Callable[[int, int], None],
        peek_range: Callable[[int, int], bytes],
    ):
        self._peek = peek
        self._peek_range = peek_range
        self._poke = poke

    @overload
    def __getitem__(self, where: int) -> int: ...
    @overload
    def __getitem__(self, where: slice) -> bytes: ...
    def __getitem__(self, where: int | slice) -> int | bytes:
        if isinstance(where, slice):
            start, stop, step = where.indices(0x10000)
            if step == 1:
                return self._peek_range(start, stop)
            return bytes(self._peek(a) for a in range(start, stop, step))
        return self._peek(_address(where))

    def __setitem__(self, where: int | slice, value: int | Iterable[int]) -> None:
        if not isinstance(where, slice):
            self._poke(_address(where), _byte(value))
            return
        places = range(*where.indices(0x10000))
        values = [_byte(v) for v in value]
        if len(values) != len(places):
            raise ValueError(f"{len(values)} bytes for {len(places)} addresses")
        for a, v in zip(places, values, strict=True):
            self._poke(a, v)

    def __len__(self) -> int:
        return 0x10000


def _address(value):
    value = index(value)
    if not 0 <= value <= 0xFFFF:
        raise IndexError(f"address {value:#x} is not in $0000-$FFFF")
    return value


def _byte(value):
    value = index(value)
    if not 0 <= value <= 0xFF:
        raise ValueError(f"{value} is not a byte (0 to 255)")
    return value


def read_only(array: np.ndarray) -> np.ndarray:
    """A read-only view of an array of the record."""
    view = np.asarray(array)[...]
    view.flags.writeable = False
    return view
