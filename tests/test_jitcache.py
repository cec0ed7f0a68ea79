"""The cache of compiled code: what makes it another build, what damaged or missing files lead to."""

import os
import subprocess
import sys

import pytest
from places import ROOT

from pynes_ref import jitcache

# A door small enough to compile in a second, in a package laid out like the core.
PROBE = """
import sys
sys.path.insert(0, {root!r})
from pynes_ref import jitcache
from pynes_ref.core import jit_load
from pynes_ref.core.jit import door

@door
def probe(nes, mem, a, b):
    return a * 1000 + b + mem[0]

import numpy as np
from pynes_ref.core.state import NES
mem = np.zeros(NES.itemsize, np.uint8)
mem[0] = 7
print(probe(None, mem, 3, 4), "numba" in sys.modules)
"""


def run_probe(cache):
    environment = dict(os.environ, PYNES_REF_CACHE=str(cache))
    command = [sys.executable, "-c", PROBE.format(root=str(ROOT))]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def code_files(cache):
    return sorted(cache.rglob("*.code"))


def test_the_second_process_does_not_import_numba(tmp_path):
    first, second = run_probe(tmp_path), run_probe(tmp_path)
    assert first.stdout.split() == ["3011", "True"], first.stderr
    assert second.stdout.split() == ["3011", "False"], second.stderr


@pytest.mark.parametrize("damage", ["truncated", "empty", "flipped"])
def test_a_damaged_file_is_compiled_anew(tmp_path, damage):
    run_probe(tmp_path)
    (path,) = code_files(tmp_path)
    whole = path.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + b"\xff\x00" + whole[middle + 2 :]
    path.write_bytes({"truncated": whole[:middle], "empty": b"", "flipped": flipped}[damage])
    again = run_probe(tmp_path)
    assert again.stdout.split() == ["3011", "True"], again.stderr
    assert run_probe(tmp_path).stdout.split() == ["3011", "False"]


def test_two_processes_may_compile_at_once(tmp_path):
    environment = dict(os.environ, PYNES_REF_CACHE=str(tmp_path))
    command = [sys.executable, "-c", PROBE.format(root=str(ROOT))]
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        assert process.communicate(timeout=300)[0].split()[0] == "3011"
    assert len(code_files(tmp_path)) == 1
    assert run_probe(tmp_path).stdout.split() == ["3011", "False"]


def test_without_a_writable_folder_it_runs_and_says_so(tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    result = run_probe(in_the_way)
    assert result.stdout.split() == ["3011", "True"]
    assert "PYNES_REF_CACHE" in result.stderr


@pytest.fixture
def fresh_keys():
    """``build_key`` computed anew, now and afterwards."""
    for cached in (jitcache.source_hash, jitcache.build_key):
        cached.cache_clear()
    yield jitcache.build_key
    for cached in (jitcache.source_hash, jitcache.build_key):
        cached.cache_clear()


def test_an_edit_in_any_core_file_is_another_build(tmp_path, monkeypatch, fresh_keys):
    import shutil

    copy = tmp_path / "core"
    shutil.copytree(jitcache.CORE, copy)
    monkeypatch.setattr(jitcache, "CORE", copy)
    before = fresh_keys()
    callee = copy / "mappers" / "m001_mmc1.py"
    callee.write_text(callee.read_text() + "\n# edited\n")
    jitcache.source_hash.cache_clear()
    jitcache.build_key.cache_clear()
    assert fresh_keys() != before


def test_numbas_settings_are_part_of_the_build(monkeypatch, fresh_keys):
    before = fresh_keys()
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    jitcache.build_key.cache_clear()
    assert fresh_keys() != before


def test_old_builds_are_pruned(tmp_path):
    for age in range(9):
        old = tmp_path / f"old{age}"
        old.mkdir()
        os.utime(old, (age, age))
    run_probe(tmp_path)
    assert len(list(tmp_path.iterdir())) == jitcache.KEEP
    assert code_files(tmp_path)
