"""Plain-words guesses at the cause of a difference, from the pictures and the sound alone.

Each test looks for one well-known fault and says nothing when it does not fit: a guess that is often wrong is worse
than none. Where an emulator can be run again, ``explain_try`` tests guesses by experiment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abi.shift import OFFSETS, shift_in_space
from grader.explain_run import Parting
from grader.lockstep import Pair
from grader.metrics.video import FLAT, HEIGHT, PIXELS, WIDTH
from grader.pictures import palette

WINDOW = 60
"""Frames from the first difference on that a shift in time must explain."""
REACH = 4
"""Frames of such a shift."""


@dataclass(frozen=True)
class Guess:
    """``kind`` is for programs, ``text`` for people. ``sure``: nothing else fits or an experiment has shown it."""

    kind: str
    text: str
    sure: bool = False


@dataclass(frozen=True)
class Region:
    """Where two pictures differ."""

    pixels: int
    first: tuple[int, int]
    """Scanline and x of the first differing pixel in raster order."""
    top: int
    bottom: int
    left: int
    right: int


def region(pair: Pair) -> Region:
    unequal = (pair[0] != pair[1]).reshape(HEIGHT, WIDTH)
    at = np.argwhere(unequal)
    (top, left), (bottom, right) = at.min(axis=0), at.max(axis=0)
    y, x = at[0]
    return Region(len(at), (int(y), int(x)), int(top), int(bottom), int(left), int(right))


def several(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


# ---- The picture -----------------------------------------------------------------------------------------------------


def of_picture(found: Parting) -> list[Guess]:
    """Guesses about the first picture that differs."""
    assert found.first_frame is not None
    pair = found.pairs[found.first_frame]
    ref, cand = (np.asarray(p).reshape(HEIGHT, WIDTH) for p in pair)
    for test in (_blank, _frozen, _in_time):
        guess = test(found, ref, cand)
        if guess:
            return [guess]
    guesses = []
    colour = _colours(ref, cand)
    space = None if colour else _in_space(found, ref, cand)
    for guess in (colour, space, None if colour or space else _line_run(ref, cand)):
        if guess:
            guesses.append(guess)
    guesses.append(_extent(found, pair))
    return guesses


def _flat(picture: NDArray[np.uint16]) -> bool:
    tables = palette()
    colours = tables.identity[picture.reshape(-1)]
    return bool((colours == colours[0]).sum() >= FLAT * PIXELS)


def _blank(found: Parting, ref, cand) -> Guess | None:
    if not _flat(cand) or _flat(ref):
        return None
    sums = found.checksums[1]
    shows = np.flatnonzero(sums[found.first_frame :] != sums[found.first_frame])
    colour = f"${int(cand[0, 0]):02X}"
    if not shows.size:
        return Guess("blank", f"The candidate shows nothing but colour {colour}, in every frame from here on.", True)
    in_time = _in_time(found, ref, cand)
    if in_time:
        return in_time
    return Guess(
        "blank",
        f"The candidate's picture is blank (colour {colour}) where the reference already shows something; "
        f"the candidate's first changes in frame {found.first_frame + int(shows[0])}.",
    )


def _frozen(found: Parting, ref, cand) -> Guess | None:
    at = found.first_frame
    ref_sums, cand_sums = (sums[max(at - 1, 0) : at + WINDOW] for sums in found.checksums)
    if at < 2 or len(cand_sums) < 8 or len(set(cand_sums.tolist())) > 1 or len(set(ref_sums.tolist())) < 4:
        return None
    return Guess(
        "frozen",
        f"The candidate's picture stops changing after frame {at - 1}: has its CPU jammed, or is it waiting for an "
        "interrupt or a flag that never comes?",
    )


def shift_in_time(found: Parting) -> tuple[int, int, int] | None:
    """(d, frames that fit, frames looked at): the candidate's frame i is the reference's frame i + d.

    It must fit nearly always, or without a gap for some frames: a run that is a frame off sees the buttons in another
    frame of its life, and so shows something else from the first press on.
    """
    at = found.first_frame
    ref, cand = found.checksums
    best, best_rank = None, (0, 0, 0)
    for d in (n * sign for n in range(1, REACH + 1) for sign in (1, -1)):
        places = np.arange(at, min(at + WINDOW, found.frames))
        places = places[(places + d >= 0) & (places + d < found.frames)]
        if places.size < 4:
            continue
        fits = cand[places] == ref[places + d]
        telling = fits & (ref[places] != ref[places + d])
        unbroken = int(np.argmin(fits)) if not fits.all() else places.size
        if fits.mean() < 0.9:
            if unbroken < 8:
                continue
            fits, telling = fits[:unbroken], telling[:unbroken]
        rank = (int(telling.sum()), int(fits.sum()), -abs(d))
        if rank[0] and rank > best_rank:
            best, best_rank = (d, rank[1], fits.size), rank
    return best


def _in_time(found: Parting, ref, cand) -> Guess | None:
    shift = shift_in_time(found)
    if shift is None:
        return None
    d, fits, looked = shift
    frames = several(abs(d), "frame")
    text = (
        f"The candidate is {frames} {'early' if d > 0 else 'late'}: its picture is the reference's "
        f"{frames} {'later' if d > 0 else 'earlier'} ({fits} of {looked} frames looked at)."
    )
    counts = found.counts[1]
    if found.first_frame - abs(d) <= 8 or found.first_counts == 0:
        if d > 0 and counts.size and counts[0] > 0:
            made = several(int(counts[0]), "sample")
            text += f" Call 0 must run nothing (abi/ABI.md), but the candidate's already makes {made}."
        elif d == 1:
            text += ' It looks as if its call 0 is not empty, as it must be (abi/ABI.md, "Call 0").'
        elif d == -1:
            text += " It looks as if it has one empty call too many at the start (see emu_boot_frames in abi/ABI.md)."
    else:
        text += f" Up to frame {found.first_frame - 1} it was in step:"
        text += " a lag frame more or less, or input seen at another time."
    return Guess("early" if d > 0 else "late", text, fits == looked)


def _colours(ref, cand) -> Guess | None:
    """The same shapes in other colours."""
    unequal = ref != cand
    pairs = np.unique(ref[unequal].astype(np.int64) << 16 | cand[unequal])
    if pairs.size > 64:
        return None
    if not ((ref ^ cand) & 0x3F).any():
        return Guess("emphasis", "Only the colour emphasis differs (PPUMASK bits 5 to 7); the colours are right.", True)
    if np.array_equal(cand[unequal] & 0x1F0, ref[unequal] & 0x1F0):
        if not (cand[unequal] & 0x0F).any() or not (ref[unequal] & 0x0F).any():
            who = "candidate" if not (cand[unequal] & 0x0F).any() else "reference"
            return Guess("grey", f"Only the {who} is greyscale there (PPUMASK bit 0).", True)
    sources = pairs >> 16
    if np.unique(sources).size != pairs.size:
        return None
    for source in sources:  # does every pixel of that colour change?
        same = int((ref == source).sum())
        if int((unequal & (ref == source)).sum()) != same:
            return None
    changes = ", ".join(f"${int(p >> 16):02X} -> ${int(p & 0xFFFF):02X}" for p in pairs[:8])
    if int(unequal.sum()) < 64 and len(pairs) > 1:
        return None
    return Guess(
        "palette",
        f"The shapes are the same, only colours differ, everywhere in the picture: {changes}. "
        "A palette entry, its mirrors ($3F10 = $3F00) or how PPUDATA reaches it.",
    )


def _in_space(found: Parting, ref, cand) -> Guess | None:
    unequal = (ref != cand).any(axis=1)
    first, last = np.flatnonzero(unequal)[[0, -1]]
    if last - first < 8 and int((ref != cand).sum()) < 64:
        return None
    whole = shift_in_space(ref, cand)
    if whole and _holds(found, whole):
        dy, dx = whole
        text = f"The whole picture is shifted {_by(dy, dx)}."
        if dx == 0 and abs(dy) == 1:
            text = (
                f"The picture is one scanline {'lower' if dy > 0 else 'higher'}: the candidate's line y shows the "
                f"reference's line y {'- 1' if dy > 0 else '+ 1'}. Rendering starts a line too "
                f"{'late' if dy > 0 else 'early'}, or the lines are stored one off."
            )
        return Guess("scanline" if dx == 0 and abs(dy) == 1 else "shift", text, True)
    if first < 4:
        return None
    below = shift_in_space(ref, cand, int(first))
    if below:
        return Guess(
            "split",
            f"From scanline {first} on the picture is shifted {_by(*below)}; above it is the same: a scroll split. The "
            "candidate's scroll (or bank, or nametable) takes effect on another scanline or not at all.",
        )
    return None


def _holds(found: Parting, shift: tuple[int, int]) -> bool:
    """Does a shift explain the later frames as well?"""
    dy, dx = shift
    later = [pair for frame, pair in found.pairs.items() if frame > found.first_frame][:8]
    hits = 0
    for pair in later:
        ref, cand = (p.reshape(HEIGHT, WIDTH) for p in pair)
        moved = np.roll(ref, (dy, dx), (0, 1))[OFFSETS:-OFFSETS, OFFSETS:-OFFSETS]
        hits += float((moved == cand[OFFSETS:-OFFSETS, OFFSETS:-OFFSETS]).mean()) > 0.98
    return hits >= 0.75 * len(later)


def _by(dy: int, dx: int) -> str:
    parts = []
    if dy:
        parts.append(f"{several(abs(dy), 'line')} {'down' if dy > 0 else 'up'}")
    if dx:
        parts.append(f"{several(abs(dx), 'pixel')} to the {'right' if dx > 0 else 'left'}")
    return " and ".join(parts)


def _line_run(ref, cand) -> Guess | None:
    """One short run of pixels in a line: a change in the middle of a line that comes at another dot."""
    unequal = ref != cand
    lines = np.flatnonzero(unequal.any(axis=1))
    y = int(lines[0])
    run = np.flatnonzero(unequal[y])
    if run[-1] - run[0] > 64 or run[0] == 0:
        return None
    place = slice(run[0], run[-1] + 1)
    where = f"On scanline {y} {several(run.size, 'pixel')} differ{'s' if run.size == 1 else ''}, from x {run[0]}"
    if (cand[y, place] == cand[y, run[0] - 1]).all() and not (ref[y, place] == ref[y, run[0] - 1]).all():
        return Guess(
            "dot-late", f"{where}: the candidate still shows what was before: a change that comes {run.size} dots late."
        )
    if (ref[y, place] == ref[y, run[0] - 1]).all() and not (cand[y, place] == cand[y, run[0] - 1]).all():
        return Guess(
            "dot-early", f"{where}, where the reference still shows what was before: a change {run.size} dots early."
        )
    if lines.size == 1:
        return Guess("dots", f"{where}; the rest of the picture is the same.")
    return None


def _extent(found: Parting, pair: Pair) -> Guess:
    area = region(pair)
    text = f"{several(area.pixels, 'pixel')} differ{'s' if area.pixels == 1 else ''}"
    if (area.top, area.bottom) == (0, HEIGHT - 1):
        text += " all over the picture"
    elif area.top == area.bottom:
        text += f", on scanline {area.top} alone, x {area.left} to {area.right}"
    else:
        text += f", on scanlines {area.top} to {area.bottom}, x {area.left} to {area.right}"
        if area.bottom == HEIGHT - 1 and area.top > 0:
            text += ": everything above is the same"
    later = found.differing_frames - 1
    rest = found.frames - found.first_frame - 1
    if rest > 0:
        text += (
            "; the frames after it are equal again"
            if later == 0
            else f"; of the {rest} frames compared after it {later} differ, too"
        )
    return Guess("extent", text + ".")


# ---- The sound -------------------------------------------------------------------------------------------------------


def of_sound(found: Parting) -> list[Guess]:
    """Guesses about the sound, best first."""
    guesses = []
    if found.first_counts is not None:
        guesses.append(_counts(found))
    if found.rates[0] != found.rates[1]:
        guesses.append(Guess("rate", f"The sampling rates differ: {found.rates[0]} and {found.rates[1]} Hz.", True))
        return guesses
    if found.first_sample is None:
        return guesses
    if found.far_sample is None:
        text = f"{several(found.differing_samples, 'sample')} differ by 1 at most: rounding, which nobody hears."
        return [*guesses, Guess("rounding", text, True)]
    guess = _waves(found)
    if guess:
        guesses.append(guess)
    return guesses


def _counts(found: Parting) -> Guess:
    at = found.first_counts
    ref, cand = (int(counts[at]) for counts in found.counts)
    unequal = int((found.counts[0] != found.counts[1]).sum())
    total = [int(counts.sum()) for counts in found.counts]
    text = f"Call {at} is the first of {unequal} with another number of samples: {cand}, the reference has {ref}"
    if at == 0 and cand:
        text += " (call 0 runs nothing and makes no sound)"
    elif abs(total[0] - total[1]) <= 2:
        text += "; all in all there are as many: the calls end a few CPU cycles apart"
    else:
        text += f"; all in all {total[1]} against {total[0]}"
    return Guess("counts", text + ".")


def _waves(found: Parting) -> Guess | None:
    if not np.any(found.sound[1][found.far_sample :]):
        whole = "throughout" if not np.any(found.sound[1]) else f"from sample {found.far_sample} on"
        return Guess("silent", f"The candidate is silent {whole}.", True)
    start = max(found.far_sample - 64, 0)
    ref, cand = (s[start : start + 16 * 735].astype(np.float64) for s in found.sound)
    size = min(ref.size, cand.size)
    ref, cand = ref[:size], cand[:size]
    if size < 16 or not np.any(ref):
        return Guess("extra-sound", "The reference is silent there and the candidate is not.") if np.any(cand) else None
    gain = float(ref @ cand / (ref @ ref))
    alike = float(ref @ cand / np.sqrt((ref @ ref) * (cand @ cand)))
    if abs(alike) > 0.999:
        if gain < 0:
            return Guess(
                "inverted", f"The wave is upside down (and {abs(gain):.2f} times as loud); inaudible by itself.", True
            )
        if abs(gain - 1) > 0.01:
            return Guess("gain", f"The wave is the same, {gain:.3g} times as loud.", True)
    lag = _lag(ref, cand)
    if lag:
        kind = "late" if lag > 0 else "early"
        return Guess(
            "lag", f"The wave is the same, {several(abs(lag), 'sample')} ({abs(lag) / 44.1:.2f} ms) {kind}.", True
        )
    off = cand - ref
    if np.abs(off - off.mean()).max() < 0.05 * max(np.abs(off.mean()), 1):
        return Guess(
            "offset", f"The waves differ by a constant {off.mean():.0f}: filters or a channel's resting level."
        )
    return None


def _lag(ref, cand, reach: int = 1600) -> int:
    """Samples by which ``cand`` comes later, 0 when no shift makes the waves alike."""
    size = 1 << int(np.ceil(np.log2(2 * ref.size)))
    product = np.fft.irfft(np.fft.rfft(cand, size) * np.conj(np.fft.rfft(ref, size)), size)
    shifts = np.concatenate((np.arange(reach + 1), np.arange(-reach, 0)))
    lag = int(shifts[np.argmax(product[shifts])])
    if lag == 0:
        return 0
    a, b = (ref[: ref.size - lag], cand[lag:]) if lag > 0 else (ref[-lag:], cand[: cand.size + lag])
    norm = np.sqrt((a @ a) * (b @ b))
    return lag if norm and float(a @ b) / norm > 0.995 else 0
