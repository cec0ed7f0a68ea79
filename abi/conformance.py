"""Does an emulator keep the ABI? Some seconds, with a diagnosis in plain words.

Most checks run a ROM made here (``abi.probe_rom``) whose every picture and click is known in advance. With a reference
and, if wanted, another ROM, both are played side by side and a slip of whole frames is looked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abi import probe_rom
from abi.candidate import (
    AUDIO_RATE,
    HEIGHT,
    PIXEL_MASK,
    PIXELS,
    ROM_BUFFER_BYTES,
    WIDTH,
    Candidate,
    CandidateError,
    EmulatorError,
    boot,
    drain,
    load,
    start,
)
from abi.loader import Emulator, resolve
from abi.shift import shift_in_space, spoken

CALLS = 40
KEYS_FROM = 20  # then one button a call, A first
CLICK_AT = range(690, 703)
"""Where in a call's samples the probe's click is when frames end where they should (695 to 697 there)."""
NEXT_PIXELS = 12
"""Pixels at the left of line 0 that may already be the next picture's."""
BUTTONS = ("A", "B", "Select", "Start", "Up", "Down", "Left", "Right")


@dataclass(frozen=True)
class Finding:
    """One thing looked at. ``fatal``: not keeping it breaks comparisons; otherwise it is merely odd."""

    ok: bool
    text: str
    fatal: bool = True


@dataclass(frozen=True)
class Run:
    """What the probe showed: pictures [n, 240, 256], samples of each call."""

    frames: NDArray[np.uint16]
    sound: list[NDArray[np.int16]]
    seconds: float

    @property
    def colours(self) -> list[int]:
        """The colour in the middle of each picture."""
        return [int(frame[120, 128]) for frame in self.frames]

    def same(self, other: Run) -> bool:
        """Byte for byte the same?"""
        return np.array_equal(self.frames, other.frames) and all(
            np.array_equal(a, b) for a, b in zip(self.sound, other.sound, strict=True)
        )


def probe_keys() -> list[int]:
    """The probe's input: one button a call from call 20 on."""
    return [1 << (n - KEYS_FROM) if KEYS_FROM <= n < KEYS_FROM + 8 else 0 for n in range(CALLS)]


def play(candidate: Candidate, keys: list[int]) -> Run:
    """Run a loaded emulator."""
    frames = np.zeros((len(keys), HEIGHT, WIDTH), np.uint16)
    sound = []
    begun = time.perf_counter()
    for number, held in enumerate(keys):
        candidate.emu_set_keys(held)
        candidate.emu_run_frame()
        picture = candidate.emu_framebuffer()
        if picture.size != PIXELS:
            raise CandidateError(f"the framebuffer has {picture.size} pixels, not {PIXELS}")
        frames[number] = picture.reshape(HEIGHT, WIDTH)
        sound.append(drain(candidate))
    return Run(frames, sound, time.perf_counter() - begun)


def check(
    name: str, rom: str | Path | None = None, reference: str | None = None, trust_native: bool = False
) -> list[Finding]:
    """Check an emulator; EmulatorError when the name means nothing or the reference or ROM cannot be used."""
    emulator = resolve(name, trust_native=trust_native)
    if emulator.recorded:
        raise EmulatorError(f"{name} is a recording: there is nothing to check")
    other = resolve(reference, trust_native=trust_native) if reference is not None else None
    findings: list[Finding] = []
    try:
        candidate = emulator.open()
    except EmulatorError as error:
        return [Finding(False, str(error))]
    try:
        _check_all(emulator, candidate, findings)
        if other is not None and all(finding.ok or not finding.fatal for finding in findings[:3]):
            data = Path(rom).read_bytes() if rom else probe_rom.rom()
            findings.extend(compare(emulator, other, data))
    except CandidateError as error:
        findings.append(Finding(False, str(error)))
    finally:
        close = getattr(candidate, "close", None)
        if close is not None:
            close()
    findings.extend(Finding(False, note, fatal=False) for note in getattr(candidate, "notes", []))
    return findings


