"""``tests/expectations.toml``: one row a test ROM, or one a chip revision or selection of tests in it.

A row's ``expected`` means what its ``protocol`` makes of it:

- ``6000``: the code the ROM leaves at $6000, 0 = passed;
- ``screen``: a regular expression that the text on the screen must come to match;
- ``accuracycoin``: how many of its tests must pass;
- ``picture``: the name of a picture in ``pictures``;
- ``mixer``, ``dmc``: what must be heard, see ``listening``.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .. import roms

PROTOCOLS = ("6000", "screen", "accuracycoin", "picture", "mixer", "dmc")
LETTERS = ("ascii", "low6")
FILE = "expectations.toml"
_PACKAGE = Path(__file__).parent.parent


class TableError(ValueError):
    """A table that cannot be used; the message is one line."""


@dataclass(frozen=True)
class Row:
    """What one run of a ROM must show.

    ``keys`` are (first frame, last frame, buttons); ``letters`` is how tiles of
    the screen stand for letters; ``reference`` is what the recorded reference
    shows where that differs; ``xfail`` is the reason of a known failure.
    """

    id: str
    protocol: str
    frames: int
    expected: str | int
    evidence: str
    variant: str = ""
    submapper: int | None = None
    keys: tuple[tuple[int, int, int], ...] = ()
    letters: str = "ascii"
    reference: str = ""
    xfail: str = ""

    @property
    def name(self) -> str:
        """``suite/rom``, with the variant in brackets."""
        return self.id.removesuffix(".nes") + (f" [{self.variant}]" if self.variant else "")

    @property
    def suite(self) -> str:
        return self.id.split("/")[0]

    @property
    def speaks(self) -> bool:
        """Does the ROM give its verdict without help, in a way ``romtest`` reads?"""
        return self.protocol == "6000" or (self.protocol == "screen" and not self.keys and self.letters == "ascii")

    @property
    def rom(self) -> roms.KnownRom:
        return _known()[self.id]

    def keys_at(self, frame: int) -> int:
        return next((held for first, last, held in self.keys if first <= frame <= last), 0)


DIFFERS = ("hardware", "recordings", "reference")
"""A console; the recorded reference; its program, where no recording tells."""


@dataclass(frozen=True)
class Difference:
    """A known difference: what is so, from what it differs (one of ``DIFFERS``), and how that is known."""

    what: str
    differs: str
    evidence: str


@dataclass(frozen=True)
class Table:
    rows: tuple[Row, ...]
    differences: tuple[Difference, ...]


@cache
def _known():
    return {rom.path: rom for rom in roms.known()}


def default_path() -> Path:
    """The table of this checkout, or the one installed with the package."""
    for place in (_PACKAGE.parent / "tests" / FILE, Path(sys.prefix) / "share" / "pynes_ref" / FILE):
        if place.is_file():
            return place
    raise TableError(f"this installation has no {FILE}: name a table with --table")


def load(path: Path | None = None) -> Table:
    """Read and check a table. Raises ``TableError``."""
    path = path or default_path()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        rows = tuple(_row(raw) for raw in data["rom"])
        differences = tuple(Difference(**raw) for raw in data.get("difference", ()))
    except OSError as error:
        raise TableError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise TableError(f"{path}: not such a table ({error})") from None
    for difference in differences:
        if difference.differs not in DIFFERS:
            raise TableError(f"{path}: a difference from {difference.differs!r}; there are {', '.join(DIFFERS)}")
    names = [row.name for row in rows]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"{path}: two rows for {twice[0]}")
    return Table(rows, differences)


def rows_of(sha256: str) -> list[Row]:
    """The rows of the ROM with this SHA-256; none where no table is installed."""
    try:
        return [row for row in load().rows if row.rom.sha256 == sha256]
    except TableError:
        return []


def _row(raw):
    raw = dict(raw)
    raw["keys"] = tuple((first, last, held) for first, last, held in raw.pop("keys", ()))
    row = Row(**raw)
    if row.id not in _known():
        raise TableError(f"{row.id} is no ROM of test_roms/index.toml")
    if row.protocol not in PROTOCOLS:
        raise TableError(f"{row.name}: no protocol {row.protocol!r}")
    if row.letters not in LETTERS:
        raise TableError(f"{row.name}: no letters {row.letters!r}")
    if not row.evidence or row.frames <= 0:
        raise TableError(f"{row.name}: a row needs evidence and a number of frames")
    return row
