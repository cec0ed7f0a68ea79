"""A corpus: ``testcases.json``, ``grader.yaml``, ROMs under ``roms/``, replays under ``replays/``.

ROMs are found by their SHA-256, whatever they are called. Everything is checked on load, and every fault
comes in one list: mending a corpus one error at a time is tedious.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from grader.replay import NO_REPLAY_SHA256, Movie, MovieError, load_hashed, past_the_end

VIDEO_SECTIONS = ("procedural", "replay")
SECTIONS = (*VIDEO_SECTIONS, "audio")
MODES = ("frame_mean", "endstate")
MAX_FRAMES = 1_000_000
MAX_ROM_BYTES = 8 * 1024 * 1024  # the ABI's ROM buffer
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")  # becomes a file name: nothing that could leave the folder


class CorpusError(Exception):
    """A corpus that cannot be graded; ``faults`` lists everything that is wrong with it."""

    def __init__(self, folder: Path, faults: list[str]) -> None:
        self.folder, self.faults = folder, faults
        count = f"{len(faults)} fault{'s' * (len(faults) != 1)}"
        super().__init__(f"{folder}: {count} in this corpus\n" + "\n".join(f"  - {fault}" for fault in faults))


class UnknownTestcase(CorpusError):
    """Testcases asked for that a corpus lacks: one line."""

    def __init__(self, folder: Path, unknown: list[str], ids: list[str]) -> None:
        close = [i for name in unknown for i in get_close_matches(name, ids, 4, 0.5)]
        told = f"did you mean {', '.join(dict.fromkeys(close))}?" if close else f"there are {', '.join(ids)}"
        self.folder, self.faults = folder, [f"there is no testcase {', '.join(map(repr, unknown))}; {told}"]
        Exception.__init__(self, self.faults[0])


@dataclass(frozen=True)
class Case:
    """One testcase with its ROM's path and its input (one byte of buttons a frame)."""

    id: str
    section: str
    subsystem: str
    audio_subsystem: str | None
    rom_sha256: str
    rom_name: str
    replay: str
    frames: int
    description: str
    scoring_mode: str
    rom_path: Path = field(compare=False)
    replay_sha256: str = NO_REPLAY_SHA256
    keys: bytes = field(default=b"", repr=False)

    def rom(self) -> bytes:
        """The ROM's bytes, checked against the hash once more."""
        data = self.rom_path.read_bytes()
        if hashlib.sha256(data).hexdigest() != self.rom_sha256:
            raise OSError(f"{self.rom_path} changed while it was in use")
        return data


@dataclass(frozen=True)
class Config:
    """``grader.yaml``."""

    candidate_boot_frames: int = 0
    fuel_per_frame: int = 500_000_000
    fuel_load_rom: int = 60_000_000_000
    section_weights: Mapping[str, float] = field(
        default_factory=lambda: {"procedural": 0.20, "replay": 0.60, "audio": 0.20}
    )
    subsystem_weights: Mapping[str, Mapping[str, float]] = field(
        default_factory=lambda: {
            "procedural": {"cpu": 0.35, "ppu": 0.30, "apu": 0.15, "mapper": 0.20},
            "replay": {"gameplay": 1.0},
            "audio": {"apu": 0.5, "game_audio": 0.5},
        }
    )


@dataclass(frozen=True)
class Corpus:
    """A corpus without faults. ``notes`` are worth showing, no more."""

    folder: Path
    cases: tuple[Case, ...]
    config: Config
    notes: tuple[str, ...] = ()

    def only(self, ids: Iterable[str]) -> Corpus:
        """The corpus with these testcases alone, in the manifest's order. Raises ``UnknownTestcase``."""
        wanted, known = list(ids), [case.id for case in self.cases]
        if unknown := [i for i in wanted if i not in known]:
            raise UnknownTestcase(self.folder, unknown, known)
        return Corpus(self.folder, tuple(c for c in self.cases if c.id in wanted), self.config, self.notes)


