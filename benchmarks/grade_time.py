"""Grading pynes_ref from warm caches beside the emulation it needs: whole commands, the same processes, the same order.

python benchmarks/grade_time.py [CORPUS] [--jobs N] [--rounds N]

CORPUS is a folder (default: the built-in corpus). Two commands run in turn, with a stop-watch around every testcase:

* ``grader pynes_ref CORPUS OUT``,
* the emulation alone: a process that has the workers load the console, and workers that run the testcases' frames,
  longest first, picture and sound produced and drained; nothing is read, compared or written.

"Without start-up" is from the beginning of the first testcase to the end of the command (for grading, with the
summary and the report). CPU seconds are those of all processes of a command.
"""

import argparse
import contextlib
import functools
import multiprocessing
import os
import pickle
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from common import ROOT, STOLEN, interleaved, machine, summary

GRADING, EMULATION = "grading", "emulation alone"


class Watch(NamedTuple):
    """One testcase in its worker: its number, when it began, seconds on the wall and of the processor."""

    number: int
    begun: float
    wall: float
    cpu: float


class Run(NamedTuple):
    """One command: seconds of the whole and without its start-up, and its testcases."""

    wall: float
    cpu: float
    wall_after_start: float
    watches: tuple[Watch, ...]

    @property
    def cpu_in_cases(self):
        """CPU seconds of all testcases."""
        return sum(watch.cpu for watch in self.watches)


def watched(work, number, *arguments):
    """``work(*arguments)`` and its ``Watch``."""
    begun, cpu = time.perf_counter(), time.process_time()
    result = work(*arguments)
    return result, Watch(number, begun, time.perf_counter() - begun, time.process_time() - cpu)


def _watched_task(worker, task, progress):
    number, task = task
    return watched(worker, number, task, progress)


# ---- the commands ----------------------------------------------------------------------------------------------------


def emulate_case(rom, keys):
    """A testcase's frames, nothing else."""
    from pynes_ref import Console

    console = Console(rom)
    for held in keys:
        console.run_frame(held)
        console.drain_audio()


def emulate(cases, jobs):
    """Every ``(rom, keys)`` in worker processes, longest first: their watches."""
    context = multiprocessing.get_context("forkserver" if sys.platform.startswith("linux") else "spawn")
    if sys.platform.startswith("linux"):
        context.set_forkserver_preload(["grader.warm_core"])
    order = sorted(range(len(cases)), key=lambda n: (-len(cases[n][1]), n))
    with ProcessPoolExecutor(min(jobs, len(cases)), mp_context=context) as pool:
        futures = [pool.submit(watched, emulate_case, n, *cases[n]) for n in order]
        return [future.result()[1] for future in futures]


def grade(arguments):
    """The ``grader`` command with a watch around every testcase: the watches."""
    from grader import parallel

    run, watches = parallel.run, []

    def run_watched(worker, tasks, sizes, *, finished, **options):
        def unwrapped(place, outcome):
            if isinstance(outcome, tuple):
                outcome, watch = outcome
                watches.append(watch)
            finished(place, outcome)

        run(functools.partial(_watched_task, worker), list(enumerate(tasks)), sizes, finished=unwrapped, **options)

    parallel.run = run_watched
    from grader.__main__ import main

    sys.argv = ["grader", *arguments]
    with contextlib.suppress(SystemExit):
        main()
    return watches


def child(kind, given, result):
    """The whole of a watched process."""
    arguments = pickle.loads(Path(given).read_bytes())
    watches = emulate(*arguments) if kind == EMULATION else grade(arguments)
    Path(result).write_bytes(pickle.dumps((time.perf_counter(), [tuple(watch) for watch in watches])))


# ---- measuring -------------------------------------------------------------------------------------------------------


