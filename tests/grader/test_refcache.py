"""Recordings of the reference: made once, mended when damaged, brought by a corpus, or all there is."""

from __future__ import annotations

import multiprocessing

import pytest

from abi.candidate import EmulatorError
from abi.loader import resolve
from abi.recorded import Recording
from grader import refcache
from grader.run import grade


def test_reference_cache(corpus, toy_wasm, tmp_path):
    emulator, case, cache = resolve(str(toy_wasm)), corpus.cases[0], tmp_path / "cache"
    first = refcache.ensure(case, emulator, cache)
    path = refcache.cache_path(cache, case, emulator)
    assert first.made
    data = path.read_bytes()
    again = refcache.ensure(case, emulator, cache)
    assert (again.made, again.note) == (False, "")
    path.write_bytes(data[: len(data) // 2])  # damaged: noticed, told, mended
    mended = refcache.ensure(case, emulator, cache)
    assert mended.made
    assert "recorded again" in mended.note
    assert path.read_bytes() == data
    assert [p.name for p in cache.iterdir()] == [path.name]
    # Another reference, ROM, replay or length has a file of its own.
    others = [refcache.cache_path(cache, c, emulator) for c in corpus.cases]
    others.append(refcache.cache_path(cache, case, resolve(f"{toy_wasm}:blank")))
    assert len(set(others)) == 4


def test_a_corpus_may_bring_its_recordings(corpus, toy_wasm, tmp_path):
    emulator, case = resolve(str(toy_wasm)), corpus.cases[0]
    brought = corpus.folder / "reference-cache" / "one.refcache"
    refcache.record(brought, case, emulator)
    found = refcache.ensure(case, emulator, tmp_path / "cache", corpus.folder)
    assert not found.made
    assert found.recording.path == brought
    other = resolve(f"{toy_wasm}:blank")  # not of this reference: recorded afresh
    assert refcache.ensure(case, other, tmp_path / "cache", corpus.folder).made


def _record(arguments):
    refcache.record(*arguments)


def test_two_graders_at_once(corpus, toy_wasm, tmp_path):
    emulator, case = resolve(str(toy_wasm)), corpus.cases[0]
    path = tmp_path / "cache" / "x.refcache"
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.map(_record, [(path, case, emulator)] * 8)
    assert Recording(path).frame_count == 40
    assert [p.name for p in path.parent.iterdir()] == ["x.refcache"]


def test_recordings_as_reference(corpus, toy_wasm, tmp_path, options):
    emulator = resolve(str(toy_wasm))
    folder = tmp_path / "recordings"
    for case in corpus.cases:
        refcache.record(folder / f"{case.id}.refcache", case, emulator)
    graded = grade(corpus, emulator, resolve(str(folder)), tmp_path / "out", options)
    assert graded.summary["overall"] == 1.0
    (folder / "two.refcache").rename(folder / "swap")
    (folder / "one.refcache").rename(folder / "two.refcache")
    with pytest.raises(EmulatorError, match=r"two\.refcache is no recording of two: it is of another ROM"):
        grade(corpus.only(["two"]), emulator, resolve(str(folder)), tmp_path / "out", options)