def load_corpus(
    folder: str | Path,
    *,
    allow_empty_weights: bool = False,
    config: str | Path | None = None,
) -> Corpus:
    """Read and check a corpus; CorpusError with every fault found.

    ``allow_empty_weights``: accept a weight that no testcase stands behind (its subsystem then counts as 0).
    The ROMs and replays of the built-in corpus are where ``builtin`` says, those of others in their folder.
    """
    folder = Path(folder)
    faults: list[str] = []
    notes: list[str] = []
    if not folder.is_dir():
        raise CorpusError(folder, ["no such folder"])
    settings = _load_config(Path(config) if config else folder / "grader.yaml", config is not None, faults, notes)
    from grader import builtin

    roms, replays = builtin.sources() if builtin.is_it(folder) else (folder / "roms", folder / "replays")
    sources = _Sources(_Roms(roms, notes), replays)
    cases = _load_cases(folder, sources, faults, notes)
    if not faults or cases:
        _check_weights(cases, settings, faults, allow_empty_weights)
    if faults:
        raise CorpusError(folder, faults)
    return Corpus(folder, tuple(cases), settings, tuple(notes))


# ---- testcases.json --------------------------------------------------------------------------------------------------


class _Roms:
    """ROMs by hash. The manifest's names are tried first; only where they fail is everything read."""

    def __init__(self, folder: Path, notes: list[str]) -> None:
        self.folder, self.notes = folder, notes
        self._known: dict[str, Path] = {}
        self._complete = False

    def find(self, sha256: str, name: str) -> Path | None:
        if sha256 not in self._known and ".." not in Path(name).parts and not Path(name).is_absolute():
            self._read(self.folder / name)
        if sha256 not in self._known and not self._complete:
            for path in sorted(self.folder.rglob("*")):
                self._read(path)
            self._complete = True
        return self._known.get(sha256)

    def _read(self, path: Path) -> None:
        try:
            if path.is_file() and path.stat().st_size <= MAX_ROM_BYTES:
                self._known.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
        except (OSError, ValueError) as error:  # ValueError: a NUL in a name
            self.notes.append(f"{path}: {getattr(error, 'strerror', None) or error}")


@dataclass
class _Sources:
    """Where a corpus's files are, and the replays read so far."""

    roms: _Roms
    replay_folder: Path
    replays: dict[str, tuple[Movie, str] | None] = field(default_factory=dict)


def _load_cases(folder: Path, sources: _Sources, faults: list[str], notes: list[str]) -> list[Case]:
    entries = _read_manifest(folder / "testcases.json", faults)
    cases, seen = [], set()
    for number, entry in enumerate(entries):
        case = _case(number, entry, sources, faults, notes)
        if case is None:
            continue
        if case.id in seen:
            faults.append(f"{case.id}: duplicate id")
        seen.add(case.id)
        cases.append(case)
    return cases


def _read_manifest(path: Path, faults: list[str]) -> list[Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        faults.append(f"{path.name}: {error.strerror or error}")
        return []
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        faults.append(f"{path.name}{where}: not JSON ({getattr(error, 'msg', error)})")
        return []
    entries = data.get("testcases") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        faults.append(f'{path.name}: expected {{"testcases": [...]}}')
        return []
    if not entries:
        faults.append(f"{path.name}: there are no testcases")
    return entries


_FIELDS: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "section": (str,),
    "subsystem": (str,),
    "rom_sha256": (str,),
    "rom_name": (str,),
    "frames": (int,),
}
_OPTIONAL_FIELDS: dict[str, tuple[tuple[type, ...], Any]] = {
    "audio_subsystem": ((str, type(None)), None),
    "replay": ((str, type(None)), ""),
    "description": ((str,), ""),
    "scoring_mode": ((str,), "frame_mean"),
}


