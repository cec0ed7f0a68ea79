"""The determinism gate: the same work twice must give the same bytes.

Every testcase is recorded twice from scratch, then the candidate is graded twice with different numbers of
processes. A reference that is a recording is only graded against.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from abi.loader import Emulator
from grader import refcache, run
from grader.manifest import Corpus
from grader.precompute import precompute


def differing_files(one: Path, two: Path) -> list[str]:
    """Names of files that are not byte-identical in both folders."""
    names = {p.relative_to(f).as_posix() for f in (one, two) for p in f.rglob("*") if p.is_file()}
    return [name for name in sorted(names) if _bytes(one / name) != _bytes(two / name)]


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def gate(corpus: Corpus, candidate: Emulator, reference: Emulator, jobs: int, say: Callable[[str], None]) -> list[str]:
    """What differed, one line a file; nothing when everything is deterministic."""
    with tempfile.TemporaryDirectory(prefix="grader-gate-") as folder:
        root = Path(folder)
        faults = []
        if not reference.recorded:
            for number in ("1", "2"):
                say(f"recording {reference.title}, round {number} of 2")
                precompute(corpus, reference, root / "record" / number, None, jobs, run.Listener())
            faults = [f"recording {n}" for n in differing_files(root / "record" / "1", root / "record" / "2")]
            for case in corpus.cases:  # grade from these, without a third recording
                target = refcache.cache_path(root / "cache", case, reference)
                target.parent.mkdir(exist_ok=True)
                (root / "record" / "1" / f"{case.id}.refcache").rename(target)
        for number, processes in (("1", jobs), ("2", max(jobs - 1, 1) if jobs else 0)):
            say(f"grading {candidate.title}, round {number} of 2")
            options = run.Options(jobs=processes, cache=root / "cache")
            run.grade(corpus, candidate, reference, root / "grade" / number, options)
        return faults + [f"result {n}" for n in differing_files(root / "grade" / "1", root / "grade" / "2")]