def adopt():
    """Have what a command leaves behind (the server that forks workers) waited for here: its CPU time counts."""
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def run(command, environment, result):
    """Run a command: a ``Run``, and whether its testcases had their processors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall = time.perf_counter() - begun
    if done.returncode:
        raise SystemExit(done.stderr)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ended, watches = pickle.loads(result.read_bytes())
    watches = tuple(Watch(*values) for values in watches)
    one = Run(wall, cpu, ended - min(watch.begun for watch in watches), watches)
    return one, one.cpu_in_cases >= (1 - STOLEN) * sum(watch.wall for watch in watches)


def commands(corpus, folder, jobs, cache, work):
    """``{name: task}`` of the two commands; a task gives what ``run`` gives."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH")]))
    arguments = ["pynes_ref", str(folder), str(work / "out"), "--jobs", str(jobs), "--cache", str(cache)]
    tasks = {}
    for name, given in ((GRADING, arguments), (EMULATION, ([(case.rom(), case.keys) for case in corpus.cases], jobs))):
        path, result = work / f"{name}.given", work / f"{name}.result"
        path.write_bytes(pickle.dumps(given))
        command = [sys.executable, __file__, "--child", name, str(path), str(result)]
        tasks[name] = functools.partial(run, command, environment, result)
    return tasks


# ---- telling ---------------------------------------------------------------------------------------------------------


def table(runs):
    """Grading, emulation alone and their ratio, by every measure."""
    measures = {
        "wall, s": lambda run: run.wall,
        "wall without start-up, s": lambda run: run.wall_after_start,
        "CPU, s": lambda run: run.cpu,
        "CPU in the testcases, s": lambda run: run.cpu_in_cases,
    }
    print("| | grading | emulation alone | ratio of the medians |\n|---|---|---|---|")
    for title, value in measures.items():
        ours, bare = ([value(run) for run in runs[name]] for name in (GRADING, EMULATION))
        ratio = statistics.median(ours) / statistics.median(bare)
        print(f"| {title} | {summary(ours)} | {summary(bare)} | {ratio:.2f} |")


def cost(corpus, runs):
    """Seconds a testcase: the median testcase and the dearest ones."""

    def seconds(name, number):
        return statistics.median(w.wall for run in runs[name] for w in run.watches if w.number == number)

    rows = [
        (seconds(GRADING, number), seconds(EMULATION, number), case.id, case.frames)
        for number, case in enumerate(corpus.cases)
    ]
    rows.sort(reverse=True)
    median = statistics.median(row[0] for row in rows)
    print(f"\na testcase: median {median:.3f} s, all {sum(row[0] for row in rows):.2f} s; the dearest:\n")
    print("| testcase | frames | grading, s | emulation alone, s |\n|---|---|---|---|")
    for ours, bare, name, frames in rows[:5]:
        print(f"| {name} | {frames} | {ours:.3f} | {bare:.3f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", type=Path)
    parser.add_argument("--jobs", type=int, default=0, help="processes; default: all cores")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()

    from grader import builtin
    from grader.manifest import load_corpus
    from grader.parallel import default_jobs

    adopt()
    jobs = args.jobs or default_jobs()
    folder = (args.corpus or builtin.folder()).resolve()
    corpus = load_corpus(folder)
    with tempfile.TemporaryDirectory(prefix="grade_time-") as work:
        tasks = commands(corpus, folder, jobs, Path(work) / "cache", Path(work))
        for task in tasks.values():
            task()
        runs = interleaved(tasks, args.rounds, lambda task: task())
        files = [path.stat().st_size for path in (Path(work) / "cache").iterdir()]
        out = [path.stat().st_size for path in (Path(work) / "out").iterdir()]
    print(machine(), "\n")
    frames = sum(case.frames for case in corpus.cases)
    print(f"{len(corpus.cases)} testcases, {frames} frames; {jobs} processes, {args.rounds} interleaved rounds")
    print(f"caches of {sum(files) / 2**20:.1f} MB, results of {sum(out) / 2**20:.1f} MB\n")
    table(runs)
    cost(corpus, runs)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\npeak memory of the largest of these processes: {peak:.0f} MB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
