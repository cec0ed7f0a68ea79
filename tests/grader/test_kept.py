"""The metrics' machine code is kept in ``PYNES_REF_CACHE``, never in the package's own folders."""

import os
import subprocess
import sys
from collections import Counter

import corpus_maker
import pytest
import toy_emulator as toy
from places import ROOT

CODE = """
import numpy as np
from grader.metrics import kernels
out = np.zeros(3)
kernels.distances(np.ones((3, 40)), np.zeros((3, 40)), out)
calls = kernels.distances.stats
print(out.tolist(), sum(calls.cache_hits.values()), sum(calls.cache_misses.values()))
"""


def environment(cache):
    return {**os.environ, "PYNES_REF_CACHE": str(cache), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


def run(cache, code=CODE):
    done = subprocess.run([sys.executable, "-c", code], env=environment(cache), capture_output=True, text=True,
                          timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def package_files():
    return {path for package in ("abi", "grader", "pynes_ref") for path in (ROOT / package).rglob("*")
            if path.suffix in (".nbi", ".nbc", ".code")}


def kept(cache):
    return Counter(path.name.split("-")[0] for path in cache.rglob("*.code"))


def test_a_grading_writes_into_the_cache_folder_only(tmp_path):
    corpus_maker.make(tmp_path / "corpus")
    reference, other = tmp_path / "toy.wasm", tmp_path / "other.wasm"
    reference.write_bytes(toy.module())
    other.write_bytes(toy.module(emu_set_keys="(param i32)"))  # deaf: its pictures differ
    before = package_files()
    cache = tmp_path / "cache"
    command = [sys.executable, "-m", "grader.cli", "--reference", reference, other, tmp_path / "corpus",
               tmp_path / "out"]  # fmt: skip
    subprocess.run(list(map(str, command)), env=environment(cache), cwd=tmp_path, capture_output=True, timeout=300)
    assert (tmp_path / "out" / "report.html").exists()
    assert package_files() == before
    assert {"compare", "bands"} <= set(kept(cache))


def test_the_second_process_finds_it(tmp_path):
    same = "[0.0, 0.0, 0.0]"
    assert run(tmp_path) == f"{same} 0 1"
    assert run(tmp_path) == f"{same} 1 0"
    (path,) = tmp_path.rglob("distances-*.code")
    path.write_bytes(path.read_bytes()[:-5])
    assert run(tmp_path) == f"{same} 0 1"


def test_several_processes_at_once(tmp_path):
    command = [sys.executable, "-c", CODE]
    several = [subprocess.Popen(command, env=environment(tmp_path), stdout=subprocess.PIPE) for _ in range(3)]
    for process in several:
        assert process.communicate(timeout=300)[0].startswith(b"[0.0, 0.0, 0.0]")
        assert process.returncode == 0
    assert kept(tmp_path) == {"distances": 1}
    assert run(tmp_path).endswith("1 0")


@pytest.mark.parametrize("place", ["missing/file/below", "file"])
def test_without_a_folder_it_is_compiled(tmp_path, place):
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "missing").mkdir()
    (tmp_path / "missing" / "file").write_text("no folder")
    assert run(tmp_path / place) == "[0.0, 0.0, 0.0] 0 1"
