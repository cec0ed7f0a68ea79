"""The video metric against its definition written slowly, and its properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.metrics import video
from grader.pictures import palette

P = palette()


def slow_defect(ref: np.ndarray, cand: np.ndarray) -> float:
    """d straight from the formulas, in float64, block by block."""
    rgb = P.rgb.astype(np.float64)
    luma = 0.299 * rgb[:, 0] + 0.587 * rgb[:, 1] + 0.114 * rgb[:, 2]
    a, b = (luma[f.reshape(240, 256)] for f in (ref, cand))
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    defects = []
    for y in range(0, 240, 8):
        for x in range(0, 256, 8):
            r, c = a[y : y + 8, x : x + 8], b[y : y + 8, x : x + 8]
            mr, mc, vr, vc = r.mean(), c.mean(), r.var(), c.var()
            cov = ((r - mr) * (c - mc)).mean()
            ssim = (2 * mr * mc + c1) / (mr**2 + mc**2 + c1) * (2 * cov + c2) / (vr + vc + c2)
            defect = 1 - min(max(ssim, 0.0), 1.0)
            defects.append(defect if defect >= 0.15 else 0.0)
    return float(np.mean(defects))


def random_frame(seed: int, kind: int) -> np.ndarray:
    """Noise, tiles, stripes or few-coloured shapes."""
    rng = np.random.default_rng(seed)
    if kind == 0:
        return rng.integers(0, 512, 61440).astype(np.uint16)
    if kind == 1:
        return np.kron(rng.integers(0, 64, (30, 32)), np.ones((8, 8), int)).astype(np.uint16).reshape(-1)
    if kind == 2:
        return (np.add.outer(np.arange(240) * rng.integers(0, 4), np.arange(256)) // 5 % 64).astype(np.uint16).ravel()
    colours = rng.integers(0, 64, 3)
    return colours[(rng.random(61440) < 0.2).astype(int) + (rng.random(61440) < 0.05)].astype(np.uint16)


frames = st.builds(random_frame, st.integers(0, 2**32 - 1), st.integers(0, 3))


@settings(max_examples=40, deadline=None)
@given(frames, frames)
def test_defect_equals_the_slow_definition(ref, cand):
    d, differing, error = video.compare(P, ref, cand)
    assert d == pytest.approx(slow_defect(ref, cand), rel=1e-6, abs=1e-7)
    rgb = P.rgb.astype(int)
    assert differing == int(np.any(rgb[ref] != rgb[cand], axis=1).sum())
    luma = rgb @ [0.299, 0.587, 0.114]
    assert error == pytest.approx(np.abs(luma[ref] - luma[cand]).mean(), rel=1e-5, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(frames)
def test_identical_frames_are_perfect(frame):
    assert video.compare(P, frame, frame.copy()) == (0.0, 0, 0.0)
    assert video.scores([0.0], 0.005)[0] == 1.0
    assert video.change(P, frame, frame.copy()) is None
    assert not video.differ(P, frame, frame.copy())


@settings(max_examples=30, deadline=None)
@given(frames, frames)
def test_d_is_between_0_and_1_and_bits_above_the_ninth_do_not_count(ref, cand):
    d = video.compare(P, ref, cand)[0]
    assert 0.0 <= d <= 1.0
    assert video.compare(P, ref, cand | 0xFE00) == video.compare(P, ref, cand)


@settings(max_examples=25, deadline=None)
@given(frames, st.integers(0, 2**32 - 1))
def test_more_damaged_blocks_never_score_higher(ref, seed):
    """Blocks are independent, so breaking one more block can only add to d."""
    rng = np.random.default_rng(seed)
    damaged = ref.copy().reshape(240, 256)
    other = random_frame(seed, 0).reshape(240, 256)
    before = 1.0
    for block in rng.permutation(960)[:12]:
        y, x = block // 32 * 8, block % 32 * 8
        damaged[y : y + 8, x : x + 8] = other[y : y + 8, x : x + 8]
        d = video.compare(P, ref, damaged.reshape(-1))[0]
        score = float(video.scores([d], 0.05)[0])
        assert score <= before
        before = score


def test_colours_that_look_the_same_are_the_same():
    """$0D..$0F, $1D..$1F and so on are all black in the palette: other indices, no difference on the screen."""
    black = [i for i in range(64) if not P.rgb[i].any()]
    assert {0x0E, 0x0F, 0x1E, 0x1F} <= set(black)
    ref = np.full(61440, black[0], np.uint16)
    cand = np.random.default_rng(1).choice(black, 61440).astype(np.uint16)
    assert video.compare(P, ref, cand) == (0.0, 0, 0.0)
    assert not video.differ(P, ref, cand)


def test_blank_gate():
    """Flat (>= 99.9 % one colour) against a picture: d = 1. Flat against flat is compared as usual."""
    picture = random_frame(7, 1)
    blank = np.zeros(61440, np.uint16)
    assert video.compare(P, picture, blank)[0] == 1.0
    almost = blank.copy()
    almost[-61:] = 0x30  # 61 of 61 440 pixels: 99.9007 % flat
    assert video.compare(P, picture, almost)[0] == 1.0
    almost[-62:] = 0x30  # 99.8991 %
    assert video.compare(P, picture, almost)[0] < 1.0
    assert video.compare(P, almost, blank)[0] == 1.0
    assert video.compare(P, blank, blank) == (0.0, 0, 0.0)


def test_flat_frames_by_hand():
    """Two flat pictures: variances and covariance 0, so SSIM is the light term alone."""
    a, b = 0x00, 0x30
    la, lb = (float(P.luma[i]) for i in (a, b))
    c1 = (0.01 * 255) ** 2
    expected = 1 - (2 * la * lb + c1) / (la**2 + lb**2 + c1)
    d = video.compare(P, np.full(61440, a, np.uint16), np.full(61440, b, np.uint16))[0]
    assert d == pytest.approx(expected, rel=1e-6)
    assert expected > 0.15


def test_frame_score_by_hand():
    """1/(1 + (d/tau)^4): a half at d = tau, 16/17 at half of it, 1/17 at twice; nothing at 0 costs nothing."""
    assert video.scores([0.0, 0.05, 0.1, 0.2], 0.1).tolist() == pytest.approx([1, 16 / 17, 0.5, 1 / 17], rel=1e-6)
    assert video.frame_mean([0.0, 0.1], 0.1) == pytest.approx(0.75)
    assert video.frame_mean([], 0.1) == video.endstate([]) == 1.0
    assert video.endstate([1.0, 0.0]) == 1.0
    assert video.endstate([0.0, 1e-4]) == pytest.approx(0.5)
    assert video.endstate([0.0, 1e-3]) == pytest.approx(1e-4, rel=1e-3)


def test_threshold_by_hand():
    """Element int(0.90 n) of the sorted changes, the last at most, within 0.005..0.35."""
    assert video.threshold([]) == pytest.approx(0.005)
    assert video.threshold([0.2]) == pytest.approx(0.2)  # int(0.9) = 0
    ten = [0.01 * i for i in range(10)]
    assert video.threshold(ten[::-1]) == pytest.approx(0.09)  # int(9.0) = 9
    assert video.threshold([0.01] * 89 + [0.02] * 11) == pytest.approx(0.02)  # int(90) is the second of the 11
    assert video.threshold([0.001] * 50) == pytest.approx(0.005)
    assert video.threshold([0.9] * 50) == pytest.approx(0.35)


def test_collapsed_score_by_hand():
    """Runs of an unchanged reference are averaged first: a long wrong stretch of a still picture counts once."""
    defects = [0.0, 1.0, 1.0, 1.0]
    assert video.collapsed(defects, [True, True, False, False], 0.1) == pytest.approx((1 + 1e-4) / 2, abs=1e-5)
    assert video.frame_mean(defects, 0.1) == pytest.approx(0.25, abs=1e-3)
    assert video.collapsed([], [], 0.1) == 1.0


def test_palette_must_have_512_colours():
    with pytest.raises(ValueError, match="1536"):
        video.Palette(b"\0" * 192)


def test_sameness_of_pictures_however_they_are_held():
    """Arrays, and arrays over ``bytes`` (which are compared another way): NumPy's own comparison is the judge."""
    one = np.random.default_rng(5).integers(0, 512, 61_440).astype(np.uint16)
    others = [one.copy() for _ in range(4)]
    for other, at in zip(others, (0, 1, 30_000, 61_439), strict=False):
        other[at] ^= 1
    over_bytes = [np.frombuffer(picture.tobytes(), "<u2") for picture in (one, *others)]
    for a in (one, *over_bytes, one.reshape(240, 256), over_bytes[0].reshape(240, 256)):
        for b in (one.copy(), *others, *over_bytes, over_bytes[3].reshape(240, 256)):
            assert video.same(a, b) is bool((a.reshape(-1) == b.reshape(-1)).all())