def _check_all(emulator: Emulator, candidate: Candidate, findings: list[Finding]) -> None:
    findings.append(Finding(True, "it opens, and exports the ten functions with their types"))
    start(candidate)
    findings.append(Finding(True, "emu_init answers 1"))
    room = len(candidate.emu_rom_buffer())
    findings.append(
        Finding(room >= ROM_BUFFER_BYTES, f"the ROM buffer has {room / 2**20:.3g} MiB (8 or more are asked for)")
    )
    rate = candidate.emu_audio_rate()
    findings.append(Finding(rate == AUDIO_RATE, f"emu_audio_rate answers {rate} (44100 is asked for)"))
    boots = candidate.emu_boot_frames()
    if boots:
        findings.append(Finding(False, f"emu_boot_frames asks for {boots} frames to be run and thrown away", False))
    rom = probe_rom.rom()
    load(candidate, rom)
    boot(candidate, boots)
    first = play(candidate, probe_keys())
    findings.extend(picture_findings(first))
    findings.extend(timing_findings(first))
    findings.extend(sound_findings(first))
    findings.extend(_state_findings(emulator, candidate, rom, boots, first))
    speed = CALLS / first.seconds if first.seconds else 0.0
    findings.append(Finding(speed > 60.1, f"speed on the probe: {speed:.0f} frames/s", fatal=False))


def picture_findings(run: Run) -> list[Finding]:
    """Pixel values and the first picture."""
    top = int(run.frames.max())
    found = [Finding(top <= PIXEL_MASK, f"pixels are at most {top} (511 is the highest; more is cut off)", False)]
    found.append(Finding(not run.frames[0].any(), "call 0 shows a picture of zeros"))
    flat = run.frames[:, 1:, :]  # line 0 may already show a few pixels of the next picture
    ragged = [n for n in range(len(flat)) if (flat[n] != flat[n, 0, 0]).any()]
    text = "with rendering off, pictures are the backdrop colour throughout"
    low = _lines_low(run, ragged)
    if low:
        text += f"; the picture is {spoken((low, 0))}: what line 0 already shows of the next picture is on line {low}"
    elif ragged:
        text += f"; call {ragged[0]} shows several colours (are palette writes in vertical blank on time?)"
    found.append(Finding(not ragged, text))
    return found


def _lines_low(run: Run, ragged: list[int]) -> int:
    """By how many lines the few pixels at the left of line 0 come too low in all of these calls; 0: it is not that."""
    lines = set()
    for call in ragged:
        odd = run.frames[call] != run.colours[call]
        lines.update(np.flatnonzero(odd.any(axis=1)).tolist())
        following = run.colours[call + 1 : call + 2] or run.frames[call][odd][:1]
        if odd[:, NEXT_PIXELS:].any() or (run.frames[call][odd] != following[0]).any():
            return 0
    lines.discard(0)
    return lines.pop() if len(lines) == 1 else 0


def timing_findings(run: Run) -> list[Finding]:
    """Call 0, the frame number, the frame's end and the buttons, from the colours of the probe."""
    colours = run.colours
    coloured = [n for n, colour in enumerate(colours) if colour]
    if not coloured:
        return [
            Finding(
                False,
                "the probe's picture never changes: NMI, $2006/$2007 or the backdrop colour do not work",
                fatal=bool(run.frames.any()),  # a blank screen emulates nothing, but it keeps the ABI
            )
        ]
    slip = probe_rom.FIRST_COLOUR_CALL - coloured[0]
    found = []
    if slip:
        frames = "one frame" if abs(slip) == 1 else f"{abs(slip)} frames"
        side = "early" if slip > 0 else "late"
        text = f"your emulator is {frames} {side}: the first NMI's colour shows in call {coloured[0]}, not in call 4."
        if slip == 1 and run.sound[0].size:
            text += " Call 0 runs a frame and should run nothing (ABI.md, 'Call 0')"
        elif slip == 1:
            text += " Call 0 is empty, so is the vertical-blank flag set before power-on, or a wait one frame short?"
        elif slip == -1:
            text += " Is there a second empty call, or does a frame end at vertical blank?"
        found.append(Finding(False, text))
    else:
        found.append(Finding(True, "call 0 runs nothing and call 1 is the first frame"))
    skipped = [n for n in range(coloured[0], KEYS_FROM) if colours[n] != ((n - coloured[0] + 1) & 15) + 1]
    text = "every call is one frame"
    if skipped:
        text += f", but after call {skipped[0] - 1} the next picture is not the next frame's"
    found.append(Finding(not skipped, text))
    if not skipped:
        found.extend(_button_findings(colours))
    return found


