"""Guesses tested by experiment: an emulator is run again with one thing changed, and what was different then agrees.

Only an emulator that can run takes part; a recording cannot. An experiment ends at its first disagreement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from abi.bugs import Mutable
from abi.loader import Emulator
from grader.explain_guess import Guess
from grader.explain_run import Job, Parting, Side, checksum

CONFIRM = 60
"""Frames past the first difference that an experiment must explain (fewer at the end of a run)."""
CHANNELS = ("pulse1", "pulse2", "triangle", "noise", "dmc")
NAMES = {"pulse1": "pulse 1", "pulse2": "pulse 2", "triangle": "triangle", "noise": "noise", "dmc": "DMC"}


def _swap(a: int, b: int) -> Callable[[Sequence[int]], bytes]:
    def change(keys: Sequence[int]) -> bytes:
        return bytes(k & ~(1 << a | 1 << b) | (k >> a & 1) << b | (k >> b & 1) << a for k in keys)

    return change


def _moved(by: int) -> Callable[[Sequence[int]], bytes]:
    def change(keys: Sequence[int]) -> bytes:
        keys = bytes(keys)
        return bytes(by) + keys[:-by] if by > 0 else keys[-by:] + keys[-1:] * -by

    return change


def _reversed(keys: Sequence[int]) -> bytes:
    return bytes(int(f"{held:08b}"[::-1], 2) for held in keys)


def _no_opposites(keys: Sequence[int]) -> bytes:
    return bytes(k & ~(0xC0 if k & 0xC0 == 0xC0 else 0) & ~(0x30 if k & 0x30 == 0x30 else 0) for k in keys)


INPUTS: tuple[tuple[str, str, Callable[[Sequence[int]], bytes]], ...] = (
    ("ab-swap", "A and B are swapped", _swap(0, 1)),
    ("start-select-swap", "Start and Select are swapped", _swap(2, 3)),
    ("up-down-swap", "Up and Down are swapped", _swap(4, 5)),
    ("left-right-swap", "Left and Right are swapped", _swap(6, 7)),
    ("reversed", "the buttons' bits are in reverse order (bit 0 is A)", _reversed),
    ("no-input", "the buttons have no effect", lambda k: bytes(len(k))),
    ("input-late", "the buttons take effect a frame later", _moved(1)),
    ("input-early", "the buttons take effect a frame earlier", _moved(-1)),
    ("opposites", "it does not let opposite directions be held at once", _no_opposites),
)  # fmt: skip
"""Faults of the input: name, what to say, and the keys that an emulator without the fault would need to show it."""


def of_input(job: Job, reference: Emulator, candidate: Emulator, found: Parting) -> Guess | None:
    """Is it the input? Run one side with changed buttons against what the other showed."""
    at = found.first_frame
    if at is None or not any(job.keys[: at + 1]):
        return None
    end = min(at + CONFIRM, found.frames)
    # A good emulator with the fault's keys shows what the faulty one showed; else the faulty one with its inverse.
    if not reference.recorded:
        runner, shown, faulty = reference, found.checksums[1], True
    elif not candidate.recorded:
        runner, shown, faulty = candidate, found.checksums[0], False
    else:
        return None
    for kind, text, change in INPUTS:
        if not faulty and kind in ("no-input", "opposites"):
            continue
        if not faulty and kind in ("input-late", "input-early"):
            change = _moved(-1 if kind == "input-late" else 1)
        keys = change(job.keys)
        if keys[: at + 1] == job.keys[: at + 1]:
            continue
        if _shows(runner, replace(job, keys=keys[:end]), shown):
            how = "the reference with its buttons changed like that shows what the candidate shows"
            if not faulty:
                how = "with its buttons changed back the candidate shows what the reference shows"
            return Guess(kind, f"On the candidate {text}: {how}, to frame {end - 1} at least.", True)
    return None


def _shows(emulator: Emulator, job: Job, shown: Any) -> bool:
    side = Side(emulator, job)
    try:
        return all(checksum(side.frame(held)[0]) == shown[frame] for frame, held in enumerate(job.keys))
    finally:
        side.close()


def of_channels(job: Job, reference: Emulator, found: Parting, sounding: Sequence[str] = CHANNELS) -> Guess | None:
    """Are channels missing? Silence some of ``reference``'s and compare with the candidate's sound.

    A channel is only missed when it plays, so what is found at the first difference is kept and the rest of the run
    is searched for more.
    """
    job = replace(job, keys=job.keys[: found.frames])
    heard = found.sound[1]
    muted: tuple[str, ...] = ()
    call, left = found.sample_call, found.far_sample
    while left is not None and call is not None:
        more = _missing(job, reference, found, call, muted, [c for c in sounding if c not in muted])
        if not more:
            break
        muted += more
        sounding = CHANNELS
        sound = _muted(reference, job, muted)
        size = min(sound.size, heard.size)
        off = np.flatnonzero(np.abs(sound[:size].astype(np.int32) - heard[:size]) > 1)
        left = int(off[0]) if off.size else None
        call = None if left is None else int(np.searchsorted(np.cumsum(found.counts[0]), left, side="right"))
    if not muted:
        return None
    names = [NAMES[channel] for channel in CHANNELS if channel in muted]
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    it, verb = ("them", "are") if len(names) > 1 else ("it", "is")
    rest = (
        f"to the end of the {found.frames} frames" if left is None else f"but from sample {left} on more is different"
    )
    text = (
        f"{listed} {verb} missing from the candidate's sound: without {it} the reference sounds just like it, {rest}."
    )
    return Guess("missing-channels", text[0].upper() + text[1:], left is None)


def _missing(job, reference, found, call, muted, sounding) -> tuple[str, ...]:
    """The fewest channels to silence besides ``muted`` for the sound from ``call`` on to agree."""
    end = min(call + 12, found.frames)
    start = int(found.counts[0][:call].sum())
    heard = found.sound[1][start : int(found.counts[0][:end].sum())].astype(np.float64)
    short = replace(job, keys=job.keys[:end])

    def apart(channels: tuple[str, ...]) -> float | None:
        sound = _muted(reference, short, channels)
        if sound is None:
            return None
        size = min(sound.size - start, heard.size)
        return float(((sound[start : start + size] - heard[:size]) ** 2).sum())

    best, least = (), apart(muted)
    if not least:  # no way to silence channels, or nothing to explain
        return ()
    least *= 0.02
    for count in range(1, len(sounding) + 1):
        for channels in combinations(sounding, count):
            left = apart(muted + channels)
            if left < least:
                best, least = channels, left
        if best:
            break
    return best


def _muted(emulator: Emulator, job: Job, channels: Sequence[str]) -> Any:
    """The sound with channels silenced, or None when the emulator offers no way."""
    side = Side(emulator, job)
    try:
        if not isinstance(side.candidate, Mutable):
            return None
        side.candidate.mute(channels)
        return np.concatenate([side.frame(held)[1] for held in job.keys])
    finally:
        side.close()
