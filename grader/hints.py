"""``--hints``: plain words on what may be wrong, beside the score and without any say in it.

A testcase's pictures are tried against a few well-known faults, its sound against the channels it is made of; what
many testcases say is gathered by subsystem. ``grader explain`` looks at one testcase much more closely.

Channels: our console plays the testcase again, each channel alone. Reference and candidate are both fitted as a sum of
the power that the five have in each mel band (least squares, none negative), and the ratio of the two fits is the
channel's loudness. Power does not depend on phase, so the candidate need not be exact to the sample. The mixer is not
linear: beside the others a channel is softer than alone, which the ratio takes out. Every sum over frames is NumPy's
own and not BLAS's, whose last bits depend on the number of threads.

A hint's numbers of one testcase stand in brackets at its end, so that ``by_subsystem`` can drop them.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abi.bugs import Mutable
from abi.candidate import HEIGHT, WIDTH, CandidateError, drain
from abi.loader import PYNES_REF, resolve
from abi.recorded import Recording
from abi.shift import shift_in_space, spoken
from grader.lockstep import TIMED, Comparison, Pair, prepare
from grader.manifest import SECTIONS, Case
from grader.metrics import audio as audio_metric
from grader.metrics.video import NOISE_PIXELS
from grader.pictures import palette
from grader.results import Row

GOOD = 0.999
"""Sound scores and loudness from here on need no hint."""
CHANNELS = ("pulse1", "pulse2", "triangle", "noise", "dmc")
SPOKEN = {"pulse1": "pulse 1", "pulse2": "pulse 2", "triangle": "triangle", "noise": "noise", "dmc": "DMC"}
FRAMES = 1800
"""Frames of sound looked at: half a minute."""
BLOCK = 30
"""Frames whose power is averaged: channels that play the same note add and cancel by turns, which half a second evens
out. Without it the fit of our own music explains half of it, with it more than 0.9."""
AUDIBLE = 0.02
"""A channel with less than this part of the reference's power is not judged."""
MISSING = 0.25
"""A channel with less than this part of the others' loudness is called missing: they sound in its bands, too."""
LOWEST, HIGHEST = 0.67, 1.5
"""Between these a channel is as loud as the others."""
SHARING = ("triangle", "noise", "dmc")
ONE_PIN = 1.8
"""abi/ABI.md's mixer: the DMC alone has (1 + 100 (3 * 15 + 2 * 15) / 24329)^2 = 1.71 times the slope it has beside a
triangle and a noise at their highest."""
TRIED = 3
"""Pictures tried for a shift: evenly spread, then the first ones."""


def of_testcase(case: Case, recording: Recording, run: Comparison, row: Row) -> dict[str, Any]:
    """``Row.hints``: lists of hints ``picture`` and ``sound``, and every audible channel's loudness, ``channels``."""
    found: dict[str, Any] = {}
    if row.video_score < 1.0:
        found["picture"] = of_pictures(run)
    if row.audio_score is not None and min(row.audio_score, row.loudness) < GOOD:
        found["sound"], found["channels"] = of_sound(case, recording.audio, run.audio, recording.audio_rate)
    return {key: value for key, value in found.items() if value}


# ---- pictures --------------------------------------------------------------------------------------------------------


