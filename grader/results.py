"""What goes into grading a testcase and what comes out: plain data, quick to import."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from abi.candidate import EmulatorError
from abi.loader import Emulator
from grader import refcache
from grader.manifest import Case

FORMAT = 2
"""Bumped when results change meaning: ``--resume`` then starts over."""


@dataclass(frozen=True)
class Task:
    """Everything needed to grade one testcase."""

    case: Case
    candidate: Emulator
    reference: Emulator
    cache: Path
    corpus_folder: Path | None = None
    boot_frames: int = 0
    emit_video: bool = False
    hints: bool = False
    also: Emulator | None = None
    """A second reference (``beyond``)."""

    def key(self) -> str:
        """Identity of the result: same key, same bytes. EmulatorError when the reference lacks the testcase."""
        case = self.case
        also = ""
        if self.also is not None:
            with contextlib.suppress(EmulatorError):  # it lacks the testcase, which is no fault
                also = refcache.identity(case, self.also)
        parts = [
            FORMAT,
            self.candidate.identity,
            str(self.candidate.limits),
            refcache.identity(case, self.reference),
            case.id,
            case.section,
            case.subsystem,
            case.audio_subsystem,
            case.rom_sha256,
            case.replay_sha256,
            case.frames,
            case.scoring_mode,
            self.boot_frames,
            self.emit_video,
            self.hints,
            self.also is not None,
            also,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass
class Row:
    """The scores of one testcase, as ``summary.json`` has them, and what is worth knowing besides."""

    id: str
    section: str
    subsystem: str
    audio_subsystem: str | None
    video_score: float
    audio_score: float | None
    skip_reason: str | None = None
    notes: list[str] = field(default_factory=list)
    first_diverge_frame: int | None = None
    diverging_frames: int = 0
    frames: int = 0
    loudness: float = 1.0
    """The loudness term of the strict score."""
    also: dict[str, Any] | None = None
    """How the references compare, and the candidate with the second one (``grade``); None without a second one."""
    hints: dict[str, Any] = field(default_factory=dict)
    """What ``hints.of_testcase`` found."""


@dataclass
class Outcome:
    """A graded testcase: its row, its files (name -> bytes) and its page of the report."""

    row: Row
    key: str
    files: dict[str, bytes]
    page: dict[str, Any]
    log: list[str] = field(default_factory=list)

    def detail(self) -> bytes:
        """``<id>.detail.json``: what ``--resume`` and the report need; not part of the published format."""
        told = {
            "key": self.key,
            "row": vars(self.row),
            "page": self.page,
            "log": self.log,
            "files": sorted(self.files),
        }
        return dump({**told, "sha256": _sha256(told)})

    @classmethod
    def of_detail(cls, data: bytes) -> tuple[Outcome, list[str]]:
        """The outcome that ``detail`` gave, without the files' content, and their names.

        ValueError when these bytes, whatever they are, are not what ``detail`` writes.
        """
        try:
            told = json.loads(data)
            if told.pop("sha256") != _sha256(told):
                raise ValueError("damaged")
            return cls(Row(**told["row"]), told["key"], {}, told["page"], told["log"]), told["files"]
        except (AttributeError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"not written here: {error}") from None


def _sha256(data: dict[str, Any]) -> str:
    """Of everything, so that no reader has to look at the type of each entry."""
    return hashlib.sha256(dump(data)).hexdigest()


def number(value: float | None) -> str:
    """Four decimals; only a perfect score reads 1.0000."""
    if value is None:
        return "-"
    text = f"{value:.4f}"
    return "0.9999" if text == "1.0000" and value < 1.0 - 1e-9 else text


def dump(data: Any, indent: int | None = None) -> bytes:
    """JSON with sorted keys; the same bytes for the same data."""
    separators = (",", ":") if indent is None else None
    return (json.dumps(data, sort_keys=True, indent=indent, separators=separators, allow_nan=False) + "\n").encode()


def grade_case(task: Task, progress: Callable[[int], None]) -> Outcome:
    """``grade.grade_case``, whose imports (Numba, SciPy) only the worker needs."""
    from grader.grade import grade_case as work

    return work(task, progress)
