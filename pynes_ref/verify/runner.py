"""All rows of the table in several processes, the long ones first."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from pathlib import Path

from .. import roms
from . import protocols
from .table import Row


@dataclass(frozen=True)
class Result:
    """A row, what its run showed (None: the ROM is not here), and what that means."""

    row: Row
    outcome: protocols.Outcome | None

    @property
    def status(self) -> str:
        """``passed``, ``FAILED``, ``known failure``, ``unexpected pass`` or ``missing``."""
        if self.outcome is None:
            return "missing"
        if self.row.xfail:
            return "unexpected pass" if self.outcome.passed else "known failure"
        return "passed" if self.outcome.passed else "FAILED"

    @property
    def surprise(self) -> bool:
        return self.status not in ("passed", "known failure")


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_row(row: Row, path: Path) -> protocols.Outcome:
    """Run one row; a fault of the console is an outcome, too."""
    try:
        return protocols.run(row, path)
    except Exception as error:  # a table of results must not end with the first broken one
        return protocols.Outcome(False, f"{type(error).__name__}: {error}", 0)


def run_all(rows, jobs: int | None = None, done=None) -> list[Result]:
    """Results in the order of ``rows``. ``done(n)`` is called after each of them."""
    rows = list(rows)
    paths = [roms.find(row.rom.sha256) for row in rows]
    outcomes: list[protocols.Outcome | None] = [None] * len(rows)
    order = sorted((i for i, path in enumerate(paths) if path), key=lambda i: -rows[i].frames)
    jobs = max(1, min(jobs or processors(), len(order)))
    if jobs == 1:
        for n, i in enumerate(order):
            outcomes[i] = run_row(rows[i], paths[i])
            if done:
                done(n)
    else:
        others = set(active_children())
        pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
        try:
            waiting = {pool.submit(run_row, rows[i], paths[i]): i for i in order}
            for n, future in enumerate(as_completed(waiting)):
                outcomes[waiting[future]] = future.result()
                if done:
                    done(n)
        except BaseException:
            for worker in set(active_children()) - others:
                worker.terminate()  # a long run would keep the terminal for seconds
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    return [Result(row, outcome) for row, outcome in zip(rows, outcomes)]
