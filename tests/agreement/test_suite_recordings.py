"""The recorded runs of all third-party test ROMs: checksum of every frame, number of samples and checksum of the sound.

``exceptions.toml`` lists the runs that must not agree, because hardware does something else. Those are expected to
differ in exactly the listed aspects: one that agrees is as much a fault as an unlisted difference.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from agreement_tools import by_checksums
from places import missing

from pynes_ref.roms import find, known

ASPECTS = {"frames", "counts", "sound"}
ROMS = {row.path: row for row in known()}
EXCEPTIONS = {
    entry["rom"]: entry
    for entry in tomllib.loads((Path(__file__).parent / "exceptions.toml").read_text("utf-8")).get("exception", [])
}


def archive(recordings, row):
    return recordings / "suites" / f"{row.sha256[:16]}.npz"


def test_every_rom_has_a_recording(recordings):
    here = {path.name for path in (recordings / "suites").glob("*.npz")}
    assert here == {archive(recordings, row).name for row in ROMS.values()}


def test_exceptions_are_well_formed():
    for rom, entry in EXCEPTIONS.items():
        assert rom in ROMS, f"{rom} is no ROM of test_roms/index.toml"
        assert entry["differs"], rom
        assert set(entry["differs"]) <= ASPECTS, rom
        assert len(entry["reason"]) > 20, rom
        assert len(entry["evidence"]) > 20, rom


def compare(path, recordings, options=None):
    row = ROMS[path]
    rom = find(row.sha256)
    if rom is None:
        missing(f"{path} is not here (SHA-256 {row.sha256})")
    with np.load(archive(recordings, row)) as npz:
        recorded = {name: npz[name] for name in npz}
    return by_checksums(rom.read_bytes(), recorded, options)


@pytest.mark.parametrize("path", list(ROMS))
def test_suite(path, recordings, report):
    found = compare(path, recordings)
    entry = EXCEPTIONS.get(path)
    report("excepted" if entry else "suites", found)
    expected = set(entry["differs"]) if entry else set()
    surprises = [text for aspect, text in found.faults.items() if aspect not in expected]
    agrees = [aspect for aspect in sorted(expected) if aspect not in found.faults]
    assert not surprises, f"{path}:\n" + "\n".join(surprises)
    assert not agrees, f"{path} agrees in {', '.join(agrees)}: take that out of exceptions.toml ({entry['reason']})"


@pytest.mark.parametrize("path", [path for path, entry in EXCEPTIONS.items() if "agrees" in entry])
def test_an_exception_has_one_cause(path, recordings):
    """Built otherwise in just that, our console agrees with the whole recording."""
    found = compare(path, recordings, EXCEPTIONS[path]["agrees"])
    assert not found.faults, found.told()