def _case(number: int, entry: Any, sources: _Sources, faults: list[str], notes: list[str]) -> Case | None:
    if not isinstance(entry, dict):
        faults.append(f"testcase {number}: not an object")
        return None
    name = entry.get("id") if isinstance(entry.get("id"), str) else f"testcase {number}"
    before = len(faults)
    for key, types in _FIELDS.items():
        if key not in entry:
            faults.append(f"{name}: {key} is missing")
        elif not isinstance(entry[key], types) or isinstance(entry[key], bool):
            faults.append(f"{name}: {key} must be a {types[0].__name__}, not {entry[key]!r}")
    values = dict(entry)
    for key, (types, default) in _OPTIONAL_FIELDS.items():
        values.setdefault(key, default)
        if not isinstance(values[key], types):
            faults.append(f"{name}: {key} must be a string, not {values[key]!r}")
    if len(faults) > before:
        return None
    if not _ID.fullmatch(values["id"]):
        faults.append(f"{name!r}: an id is letters, digits, '.', '_' and '-', at most 100, and begins with no dot")
    if values["section"] not in VIDEO_SECTIONS:
        faults.append(f"{name}: unknown section {values['section']!r} (known: {', '.join(VIDEO_SECTIONS)})")
    if values["scoring_mode"] not in MODES:
        faults.append(f"{name}: unknown scoring_mode {values['scoring_mode']!r} (known: {', '.join(MODES)})")
    if not 1 <= values["frames"] <= MAX_FRAMES:
        faults.append(f"{name}: frames must be from 1 to {MAX_FRAMES}, not {values['frames']}")
    sha256 = values["rom_sha256"].lower()
    rom = None
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        faults.append(f"{name}: rom_sha256 must be 64 hexadecimal digits")
    else:
        rom = sources.roms.find(sha256, values["rom_name"])
        if rom is None:
            where = f"{sources.roms.folder.name}/"
            faults.append(f"{name}: no ROM under {where} has SHA-256 {sha256} (it is {values['rom_name']!r})")
    movie, replay_sha256 = _replay(name, values["replay"] or "", values["frames"], sources, faults, notes)
    if len(faults) > before or rom is None:
        return None
    return Case(
        id=values["id"],
        section=values["section"],
        subsystem=values["subsystem"],
        audio_subsystem=values["audio_subsystem"],
        rom_sha256=sha256,
        rom_name=values["rom_name"],
        replay=values["replay"] or "",
        frames=values["frames"],
        description=values["description"],
        scoring_mode=values["scoring_mode"],
        rom_path=rom,
        replay_sha256=replay_sha256,
        keys=movie.keys(values["frames"]),
    )


def _replay(
    name: str, replay: str, frames: int, sources: _Sources, faults: list[str], notes: list[str]
) -> tuple[Movie, str]:
    if not replay:
        return Movie(), NO_REPLAY_SHA256
    loaded = sources.replays
    root = sources.replay_folder.resolve()
    path = (root / replay).resolve()
    if root not in path.parents:
        faults.append(f"{name}: the replay {replay!r} is outside {root.name}/")
        return Movie(), NO_REPLAY_SHA256
    if replay not in loaded:
        try:
            loaded[replay] = load_hashed(path)
        except (MovieError, OSError) as error:
            faults.append(f"{name}: {error}")
            loaded[replay] = None
    found = loaded[replay]
    if found is None:
        return Movie(), NO_REPLAY_SHA256
    late = past_the_end(found[0], frames)
    if late:
        (faults if late[1] else notes).append(f"{name}: replay {replay}: {late[0]}")
    return found


# ---- grader.yaml -----------------------------------------------------------------------------------------------------


