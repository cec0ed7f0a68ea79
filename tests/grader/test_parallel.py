"""Grading in many processes, on a cluster, interrupted: always the same bytes, and no task lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import corpus_maker
import pytest
import toy_emulator as toy
from corpus_maker import contents
from places import ROOT

from abi.candidate import EmulatorError
from abi.loader import resolve
from grader import determinism, parallel, refcache
from grader.manifest import load_corpus
from grader.run import Options, grade


def test_any_number_of_processes_gives_the_same_bytes(corpus, toy_wasm, tmp_path, options):
    reference, candidate = resolve(str(toy_wasm)), resolve(f"{toy_wasm}:ab-swap")
    grade(corpus, candidate, reference, tmp_path / "a", options)
    for jobs in (1, 2, 3):
        grade(corpus, candidate, reference, tmp_path / "b", Options(jobs=jobs, cache=tmp_path / f"cache{jobs}"))
        assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_the_gate(corpus, toy_wasm):
    emulator = resolve(str(toy_wasm))
    assert determinism.gate(corpus.only(["one"]), emulator, emulator, 0, lambda text: None) == []


def test_the_gate_finds_an_emulator_that_differs_each_run(corpus, tmp_path):
    """Native code can ask for the time; wasm cannot, so a Python opener stands in here."""
    emulator = resolve("pynes_ref")
    import dataclasses

    fickle = dataclasses.replace(emulator, kind="python", opener=Fickle)
    found = determinism.gate(corpus.only(["one"]), fickle, fickle, 0, lambda text: None)
    assert "recording one.refcache" in found
    assert "result one.json" in found


class Fickle(toy.ToyEmulator):
    made = 0

    def __init__(self):
        Fickle.made += 1
        super().__init__()

    def emu_framebuffer(self):
        return (self.frame + Fickle.made * (self.calls > 5)) & 63


def test_a_dead_worker_takes_no_other_task_along():
    outcomes = {}
    parallel.run(_die_or_double, [1, 2, 3, -1, 5], [1] * 5, jobs=2, finished=outcomes.__setitem__)
    assert isinstance(outcomes.pop(3), parallel.WorkerDied)
    assert outcomes == {0: 2, 1: 4, 2: 6, 4: 10}


def _die_or_double(task, progress):
    if task < 0:
        time.sleep(0.3)
        os._exit(9)
    return task * 2


def test_a_fault_in_a_worker_is_raised():
    before = set(threading.enumerate())
    with pytest.raises(EmulatorError, match="as planned"):
        parallel.run(_fail, [1, 2], [1, 1], jobs=2, finished=lambda number, outcome: None)
    assert not [thread for thread in set(threading.enumerate()) - before if "Manager" in type(thread).__name__]


def _fail(task, progress):
    raise EmulatorError("as planned")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_keeps_what_is_finished(tmp_path):
    """Interrupted in the long testcase: exit 130, one line, the short ones on disk, no process left behind."""
    cases = corpus_maker.entries()
    cases[2]["frames"] = 30_000
    folder = corpus_maker.make(tmp_path / "corpus", cases)
    path = tmp_path / "toy.wasm"
    path.write_bytes(toy.module())
    recordings = tmp_path / "recordings"
    emulator = resolve(str(path))
    for case in load_corpus(folder).cases[:2]:
        refcache.record(recordings / f"{case.id}.refcache", case, emulator)
    command = [sys.executable, "-m", "grader.cli", "--reference", path, path, folder, tmp_path / "out", "--jobs", "2"]
    environment = {**os.environ, "PYNES_REF_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        list(map(str, command)), env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    out = tmp_path / "out"
    deadline = time.time() + 60
    cache = tmp_path / "cache" / "refcache"

    def under_way():
        done = all((out / f"{case}.detail.json").exists() for case in ("one", "two"))
        return done and any(cache.glob(".game-*.tmp"))

    while time.time() < deadline and not under_way():
        time.sleep(0.05)
    assert under_way()
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate(timeout=30)[1]
    assert process.returncode == 130, errors
    assert "--resume continues" in errors
    assert "Traceback" not in errors
    assert not (out / "summary.json").exists()
    assert _gone(process.pid)
    assert not [p for p in (*out.iterdir(), *cache.iterdir()) if p.suffix == ".tmp"]


def _gone(group):
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_on_a_dask_cluster(corpus, toy_wasm, tmp_path, options):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    reference, candidate = resolve(str(toy_wasm)), resolve(f"{toy_wasm}:ab-swap")
    grade(corpus, candidate, reference, tmp_path / "here", options)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address.removeprefix("tcp://")
        grade(corpus, candidate, reference, tmp_path / "there", options, executor=parallel.choose(f"dask://{address}"))
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


def test_no_dask_scheduler(corpus, toy_wasm, tmp_path, options):
    emulator = resolve(str(toy_wasm))
    with pytest.raises(EmulatorError, match="Dask"):
        grade(corpus, emulator, emulator, tmp_path / "x", options, executor=parallel.choose("dask://127.0.0.1:9"))


def test_the_process_that_hands_out_tasks_does_not_wait_for_numpy(corpus):
    """NumPy and zstandard are the workers' business: importing them costs a grading 80 ms."""
    script = (
        "import sys\n"
        "from grader import parallel\n"
        "def run(worker, tasks, sizes, **options):\n"
        "    print(len(tasks), [name for name in ('numpy', 'zstandard', 'numba', 'scipy') if name in sys.modules])\n"
        "    sys.exit(0)\n"
        "parallel.run = run\n"
        "parallel.start_early = lambda core=False: None\n"
        "from grader.__main__ import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", script, "pynes_ref", corpus.folder, corpus.folder / "out"]
    done = subprocess.run(
        list(map(str, command)), env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == f"{len(corpus.cases)} []\n", done.stderr
