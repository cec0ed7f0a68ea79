"""The corpus that ships with the project: our own ROMs and replays."""

from __future__ import annotations

from pathlib import Path


class NoBuiltinCorpus(Exception):
    """This installation has no corpus of its own."""


def folder() -> Path:
    """The built-in corpus's folder (``testcases.json``, ``grader.yaml``, ``roms/``, ``replays/``)."""
    here = Path(__file__).resolve().parent
    for place in (here / "corpus", here.parent / "corpus"):
        if (place / "testcases.json").is_file():
            return place
    raise NoBuiltinCorpus("this installation has no corpus of its own: name a corpus folder")
