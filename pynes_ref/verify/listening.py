"""Test ROMs whose result is a sound.

``mixer``, apu_mixer's ROMs: a beep, the channel under test played against its
inverse on the DMC, a beep. How well the two cancel says how well the mixer
follows the console's.

``dmc``, dmc_tests' ROMs: they start and stop a sample and beep at the end. What
the DMC's DAC does between their writes is compared with a model of the sample
player written from its description alone; only the phase of its timer, which
no program can set, is taken from the run.

Wiki: https://www.nesdev.org/wiki/APU_DMC
"""

from __future__ import annotations

import math

from .. import romtest

RATE = 44_100
WINDOW = RATE // 5

# dmc_tests play 17 bytes at the lowest rate.
PERIOD, BYTES, PATTERN = 428, 17, 0x55
NEAR = 24  # cycles by which stepping over a few instructions can be late
LOOK_EVERY = 3  # instructions; looking at the DAC costs more than an instruction


def _decibels(samples, window):
    import numpy as np

    cut = samples[: len(samples) // window * window].astype(np.float64).reshape(-1, window)
    cut -= cut.mean(axis=1, keepdims=True)
    return 20 * np.log10(np.sqrt((cut**2).mean(axis=1)) / 32768 + 1e-6)


def mixer(console, frames, wanted):
    """(as wanted, what was heard, frames): the loudest sound between the beeps against the beeps.

    ``wanted``: ``silence <dB>`` = at least so much below them; ``swell <dB>`` =
    the same, and it fades in and out.
    """
    import numpy as np

    sound = []
    while len(sound) < frames:
        console.run_frame()
        sound.append(console.drain_audio())
        if console.memory[0x6001:0x6004] == romtest.SIGNATURE and console.memory[0x6000] < romtest.RUNNING:
            break
    code = console.memory[0x6000]
    levels = _decibels(np.concatenate(sound), WINDOW)
    beep = levels.max()
    loud = np.flatnonzero(levels > beep - 6)
    if code or len(loud) < 2:
        return False, f"code {code}, {len(loud)} beeps", len(sound)
    gap = np.flatnonzero(np.diff(loud) > 10)
    if len(gap) != 1:
        return False, f"{len(gap)} pauses between beeps instead of one", len(sound)
    # The windows at the beeps' ends belong to them.
    between = levels[loud[gap[0]] + 2 : loud[gap[0] + 1] - 1]
    below = beep - between.max()
    kind, least = wanted.split()
    swells = between.max() - max(between[0], between[-1]) >= 3
    shown = f"the loudest sound between the beeps is {math.floor(below)} dB below them"
    if kind == "swell":
        shown += ", fading in and out" if swells else ", not fading in and out"
    return bool(below >= float(least) and (kind != "swell" or swells)), shown, len(sound)


def dmc(console, frames, wanted):
    """(as wanted, what the DAC did, frames): see ``story``; also false where the model disagrees."""
    writes, levels, done = _watch(console, frames * 29781)
    told = story(writes, levels)
    wrong = _disagreement(writes, levels)
    if not done:
        return False, f"no beep in {frames} frames: {told}", frames
    if wrong:
        return False, f"{told}, but {wrong}", frames
    return told == wanted, told, frames


def _watch(console, cycles):
    """Writes to $4010-$4015 as (cycle, register, value) and levels of the DAC as (cycle, level), until the beep."""
    writes, levels = [], [(0, 0)]
    prg = bytes(console.cartridge.prg) * 2  # 16 KiB, seen twice
    cpu, apu = console.cpu, console.apu
    look = 0
    while console.cycles < cycles:
        at, held = cpu.pc - 0x8000, cpu.a
        register = prg[at + 1] | prg[at + 2] << 8
        stores = prg[at] == 0x8D and 0x4000 <= register <= 0x4015
        console.step_instruction()
        if stores and register >= 0x4010:
            writes.append((console.cycles, register, held))
        look += 1
        if stores or look >= LOOK_EVERY:
            look = 0
            console.run_frames(0)  # brings the APU up to now
            if apu.dmc_level != levels[-1][1]:
                levels.append((console.cycles, apu.dmc_level))
        if stores and register == 0x4003:
            return writes, levels, True
    return writes, levels, False


def _sample_begins(writes):
    return next(t for t, register, value in writes if register == 0x4015 and value & 0x10)


def story(writes, levels):
    """From the first start of the sample on: the registers written, and between them how often the DAC stepped."""
    start = _sample_begins(writes)
    direct = {t for t, register, _ in writes if register == 0x4011}
    events = [(t, f"{register - 0x4000:02X}={value:02X}") for t, register, value in writes if t >= start]
    events += [(t, "") for t, _ in levels if t > start and t not in direct]
    words, steps = [], 0
    for _, word in sorted(events):
        if not word:
            steps += 1
            continue
        if steps:
            words.append(str(steps))
        words.append(word)
        steps = 0
    return " ".join([*words, *([str(steps)] if steps else [])])


def _disagreement(writes, levels):
    """None, or the first level that the model does not show at that time."""
    start = _sample_begins(writes)
    direct = {t for t, register, _ in writes if register == 0x4011}
    first = next((t for t, _ in levels if t > start and t not in direct), None)
    if first is None:
        return "the sample was not heard"
    # The first step is bit 0 of the first byte, which was taken up one period before.
    expected = _model(writes, first - PERIOD, levels[-1][0])
    seen = [(t, level) for t, level in levels if t >= start]
    for (t, level), (when, model) in zip(seen, expected):
        if level != model or abs(t - when) > NEAR:
            return f"at cycle {t} the DAC goes to {level}, by its description to {model} at {when}"
    if len(seen) != len(expected):
        return f"the DAC changed {len(seen)} times, by its description {len(expected)} times"
    return None


def _model(writes, boundary, until):
    """Levels of the DAC as (cycle, level): ``boundary`` is a cycle in which a byte of output begins."""
    start = _sample_begins(writes)
    level = next((v & 0x7F for t, r, v in reversed(writes) if r == 0x4011 and t < start), 0)
    left, buffer, shift, silent, bits = 0, None, 0, True, 8
    clock = boundary - -(-(boundary - start) // (8 * PERIOD)) * 8 * PERIOD
    bits = 1  # the first clock is the end of a byte of output
    changes, queue = [], [w for w in writes if w[0] >= start]
    while clock <= until + NEAR or queue:
        # Where a write and a clock are closer than stepping can tell, the clock goes first.
        if queue and queue[0][0] + NEAR / 4 < clock:
            t, register, value = queue.pop(0)
            if register == 0x4011 and value & 0x7F != level:
                level = value & 0x7F
                changes.append((t, level))
            if register == 0x4015:
                left = (left or BYTES) if value & 0x10 else 0
        else:
            if not silent:
                stepped = level + (2 if shift & 1 else -2)
                if 0 <= stepped <= 127:
                    level = stepped
                    changes.append((clock, level))
            shift >>= 1
            bits -= 1
            if bits == 0:
                bits, silent = 8, buffer is None
                shift, buffer = (0 if silent else buffer), None
            clock += PERIOD
        if buffer is None and left:
            buffer, left = PATTERN, left - 1
    return [c for c in changes if c[0] <= until + NEAR]
