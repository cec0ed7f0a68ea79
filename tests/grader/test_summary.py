"""Scores added up to a summary, and the pictures and sounds beside it."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from grader.aggregate import overall, sections, summary
from grader.manifest import Config
from grader.pictures import difference, palette, png, rgb_png, wav
from grader.results import Row


def test_aggregate_by_hand():
    """Subsystem = mean of its testcases, section = weighted mean, overall = weighted sum."""
    rows = [
        Row("a", "procedural", "cpu", None, 1.0, 0.3),  # sound without an audio_subsystem does not count
        Row("b", "procedural", "cpu", None, 0.5, None),
        Row("c", "procedural", "ppu", "apu", 0.2, 0.8),
        Row("d", "procedural", "apu", None, 0.0, None),
        Row("e", "procedural", "mapper", None, 1.0, None),
        Row("f", "replay", "gameplay", "game_audio", 0.4, 0.6),
        Row("g", "replay", "gameplay", "game_audio", 0.6, None),
    ]
    found = sections(rows, Config())
    assert found["procedural"]["subsystems"] == {"cpu": 0.75, "ppu": 0.2, "apu": 0.0, "mapper": 1.0}
    assert found["procedural"]["score"] == pytest.approx(0.35 * 0.75 + 0.30 * 0.2 + 0.20)
    assert found["replay"]["score"] == pytest.approx(0.5)
    assert found["audio"]["score"] == pytest.approx(0.5 * 0.8 + 0.5 * 0.6)
    expected = 0.2 * (0.35 * 0.75 + 0.06 + 0.2) + 0.6 * 0.5 + 0.2 * 0.7
    assert overall(found) == pytest.approx(expected)
    assert summary("x", "00", rows, Config())["overall"] == overall(found)


def test_published_scores_add_up():
    """0.20 procedural + 0.60 replay + 0.20 audio gives NES Eval's published totals to their last digit."""
    for total, *parts in (
        (0.3257, 0.0, 0.2095, 1.0),
        (0.5389, 1.0, 0.3282, 0.7100),
        (0.9452, 1.0, 1.0, 0.7261),
        (0.1948, 0.0, 0.1500, 0.5241),
        (0.0039, 0.0, 0.0065, 0.0),
        (0.5811, 0.83, 0.4569, 0.7050),
    ):
        weights = zip((0.2, 0.6, 0.2), parts, strict=True)
        found = overall({str(n): {"weight": w, "score": s} for n, (w, s) in enumerate(weights)})
        assert found == pytest.approx(total, abs=1e-4)


def test_pictures():
    few = np.random.default_rng(1).integers(0, 200, (240, 256)).astype(np.uint16)
    many = np.random.default_rng(2).integers(0, 512, (240, 256)).astype(np.uint16)
    for frame in (few, many, np.zeros((240, 256), np.uint16)):
        with Image.open(io.BytesIO(png(frame))) as image:
            assert np.array_equal(np.array(image.convert("RGB")), palette().picture(frame))
    shown = difference(few, few)
    assert (shown[..., 0] == shown[..., 1]).all()
    other = few.copy()
    other[5, 7] = 0x30 if palette().identity[few[5, 7]] != palette().identity[0x30] else 0x0F
    assert difference(few, other)[5, 7].tolist() == [255, 48, 64]
    with Image.open(io.BytesIO(rgb_png(shown))) as image:
        assert np.array_equal(np.array(image), shown)
    assert len(wav(np.zeros(30_000_000, np.int16), 44_100)) == 20 * 1024 * 1024 + 44
