"""``grader precompute``: the reference recorded over a whole corpus, on all cores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from abi.candidate import EmulatorError
from abi.loader import Emulator
from abi.recorded import Recording, RecordingError
from grader import parallel, refcache
from grader.manifest import Case, Corpus
from grader.run import Listener


@dataclass(frozen=True)
class Job:
    """One recording to be there; ``path`` None: in the cache."""

    case: Case
    reference: Emulator
    cache: Path
    path: Path | None


def work(job: Job, progress: Callable[[int], None]) -> tuple[bool, str]:
    """Make the recording unless a good one is there: (made, note)."""
    path = job.path or refcache.cache_path(job.cache, job.case, job.reference)
    note = ""
    if path.is_file():
        try:
            if refcache.matches(Recording(path).header, job.case, job.reference.identity) is None:
                return False, ""
        except RecordingError as error:
            note = f"{error}; recorded again"
    record = refcache.record if job.path else refcache.record_sealed
    record(path, job.case, job.reference, progress)
    return True, note


def precompute(
    corpus: Corpus, reference: Emulator, into: Path | None, cache: Path | None, jobs: int, listener: Listener
) -> tuple[int, int]:
    """Record every testcase that is not recorded yet: (made, already there)."""
    if reference.recorded:
        raise EmulatorError(f"{reference.name} is a recording already: nothing to precompute")
    folder = cache or refcache.default_folder()
    todo = [Job(case, reference, folder, into and into / f"{case.id}.refcache") for case in corpus.cases]
    listener.begin([case.id for case in corpus.cases], [case.frames for case in corpus.cases], 0)
    made = 0

    def finished(number: int, result: object) -> None:
        nonlocal made
        if isinstance(result, parallel.WorkerDied):
            raise EmulatorError(f"{corpus.cases[number].id}: {result}")
        done, note = result  # type: ignore[misc]
        made += done
        if note:
            listener.note(note)

    parallel.run(work, todo, [case.frames for case in corpus.cases], jobs=jobs, finished=finished, tick=listener.tick)
    return made, len(todo) - made
