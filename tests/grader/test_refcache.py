"""Recordings of the reference: made once, mended when damaged, brought by a corpus, or all there is."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import time

import pytest

from abi import seal
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
    assert sorted(p.name for p in cache.iterdir()) == [path.name, f"{path.name}.seal"]
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


def line(data):
    """A seal as ``abi.seal`` describes it."""
    return hashlib.sha256(seal.MARK + data).hexdigest().encode() + b"\n"


def test_a_cache_has_a_seal_and_damage_anywhere_is_mended(corpus, toy_wasm, tmp_path):
    emulator, case, cache = resolve(str(toy_wasm)), corpus.cases[0], tmp_path / "cache"
    path = refcache.ensure(case, emulator, cache).recording.path
    data = path.read_bytes()
    assert seal.path_of(path).read_bytes() == line(data)
    for at in (0, 4, 30, len(data) // 2, len(data) - 1):
        for sealed in (True, False):
            path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
            if not sealed:
                seal.path_of(path).unlink()
            mended = refcache.ensure(case, emulator, cache)
            assert mended.made, (at, sealed)
            assert "recorded again" in mended.note
            assert (path.read_bytes(), seal.path_of(path).read_bytes()) == (data, line(data))


def test_damage_behind_the_header_is_mended_by_grading(corpus, toy_wasm, tmp_path, options):
    emulator, case = resolve(str(toy_wasm)), corpus.cases[0]
    one = grade(corpus.only([case.id]), emulator, emulator, tmp_path / "out", options)
    path = refcache.cache_path(options.cache, case, emulator)
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))  # a bit of zstd's checksum, which a sealed file is spared
    two = grade(corpus.only([case.id]), emulator, emulator, tmp_path / "out", options)
    assert (one.log, one.summary) == ([], two.summary)
    assert len(two.log) == 1
    assert "recorded again" in two.log[0]
    assert path.read_bytes() == data


def test_a_seal_that_cannot_be_written_is_done_without(corpus, toy_wasm, tmp_path):
    emulator, case, cache = resolve(str(toy_wasm)), corpus.cases[0], tmp_path / "cache"
    path = refcache.cache_path(cache, case, emulator)
    seal.path_of(path).mkdir(parents=True)
    assert refcache.ensure(case, emulator, cache).made
    assert not refcache.ensure(case, emulator, cache).made
    assert sorted(p.name for p in cache.iterdir()) == [path.name, f"{path.name}.seal"]


def test_what_a_killed_grader_left_goes_after_a_day(corpus, toy_wasm, tmp_path):
    """Not what another one may be writing, and nothing of anybody else's."""
    cache = tmp_path / "cache"
    cache.mkdir()
    names = (".one.refcache.old.tmp", ".one.refcache.seal.old.tmp", ".one.refcache.new.tmp", ".other.old.tmp")
    for name in names:
        (cache / name).write_bytes(b"")
        if ".old." in name:
            os.utime(cache / name, (time.time() - refcache.STALE_SECONDS - 60,) * 2)
    refcache.ensure(corpus.cases[0], resolve(str(toy_wasm)), cache)
    assert {name for name in names if (cache / name).exists()} == {".one.refcache.new.tmp", ".other.old.tmp"}


def test_recordings_for_others_have_no_seal(corpus, toy_wasm, tmp_path):
    from grader.precompute import precompute
    from grader.run import Listener

    emulator = resolve(str(toy_wasm))
    precompute(corpus, emulator, tmp_path / "into", None, 0, Listener())
    precompute(corpus, emulator, None, tmp_path / "cache", 0, Listener())
    assert {p.suffix for p in (tmp_path / "into").iterdir()} == {".refcache"}
    kept = [p for p in (tmp_path / "cache").iterdir() if p.suffix == ".refcache"]
    assert len(kept) == len(corpus.cases)
    assert all(seal.path_of(path).read_bytes() == line(path.read_bytes()) for path in kept)


def _record(arguments):
    refcache.record_sealed(*arguments)


def test_two_graders_at_once(corpus, toy_wasm, tmp_path):
    emulator, case = resolve(str(toy_wasm)), corpus.cases[0]
    path = tmp_path / "cache" / "x.refcache"
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.map(_record, [(path, case, emulator)] * 8)
    assert Recording(path).frame_count == 40
    assert sorted(p.name for p in path.parent.iterdir()) == ["x.refcache", "x.refcache.seal"]
    assert seal.path_of(path).read_bytes() == line(path.read_bytes())


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
