"""Many tasks on all cores: worker processes, live progress, clean interruption.

Tasks start longest first; outcomes are handed over as they finish and belong to their task's number, so the
order of finishing never shows in a result. A worker that dies (killed, out of memory) takes no other task along:
what was under way runs again, one task a process, and a task that dies alone is reported as dead.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from grader import refcache

Worker = Callable[[Any, Callable[[int], None]], Any]

_counters: Any = None
_forks: Any = None
"""The context whose workers are forks of a warm process (``start_early``)."""


class WorkerDied(Exception):
    """A task's process died under it, twice."""


def default_jobs() -> int:
    """Cores this process may use."""
    with contextlib.suppress(AttributeError):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def start_early(core: bool = False) -> None:
    """Have a process load what workers need while this one still reads its corpus; workers are then forks of it.

    Only for programs that grade once and end: the workers see the environment as it is now. ``core``: the console,
    too. Does nothing where forking is not safe.
    """
    global _forks
    if not sys.platform.startswith("linux") or _forks is not None:
        return
    _one_thread()
    _forks = multiprocessing.get_context("forkserver")
    _forks.set_forkserver_preload(["grader.warm", "grader.warm_core"] if core else ["grader.warm"])
    from multiprocessing import forkserver

    forkserver.ensure_running()


def _one_thread() -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def _begin(counters: Any) -> None:
    global _counters
    _counters = counters
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    signal.signal(signal.SIGTERM, lambda *_: _leave())  # whose way to end a worker this is
    _one_thread()
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    """A killed parent must leave no worker running on."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        _leave()


def _leave() -> None:
    """End this worker at once, without a half-written recording. An exception would be taken for a task's result."""
    refcache.forget_unfinished()
    os._exit(1)


def _work(worker: Worker, number: int, task: Any) -> Any:
    def progress(done: int) -> None:
        if _counters is not None:
            _counters[number] = done

    return worker(task, progress)


def run(
    worker: Worker,
    tasks: Sequence[Any],
    sizes: Sequence[int],
    *,
    jobs: int,
    finished: Callable[[int, Any], None],
    tick: Callable[[Sequence[int]], None] | None = None,
) -> None:
    """Call ``worker(task, progress)`` for every task and ``finished(number, outcome)`` for every outcome.

    ``sizes``: frames of each task, for order and progress. ``jobs`` 0: in this process, one after the other.
    ``tick`` gets the frames done so far of every task, several times a second. An exception of a worker stops the
    rest and is raised; ``WorkerDied`` arrives as that task's outcome. KeyboardInterrupt ends the workers at once.
    """
    order = sorted(range(len(tasks)), key=lambda n: (-sizes[n], n))
    if jobs == 0:
        for number in order:
            finished(number, worker(tasks[number], lambda done: None))
        return
    context = _forks or multiprocessing.get_context("spawn")
    counters = context.Array("q", max(len(tasks), 1), lock=False)
    lost = _pool_run(worker, tasks, order, min(jobs, len(tasks)), context, counters, finished, tick)
    for number in lost:  # each in a process of its own, to find the one that kills
        if _pool_run(worker, tasks, [number], 1, context, counters, finished, tick):
            finished(number, WorkerDied("the process that graded it died (out of memory, or killed)"))


def _pool_run(
    worker: Worker,
    tasks: Sequence[Any],
    order: Sequence[int],
    jobs: int,
    context: Any,
    counters: Any,
    finished: Callable[[int, Any], None],
    tick: Callable[[Sequence[int]], None] | None,
) -> list[int]:
    """Numbers of the tasks that were lost with a dead worker."""
    if not order:
        return []
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(counters,))
    lost: list[int] = []
    try:
        waiting: dict[Future[Any], int] = {pool.submit(_work, worker, n, tasks[n]): n for n in order}
        while waiting:
            done, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            if tick is not None:
                tick(counters)
            for future in done:
                number = waiting.pop(future)
                try:
                    outcome = future.result()
                except BrokenProcessPool:
                    lost.append(number)
                    continue
                finished(number, outcome)
        pool.shutdown()
    except BaseException:
        _end(pool)
        raise
    return sorted(lost, key=order.index)


def _end(pool: ProcessPoolExecutor) -> None:
    processes = list((getattr(pool, "_processes", None) or {}).values())
    manager = getattr(pool, "_executor_manager_thread", None)  # shutdown forgets it
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(5)
        if process.is_alive():
            process.kill()
    if manager is not None:
        manager.join(5)  # while it closes its pipes, an interpreter that ends would write to them


def choose(where: str) -> Callable[..., None]:
    """The executor named on the command line: ``local`` or ``dask://HOST:PORT``."""
    if where == "local":
        return run
    if where.startswith("dask://"):
        from grader.cluster import executor

        return executor(where.removeprefix("dask://"))
    from abi.candidate import EmulatorError

    raise EmulatorError(f"--executor {where}: give local or dask://HOST:PORT")
