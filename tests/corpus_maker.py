"""Small corpora for tests: the toy emulator's ROMs, a replay, weights that add up."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import toy_emulator as toy

WEIGHTS = """
fuel_per_frame: 5000000
fuel_load_rom: 20000000
section_weights: {procedural: 0.2, replay: 0.6, audio: 0.2}
subsystem_weights:
  procedural: {cpu: 0.5, ppu: 0.5}
  replay: {gameplay: 1.0}
  audio: {game_audio: 1.0}
"""


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def entries() -> list[dict[str, Any]]:
    rom, other = sha256(toy.ROM), sha256(toy.OTHER_ROM)
    base = {"section": "procedural", "subsystem": "cpu", "audio_subsystem": None, "rom_sha256": rom, "replay": ""}
    return [
        {**base, "id": "one", "rom_name": "a.nes", "frames": 40, "scoring_mode": "endstate", "description": "first"},
        {**base, "id": "two", "rom_name": "b.nes", "rom_sha256": other, "subsystem": "ppu", "frames": 50},
        {
            **base,
            "id": "game",
            "rom_name": "a.nes",
            "section": "replay",
            "subsystem": "gameplay",
            "audio_subsystem": "game_audio",
            "replay": "game.txt",
            "frames": 90,
            "scoring_mode": "frame_mean",
            "description": "<b>held & released</b>",
        },
    ]


def make(folder: Path, cases: list[dict[str, Any]] | None = None, config: str = WEIGHTS) -> Path:
    """A corpus in ``folder``."""
    (folder / "roms" / "deep").mkdir(parents=True)
    (folder / "replays").mkdir()
    (folder / "roms" / "any name.nes").write_bytes(toy.ROM)
    (folder / "roms" / "deep" / "b.nes").write_bytes(toy.OTHER_ROM)
    (folder / "replays" / "game.txt").write_text("# toy\n10 01\n20 00\n30 82\n60 00\n")
    data = {"testcases": entries() if cases is None else cases}
    (folder / "testcases.json").write_text(json.dumps(data))
    (folder / "grader.yaml").write_text(config)
    return folder


def contents(folder):
    """What grading left in a folder: bytes by name."""
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}
