"""A whole grading run: tasks from a corpus, outcomes into a folder, resumable at any testcase.

Every finished testcase is on disk before the next is awaited. Files are replaced whole. ``summary.json`` and
``report.html`` come last, from the rows in manifest order.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from abi.candidate import EmulatorError
from abi.loader import Emulator
from grader import aggregate, beyond, parallel, refcache
from grader.manifest import Corpus
from grader.results import Outcome, Row, Task, dump, grade_case


@dataclass(frozen=True)
class Options:
    """How to run; what changes results is in the tasks."""

    jobs: int = 1
    resume: bool = False
    cache: Path | None = None
    emit_video: bool = False
    partial: bool = False
    """Only some testcases of the corpus: see ``aggregate``."""
    report: bool = True
    strict: bool = False
    hints: bool = False
    also: Emulator | None = None


@dataclass
class Graded:
    """A finished run: the summary, the rows in manifest order, and what happened on the way."""

    summary: dict[str, Any]
    rows: list[Row]
    out: Path
    log: list[str] = field(default_factory=list)
    resumed: int = 0


class Listener:
    """Told about a run's course; the command line shows it, tests ignore it."""

    def begin(self, ids: Sequence[str], frames: Sequence[int], resumed: int) -> None: ...

    def tick(self, done: Sequence[int]) -> None: ...

    def finished(self, number: int, row: Row) -> None: ...

    def note(self, text: str) -> None: ...


def write_file(path: Path, data: bytes) -> None:
    """Replace a file whole. An OSError names it, not the temporary file beside it."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:80]}.", suffix=".tmp", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def tasks_of(corpus: Corpus, candidate: Emulator, reference: Emulator, options: Options) -> list[Task]:
    """One task a testcase, with the corpus's budgets given to WebAssembly candidates."""
    if candidate.kind == "wasm" and candidate.limits is None:
        from abi.wasm import WasmLimits

        limits = WasmLimits(corpus.config.fuel_per_frame, corpus.config.fuel_load_rom)
        candidate = candidate.with_limits(limits)
    cache = options.cache or refcache.default_folder()
    return [
        Task(
            case,
            candidate,
            reference,
            cache,
            corpus.folder,
            corpus.config.candidate_boot_frames,
            options.emit_video,
            options.hints,
            options.also,
        )
        for case in corpus.cases
    ]


def check_opens(emulator: Emulator) -> None:
    """Set an emulator up once before anything is run, so that a hopeless one costs one clear line and not hours."""
    from abi.candidate import CandidateError, start

    if emulator.kind in ("pynes_ref", "folder", "recording") and not emulator.bug:
        return  # nothing that could fail is done before a ROM is loaded
    try:
        instance = emulator.open()
        try:
            start(instance)
        finally:
            close = getattr(instance, "close", None)
            if close is not None:
                close()
    except CandidateError as error:
        raise EmulatorError(f"{emulator.name}: {error}") from None


def _finished_before(task: Task, out: Path) -> Outcome | None:
    """The outcome of an earlier run in this folder, if it is of exactly this task and all its files are there."""
    path = out / f"{task.case.id}.detail.json"
    try:
        outcome, files = Outcome.of_detail(path.read_bytes() if path.is_file() else b"")
        whole = all((out / name).is_file() for name in files)
        return outcome if whole and outcome.key == task.key() else None
    except (OSError, ValueError, EmulatorError):
        return None


def grade(
    corpus: Corpus,
    candidate: Emulator,
    reference: Emulator,
    out: Path,
    options: Options | None = None,
    listener: Listener | None = None,
    executor: Callable[..., None] = parallel.run,
) -> Graded:
    """Grade a candidate. EmulatorError when it or the reference cannot be used at all."""
    options = options or Options()
    listener = listener or Listener()
    tasks = tasks_of(corpus, candidate, reference, options)
    check_opens(tasks[0].candidate)
    if options.also is not None:
        check_opens(options.also)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise EmulatorError(f"{out} is there and no folder: move it away, or name another OUT") from None
    outcomes: dict[int, Outcome] = {}
    if options.resume:
        for number, task in enumerate(tasks):
            before = _finished_before(task, out)
            if before is not None:
                outcomes[number] = before
    resumed = len(outcomes)
    todo = [number for number in range(len(tasks)) if number not in outcomes]
    listener.begin([tasks[n].case.id for n in todo], [tasks[n].case.frames for n in todo], resumed)

    def finished(place: int, result: Any) -> None:
        number = todo[place]
        outcome = _dead(tasks[number], result) if isinstance(result, parallel.WorkerDied) else result
        for name, data in outcome.files.items():
            write_file(out / name, data)
        write_file(out / f"{tasks[number].case.id}.detail.json", outcome.detail())
        outcome.files = {}
        outcomes[number] = outcome
        for line in outcome.log:
            listener.note(line)
        listener.finished(place, outcome.row)

    executor(
        grade_case,
        [tasks[n] for n in todo],
        [tasks[n].case.frames for n in todo],
        jobs=options.jobs,
        finished=finished,
        tick=listener.tick,
    )
    ordered = [outcomes[number] for number in range(len(tasks))]
    rows = [outcome.row for outcome in ordered]
    result = aggregate.summary(
        tasks[0].candidate.title, tasks[0].candidate.identity, rows, corpus.config, partial=options.partial
    )
    if options.strict:
        result["strict"] = beyond.strict(rows, corpus.config, options.partial)
    if options.also is not None:
        result["both"] = beyond.both(rows, corpus.config, options.also.title, options.partial)
    if options.hints:
        from grader import hints

        result["hints"] = {
            "subsystems": hints.by_subsystem(rows),
            "testcases": {row.id: row.hints for row in rows if row.hints},
        }
    write_file(out / "summary.json", dump(result, indent=2))
    if options.report:
        from grader.report import render

        write_file(out / "report.html", render(result, ordered, reference.title))
    log = [line for outcome in ordered for line in outcome.log]
    return Graded(result, rows, out, log, resumed)


def _dead(task: Task, error: parallel.WorkerDied) -> Outcome:
    case = task.case
    heard = 0.0 if case.audio_subsystem is not None else None
    row = Row(case.id, case.section, case.subsystem, case.audio_subsystem, 0.0, heard, str(error), frames=case.frames)
    return Outcome(row, "", {}, {})