def of_pictures(run: Comparison) -> list[str]:
    """What the diverging frames have in common."""
    timed = min(int((run.differing > NOISE_PIXELS).sum()), TIMED)
    pairs = [pair for frame, pair in run.kept.items() if run.differing[frame] > NOISE_PIXELS]
    if not pairs:
        return []
    if all((cand == cand[0]).all() for _, cand in pairs):
        return ["the picture is blank"]
    for count, word in ((run.early, "early"), (run.late, "late")):
        if count > 0.5 * timed:
            return [f"the picture is one frame {word} ({count} of the first {timed} diverging frames)"]
    spread = pairs[:: max(len(pairs) // TRIED, 1)][:TRIED]
    if shift := _shift(spread):
        return [f"the picture is {shift}"]
    if found := _colours(pairs) or _place(pairs):
        return [found]
    if shift := _shift(pairs[:TRIED]):  # before it led the game another way
        return [f"the first pictures that differ are {shift}"]
    return []


def _shift(pairs: list[Pair]) -> str | None:
    shifts = {shift_in_space(*(p.reshape(HEIGHT, WIDTH) for p in pair)) for pair in pairs}
    if len(shifts) != 1 or None in shifts:
        return None
    return spoken(shifts.pop())  # type: ignore[arg-type]


def _colours(pairs: list[Pair]) -> str | None:
    ref, cand = (np.concatenate(side) for side in zip(*pairs, strict=True))
    if np.array_equal(ref & 0x3F, cand & 0x3F):
        return "only the colour emphasis differs (PPUMASK bits 5 to 7)"
    for grey, coloured, what in ((cand, ref, "on where it should be off"), (ref, cand, "off where it should be on")):
        changed = ref != cand
        if np.array_equal(grey[changed], coloured[changed] & ~np.uint16(0x0F)):
            return f"greyscale is {what} (PPUMASK bit 0)"
    return None


def _place(pairs: list[Pair]) -> str | None:
    identity = palette().identity
    wrong = np.zeros((HEIGHT, WIDTH), bool)
    for ref, cand in pairs:
        wrong |= (identity[ref] != identity[cand]).reshape(HEIGHT, WIDTH)
    rows, columns = np.flatnonzero(wrong.any(axis=1)), np.flatnonzero(wrong.any(axis=0))
    first, last = int(rows[0]), int(rows[-1])
    if columns[-1] < 8:
        return "only the leftmost 8 pixels differ: clipping (PPUMASK bits 1 and 2)"
    if last - first < 16:
        return f"only scanlines {first} to {last} differ: a split, or something that happens once a frame"
    return None


# ---- sound -----------------------------------------------------------------------------------------------------------


def of_sound(
    case: Case, ref: NDArray[np.int16], cand: NDArray[np.int16], rate: int
) -> tuple[list[str], dict[str, float]]:
    """Hints about a testcase's sound, and how loud each audible channel is beside the reference's (1 = the same)."""
    if not np.any(cand):
        return ["there is no sound"], {}
    hints = []
    level = float(cand.mean(dtype=np.float64))
    if abs(level) > max(2.0 * abs(float(ref.mean(dtype=np.float64))), 1000.0):
        hints.append("the sound is not centred on zero: no high-pass filter, or another resting level")
    loudness = float(cand.std(dtype=np.float64) / max(ref.std(dtype=np.float64), 1.0))
    if not 0.5 <= loudness <= 2.0:
        hints.append(f"the sound is {'too loud' if loudness > 2 else 'too quiet'} ({loudness:.2g} times as loud)")
    alone = _powers_alone(case, rate)
    if alone is None:
        return hints, {}
    size = min(FRAMES * audio_metric.hop(rate), ref.size, cand.size)
    powers = [_power(ref[:size], rate), _power(cand[:size], rate), *alone]
    count = min(map(len, powers)) // BLOCK
    if not count:
        return hints, {}
    ours, theirs, *rest = (power[: count * BLOCK].reshape(count, BLOCK, -1).mean(axis=1) for power in powers)
    alone = np.stack(rest)
    weight = 1.0 / (ours + 0.1 * ours.mean(axis=0) + audio_metric.EPSILON)
    audible = ours >= np.median(ours)
    scale = float(np.median(theirs[audible] / ours[audible])) or 1.0
    ref_fit, ref_rest = _fit(alone * weight, ours * weight)
    cand_fit, cand_rest = _fit(alone * weight, theirs / scale * weight)
    if ref_rest > 0.3:
        return hints, {}  # the reference itself is not what our channels add up to: nothing can be said
    if cand_rest > max(2.0 * ref_rest, 0.25):
        return [*hints, "the sound is not what the channels play: another tune or tempo, or out of step"], {}
    part = ref_fit * (alone * weight).sum(axis=(1, 2)) / (ours * weight).sum()
    channels = {
        name: round(float(np.sqrt(scale * cand_fit[place] / ref_fit[place])), 3)
        for place, name in enumerate(CHANNELS)
        if part[place] >= AUDIBLE
    }
    return hints + wrong_channels(channels), channels


def wrong_channels(channels: dict[str, float]) -> list[str]:
    """Hints about channels whose loudness, 1 = the reference's, is not that of the others.

    Triangle, noise and DMC share a pin, and one of them is louder when another is missing: up to ``ONE_PIN`` times, at
    full volume, which is nobody's fault but the missing one's.
    """
    heard = [ratio for ratio in channels.values() if ratio >= MISSING * max(channels.values())]
    usual = float(np.median(heard)) if heard else 0.0
    beside = {name: ratio / (usual or 1.0) for name, ratio in channels.items()}
    hints = []
    for name, ratio in beside.items():
        mates = [beside[mate] for mate in SHARING if mate in beside and mate != name] if name in SHARING else []
        highest = ONE_PIN if any(mate < LOWEST for mate in mates) else HIGHEST
        lowest = 1.0 / ONE_PIN if any(mate > HIGHEST for mate in mates) else LOWEST
        if ratio < MISSING:
            hints.append(f"the {SPOKEN[name]} channel is missing")
        elif len(heard) > 2 and not lowest <= ratio <= highest:
            word = "loud" if ratio > 1.0 else "quiet"
            hints.append(f"the {SPOKEN[name]} channel is too {word} beside the others ({ratio:.2g} times as loud)")
    return hints


def _power(track: NDArray[np.int16], rate: int) -> NDArray[np.float64]:
    return np.exp(audio_metric.spectrogram(track, rate).logmel)


def _powers_alone(case: Case, rate: int) -> list[NDArray[np.float64]] | None:
    """Power of each channel alone, five times [frames, 40]; None when our console cannot play this."""
    ours = resolve(PYNES_REF)
    powers = []
    for sounding in CHANNELS:
        console = ours.open()
        if not isinstance(console, Mutable) or console.emu_audio_rate() != rate:
            return None
        console.mute(name for name in CHANNELS if name != sounding)
        sound = []
        try:
            prepare(console, case.rom())
        except CandidateError:
            return None
        for keys in case.keys[:FRAMES]:
            console.emu_set_keys(keys)
            console.emu_run_frame()
            sound.append(drain(console))
        powers.append(_power(np.concatenate(sound), rate))
    return powers


def _fit(alone: NDArray[np.float64], power: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """How much of each channel makes up this power, and the part of it that is left unexplained."""
    from scipy.optimize import nnls

    power = np.minimum(power, 16.0)  # a burst where the reference is still must not decide everything
    # Cholesky's factor is a triangle of five channels that has the least squares of all frames and bands.
    products = np.array([[(a * b).sum() for b in alone] for a in alone])
    root = np.linalg.cholesky(products + np.eye(len(alone)) * max(1e-9 * products.trace(), 1e-30))
    gains, _ = nnls(root.T, np.linalg.solve(root, [(one * power).sum() for one in alone]))
    left = np.abs((alone * gains[:, None, None]).sum(axis=0) - power).sum() / max(power.sum(), 1e-9)
    return gains, float(left)


# ---- by subsystem ----------------------------------------------------------------------------------------------------


def by_subsystem(rows: list[Row]) -> list[dict[str, Any]]:
    """``[{"subsystem", "text", "testcases"}]``: what a subsystem's testcases say together, most frequent first."""
    result = []

    def say(text: str, testcases: list[str]) -> None:
        result.append({"subsystem": where, "text": text, "testcases": testcases})

    for section in SECTIONS:
        kind = "sound" if section == "audio" else "picture"
        groups: dict[str, list[tuple[str, float, list[str]]]] = {}
        for row in rows:
            name, score = row.subsystem if row.section == section else None, row.video_score
            if kind == "sound":
                name, score = row.audio_subsystem, row.audio_score
            if name and score is not None:
                said = [row.skip_reason] if row.skip_reason else row.hints.get(kind, [])
                groups.setdefault(name, []).append((row.id, score, said))
        for name, group in groups.items():
            where = f"{section}/{name}"
            losing = [case for case, score, _ in group if score < 1.0]
            if losing:
                say(f"{len(losing)} of {len(group)} testcases lose points", losing)
            texts: dict[str, list[str]] = {}
            for case, _, said in group:
                for text in said:
                    texts.setdefault(_NUMBERS.sub("", text), []).append(case)
            for text, found in sorted(texts.items(), key=lambda item: (-len(item[1]), item[0])):
                say(text, found)
    return result


_NUMBERS = re.compile(r" \(\d[^()]*\)$")


def lines(found: list[dict[str, Any]]) -> list[str]:
    """For the terminal and the report."""
    return [f"{entry['subsystem']}: {entry['text']} ({', '.join(entry['testcases'])})" for entry in found]
