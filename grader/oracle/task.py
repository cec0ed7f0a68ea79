"""``oracle task``: the workspace of whoever builds an emulator against the oracle.

Everything in it may be seen by them, so nothing of the reference is: the client is a copy of one file that imports
nothing, and of the ROMs only those are handed out that the corpus does not grade.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pynes_ref import bundled
from pynes_ref import roms as known_roms

HERE = Path(__file__).parent
TEMPLATES = HERE / "templates"
STARTERS = {"c": "C", "zig": "Zig", "rust": "Rust", "assemblyscript": "AssemblyScript"}
MAX_ROM_BYTES = 8 * 1024 * 1024


class TaskError(Exception):
    """No workspace can be made: one line."""


@dataclass
class Made:
    """What a workspace was made of."""

    folder: Path
    roms: list[str] = field(default_factory=list)
    starters: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def make(folder: Path, starter: str | None = None, corpus: Path | None = None, more: list[Path] | None = None) -> Made:
    """Lay out a workspace in a new or empty folder."""
    if starter is not None and starter not in STARTERS:
        raise TaskError(f"there is no starter {starter!r}; choose from {', '.join(STARTERS)}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TaskError(f"{folder} is there already and not empty")
    made = Made(folder)
    graded = _graded(corpus, made)
    folder.mkdir(parents=True, exist_ok=True)
    _roms(folder / "roms", graded, more or [], made)
    _documents(folder, starter, len(made.roms))
    for name in STARTERS:
        _starter(name, folder / "starters" / name)
        made.starters.append(name)
    if starter is not None:
        _starter(starter, folder)
    return made


def _documents(folder: Path, starter: str | None, roms: int) -> None:
    abi = HERE.parent.parent / "abi"
    spec = folder / "spec"
    spec.mkdir()
    for name in ("ABI.md", "nes_emu.h", "nes_palette.pal"):
        shutil.copyfile(abi / name, spec / name)
    shutil.copyfile(TEMPLATES / "spec" / "HARDWARE.md", spec / "HARDWARE.md")
    begin = "Copy a starter here to begin." if starter is None else f"The {STARTERS[starter]} starter is here already."
    task = (TEMPLATES / "TASK.md").read_text("utf-8")
    programs = f"{roms} program{'s' * (roms > 1)} to develop with, listed in `roms/README.md`. None of them is graded"
    place = "roms/NAME.nes"
    if not roms:
        programs, place = "nothing yet: no programs came with this task. Bring some, or write your own", "NAME.nes"
    words = {"STARTERS": ", ".join(STARTERS.values()), "BEGIN": begin, "ROMS": programs, "ROM": place}
    for word, text in words.items():
        task = task.replace(f"@{word}@", text)
    (folder / "TASK.md").write_text(task, "utf-8")
    shutil.copyfile(HERE / "client.py", folder / "oracle")
    (folder / "oracle").chmod(0o755)
    shutil.copyfile(TEMPLATES / "gitignore", folder / ".gitignore")
    shutil.copyfile(TEMPLATES / "compose.yaml", folder / "compose.yaml")
    shutil.copytree(TEMPLATES / "containers", folder / "containers")


def _starter(name: str, into: Path) -> None:
    skipped = shutil.ignore_patterns("node_modules", "target", "*.wasm", ".zig-cache", "__pycache__")
    shutil.copytree(TEMPLATES / "starters" / name, into, dirs_exist_ok=True, ignore=skipped)
    if name == "c":
        shutil.copyfile(HERE.parent.parent / "abi" / "nes_emu.h", into / "nes_emu.h")


def _graded(corpus: Path | None, made: Made) -> set[str]:
    """SHA-256 of the ROMs that are graded."""
    from grader.builtin import NoBuiltinCorpus
    from grader.builtin import folder as builtin
    from grader.manifest import CorpusError, load_corpus

    try:
        found = load_corpus(corpus or builtin(), allow_empty_weights=True)
    except NoBuiltinCorpus:
        made.notes.append("no corpus: name the one that will be graded with --corpus, or its ROMs may be handed out")
        return set()
    except CorpusError as error:
        raise TaskError(str(error)) from None
    return {case.rom_sha256 for case in found.cases}


def _candidates(more: list[Path]) -> Iterator[tuple[str, Path, str]]:
    """Name, file and a word about every ROM that might be handed out."""
    try:
        own = bundled.folder("test_roms")
        for path in sorted(own.glob("*.nes")):
            yield path.name, path, "comes with the oracle, MIT licence"
    except FileNotFoundError:
        pass
    for row in known_roms.known():
        path = known_roms.find(row.sha256)
        if path is not None:
            yield row.path, path, f"{row.repository}, licence: {row.licence}"
    for folder in more:
        if not folder.is_dir():
            raise TaskError(f"{folder} is not a folder")
        for path in sorted(folder.rglob("*.nes")):
            yield path.relative_to(folder).as_posix(), path, "given"


def _roms(into: Path, graded: set[str], more: list[Path], made: Made) -> None:
    into.mkdir()
    seen: set[str] = set()
    rows, kept_back = [], 0
    for name, path, word in _candidates(more):
        if path.stat().st_size > MAX_ROM_BYTES:
            continue
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        if digest in graded:
            kept_back += digest not in seen
            seen.add(digest)
            continue
        target = into / name
        if digest in seen or target.exists():
            continue
        seen.add(digest)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        made.roms.append(name)
        rows.append(f"| `{name}` | {word} | `{digest[:16]}` |")
    if kept_back:
        made.notes.append(f"{kept_back} ROMs are graded and were kept back")
    if not made.roms:
        made.notes.append("no development ROMs: get some with `pynes-ref roms fetch`, or name a folder with --roms")
    head = "# Programs to develop with\n\nNone of these is graded.\n\n| File | From | SHA-256 |\n|---|---|---|\n"
    if not rows:
        head = "# Programs to develop with\n\nNone came with this task.\n"
    (into / "README.md").write_text(head + "".join(f"{row}\n" for row in rows), "utf-8")