def _button_findings(colours: list[int]) -> list[Finding]:
    wanted = list(probe_rom.KEY_COLOURS)
    for delay in (1, 0, 2):
        shown = colours[KEYS_FROM + delay : KEYS_FROM + delay + 8]
        if sorted(shown) == sorted(wanted):
            break
    else:
        return [Finding(False, "buttons do not reach the program through $4016 (or several at once do)")]
    if delay == 1:
        found = [Finding(True, "a button set before call n shows in call n + 1")]
    elif delay == 0:
        found = [
            Finding(
                False,
                "a button set before call n shows in call n itself: frames end at the beginning of vertical blank "
                "(scanline 241), they should end 21 lines later, when scanline 0 begins",
            )
        ]
    else:
        found = [Finding(False, "a button set before call n shows in call n + 2: it is handed on a frame late")]
    wrong = [
        f"{BUTTONS[n]} is read as {BUTTONS[wanted.index(colour)]}"
        for n, colour in enumerate(shown)
        if colour != wanted[n]
    ]
    return [*found, Finding(not wrong, "buttons: " + (", ".join(wrong) if wrong else "all eight in their order"))]


def sound_findings(run: Run) -> list[Finding]:
    """Sample counts and the click's place in its frame."""
    counts = [sound.size for sound in run.sound]
    found = [Finding(counts[0] == 0, f"call 0 makes {counts[0]} samples (0 are asked for)")]
    found.append(Finding(counts[1] == 716, f"call 1 makes {counts[1]} samples (716 are asked for)", counts[1] == 0))
    later = counts[2:]
    mean = float(np.mean(later))
    text = f"later calls make {min(later)} to {max(later)} samples, {mean:.2f} on average (733 or 734, 733.79)"
    if set(later) == {735}:
        text += ": a frame is 29780.5 CPU cycles, a little less than 1/60 s"
    found.append(Finding(set(later) <= {733, 734}, text, fatal=not 700 < mean < 760))
    places = []
    for sound in run.sound[6:KEYS_FROM]:
        if sound.size > 1:
            steps = np.abs(np.diff(sound.astype(np.int64)))
            if steps.max() > 300:
                places.append(int(steps.argmax()))
    if len(places) < 5:
        silent = not any(sound.any() for sound in run.sound)
        return [*found, Finding(False, "the clicks of the DMC's level ($4011) are not heard", fatal=not silent)]
    middle = int(np.median(places))
    text = f"a click at scanline 241 comes at sample {middle} of its call (about 695 is asked for)"
    if middle < 100:
        text += ": frames end at vertical blank"
    return [*found, Finding(middle in CLICK_AT, text, fatal=abs(middle - 696) > 30)]


