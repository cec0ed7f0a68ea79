"""``--executor dask://HOST:PORT``: testcases on a Dask cluster, for people who grade many candidates.

The workers need this package and the same paths: corpus, candidate and cache on a shared file system. Outcomes come
back as bytes and are written here, so OUT may be local.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from abi.candidate import EmulatorError
from grader.parallel import Worker, WorkerDied


def _work(worker: Worker, task: Any) -> Any:
    return worker(task, lambda done: None)


def executor(address: str) -> Callable[..., None]:
    """A stand-in for ``parallel.run`` that uses the cluster at ``HOST:PORT``."""

    def run(
        worker: Worker,
        tasks: Sequence[Any],
        sizes: Sequence[int],
        *,
        jobs: int,
        finished: Callable[[int, Any], None],
        tick: Callable[[Sequence[int]], None] | None = None,
    ) -> None:
        try:
            from distributed import Client, as_completed
            from distributed.scheduler import KilledWorker
        except ImportError:
            raise EmulatorError("--executor dask:// needs Dask: pip install 'pynes-ref[dask]'") from None
        try:
            client = Client(f"tcp://{address}", timeout=10, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise EmulatorError(f"no Dask scheduler answers at {address} ({error})") from None
        with client:
            order = sorted(range(len(tasks)), key=lambda n: (-sizes[n], n))
            # Longest first; pure=False: the same testcase may be graded again.
            futures = {
                client.submit(_work, worker, tasks[n], pure=False, priority=sizes[n], retries=1): n for n in order
            }
            done = [0] * len(tasks)
            try:
                for future in as_completed(futures, loop=client.loop):
                    number = futures[future]
                    try:
                        outcome = future.result()
                    except KilledWorker:
                        outcome = WorkerDied("the cluster's worker died under it")
                    done[number] = sizes[number]
                    finished(number, outcome)
                    if tick is not None:
                        tick(done)
            except BaseException:
                client.cancel(list(futures))
                raise

    return run
