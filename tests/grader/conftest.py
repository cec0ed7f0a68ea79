"""Fixtures: a corpus of three testcases for the toy emulator, and the toy."""

from __future__ import annotations

import corpus_maker
import pytest
import toy_emulator as toy

from grader.manifest import load_corpus
from grader.run import Options


@pytest.fixture
def corpus(tmp_path):
    return load_corpus(corpus_maker.make(tmp_path / "corpus"))


@pytest.fixture
def toy_wasm(tmp_path):
    path = tmp_path / "toy.wasm"
    path.write_bytes(toy.module())
    return path


@pytest.fixture
def options(tmp_path):
    return Options(jobs=0, cache=tmp_path / "cache")