def _state_findings(emulator: Emulator, candidate: Candidate, rom: bytes, boots: int, first: Run) -> list[Finding]:
    """Reset, loading again, other ROMs, a second instance, draining, steady pointers."""
    keys = probe_keys()
    found = []

    def again(text: str, prepare: Callable[[], Any], who: Candidate = candidate) -> None:
        prepare()
        boot(who, boots)
        found.append(Finding(play(who, keys).same(first), text))

    def reset() -> None:
        if not candidate.emu_reset():
            raise CandidateError("emu_reset answers 0")

    again("emu_reset gives the state after loading, byte for byte", reset)
    junk = candidate.emu_rom_buffer()
    junk[:64] = 0x55
    found.append(Finding(not candidate.emu_load_rom(64), "emu_load_rom answers 0 for what is no ROM", fatal=False))
    again("loading again gives the same run", lambda: load(candidate, rom))
    second = emulator.open()

    def prepare_second() -> None:
        start(second)
        load(second, rom)

    try:
        again("a second instance gives the same run", prepare_second, second)
    finally:
        close = getattr(second, "close", None)
        if close is not None:
            close()
    load(candidate, rom)
    boot(candidate, boots)
    for _ in range(4):
        candidate.emu_run_frame()
    drained = drain(candidate).size
    expected = sum(sound.size for sound in first.sound[:4])
    found.append(
        Finding(
            drained == expected, f"four calls without draining keep {drained} samples (together they make {expected})"
        )
    )
    left = candidate.emu_audio_samples()
    found.append(Finding(left == 0, f"asked at once again, emu_audio_samples answers {left} (it drains: 0)"))
    ask = getattr(candidate, "ask_pointer", None)
    if ask is not None:
        for name in ("emu_framebuffer", "emu_rom_buffer"):
            places = set()
            for _ in range(4):
                places.add(ask(name))
                candidate.emu_run_frame()
            found.append(Finding(len(places) == 1, f"{name} stays where it is"))
    return found


def compare(emulator: Emulator, reference: Emulator, rom: bytes, calls: int = 300) -> list[Finding]:
    """Play a ROM on both without input and look for a slip of whole frames."""
    runs = []
    for one in (emulator, reference):
        instance = one.open()
        try:
            start(instance)
            load(instance, rom)
            boot(instance, instance.emu_boot_frames())
            runs.append(play(instance, [0] * calls))
        except CandidateError as error:
            return [Finding(False, f"{one.title}: {error}")]
        finally:
            close = getattr(instance, "close", None)
            if close is not None:
                close()
    ours, theirs = runs
    changes = int(np.count_nonzero((theirs.frames[1:] != theirs.frames[:-1]).any(axis=(1, 2))))
    agree = {shift: _agreement(ours.frames, theirs.frames, shift) for shift in (0, 1, -1, 2, -2)}
    best = max(agree, key=lambda shift: agree[shift])
    text = f"against {reference.title}: {agree[0]:.1%} of {calls} pictures agree"
    if best and changes > 2 and agree[best] > agree[0] + 0.1:
        frames = "one frame" if abs(best) == 1 else f"{abs(best)} frames"
        side = "early" if best > 0 else "late"
        text += f"; your emulator is {frames} {side} ({agree[best]:.1%} agree when it is shifted)"
    elif shift := _shift(ours.frames, theirs.frames):
        text += f"; the first pictures that differ are {spoken(shift)}"
    return [Finding(agree[0] == 1.0, text, fatal=agree[0] < 1.0)]


def _shift(ours: NDArray[np.uint16], theirs: NDArray[np.uint16]) -> tuple[int, int] | None:
    """The shift in space that the first three differing pictures have in common."""
    differing = np.count_nonzero(ours != theirs, axis=(1, 2)) > 8
    shifts = {shift_in_space(theirs[n], ours[n]) for n in np.flatnonzero(differing)[:3]}
    return shifts.pop() if len(shifts) == 1 else None


def _agreement(ours: NDArray[np.uint16], theirs: NDArray[np.uint16], shift: int) -> float:
    """Part of the pictures that agree (but for 8 pixels) when ours are shifted; positive: ours come early."""
    a, b = (ours, theirs[shift:]) if shift >= 0 else (ours[-shift:], theirs)
    size = min(len(a), len(b))
    differing = np.count_nonzero(a[:size] != b[:size], axis=(1, 2))
    return float(np.mean(differing <= 8))