def _load_config(path: Path, must_exist: bool, faults: list[str], notes: list[str]) -> Config:
    import yaml

    try:
        data = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        if must_exist:
            faults.append(f"{path}: no such file")
        else:
            notes.append(f"{path.name} not found: default weights and budgets")
        return Config()
    except OSError as error:
        faults.append(f"{path.name}: {error.strerror or error}")
        return Config()
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        faults.append(f"{path.name}{where}: not YAML ({getattr(error, 'problem', None) or error})")
        return Config()
    if data is None:
        data = {}
    if not isinstance(data, dict):
        faults.append(f"{path.name}: expected settings, one a line")
        return Config()
    default = Config()
    known = {"candidate_boot_frames", "fuel_per_frame", "fuel_load_rom", "section_weights", "subsystem_weights"}
    faults.extend(f"{path.name}: unknown setting {key!r}" for key in data if key not in known)
    numbers = {}
    for key, least, most in (
        ("candidate_boot_frames", 0, 600),
        ("fuel_per_frame", 1, 10**12),
        ("fuel_load_rom", 1, 10**13),
    ):
        value = data.get(key, getattr(default, key))
        if type(value) is not int or not least <= value <= most:
            faults.append(f"{path.name}: {key} must be a whole number from {least} to {most}, not {value!r}")
            value = getattr(default, key)
        numbers[key] = value
    sections = data.get("section_weights", default.section_weights)
    subsystems = data.get("subsystem_weights", default.subsystem_weights)
    if not _weights_ok(sections, f"{path.name}: section_weights", faults):
        sections = default.section_weights
    if not isinstance(subsystems, Mapping):
        faults.append(f"{path.name}: subsystem_weights must list the sections' subsystems")
        subsystems = default.subsystem_weights
    good = {}
    for section, weights in subsystems.items():
        if _weights_ok(weights, f"{path.name}: subsystem_weights of {section}", faults):
            good[section] = dict(weights)
    return Config(**numbers, section_weights=dict(sections), subsystem_weights=good)


def _weights_ok(weights: Any, where: str, faults: list[str]) -> bool:
    if not isinstance(weights, Mapping) or not weights:
        faults.append(f"{where}: expected names with their weights")
        return False
    before = len(faults)
    for name, weight in weights.items():
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not math.isfinite(weight) or weight < 0:
            faults.append(f"{where}: the weight of {name} must be a number of at least 0, not {weight!r}")
    if len(faults) == before and abs(sum(weights.values()) - 1.0) > 1e-6:
        faults.append(f"{where}: they add up to {sum(weights.values()):g}, not 1")
    return len(faults) == before


def _check_weights(cases: list[Case], config: Config, faults: list[str], allow_empty: bool) -> None:
    """Every testcase must count, and every weight must have a testcase: a perfect candidate scores 1."""
    for section in config.section_weights:
        if section not in SECTIONS:
            faults.append(f"grader.yaml: unknown section {section!r} (known: {', '.join(SECTIONS)})")
    for section in config.subsystem_weights:
        if section not in SECTIONS:
            faults.append(f"grader.yaml: subsystem weights for an unknown section {section!r}")
    counted: dict[str, set[str]] = {section: set() for section in SECTIONS}
    for case in cases:
        counted[case.section].add(case.subsystem) if case.section in counted else None
        if case.audio_subsystem is not None:
            counted["audio"].add(case.audio_subsystem)
        for section, subsystem in ((case.section, case.subsystem), ("audio", case.audio_subsystem)):
            if subsystem is not None and subsystem not in config.subsystem_weights.get(section, {}):
                faults.append(f"{case.id}: {section}/{subsystem} has no weight, so this testcase would not count")
    if allow_empty:
        return
    for section, weight in config.section_weights.items():
        if weight and section in SECTIONS and not config.subsystem_weights.get(section):
            faults.append(f"grader.yaml: section {section} has a weight but no subsystems")
        for subsystem, part in config.subsystem_weights.get(section, {}).items():
            if weight and part and subsystem not in counted.get(section, set()):
                faults.append(
                    f"grader.yaml: {section}/{subsystem} has weight {part:g} but no testcase, so nobody could score 1"
                )
