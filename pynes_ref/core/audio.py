"""From the APU's output levels to 44.1 kHz samples: the DAC mixer, band-limited steps, the console's filters.

https://www.nesdev.org/wiki/APU_Mixer - ``apu_run`` calls ``audio_step`` in
every CPU cycle whose level differs from the one before, and ``audio_sample``
after every cycle that completes an output sample.

Formulas and their order of operations (all float32, the phase float64) are
those of the recorded reference: samples have to agree with it bit for bit.

The phase grows by 44100/1789773 a CPU cycle, rounded to a double each time. That
need not be done cycle by cycle. An output sample begins with a phase F that is
a multiple of 2**-52 (it was rounded to that in [1, 2) before 1 was taken
off). Every sum below 1 is rounded to a multiple of at most 2**-53, so F never
takes part in a rounding: what k roundings add to F depends only on which
power of two each sum has reached. There are seven such patterns,
``_phase_tables`` lists them, and the phase k cycles into the sample is exactly
``F + PHASE[pattern, k]``. tests/core/test_audio.py compares this with the sums.
"""

import numpy as np

from .jit import inline, inner

RATE = 44_100
CPU_HZ = 1_789_773
STEP = RATE / CPU_HZ

TAPS = 32
PHASES = 256
CUTOFF = 0.46
DROPPED = 17            # outputs before the first step's kernel has passed
RING = 256              # slots used before the window is moved back to the start
OUT = 4096              # capacity of nes.audio.out
DROP_OLDEST = 1024      # given up when nobody drains

# (phase, tap, units in the last place): where the float sine of the recorded
# reference (musl's, good to 37 bits) is not the nearest float.
SINE_ERRORS = [(11, 5, 1), (24, 12, 2), (108, 1, -1), (121, 7, -1), (135, 25, -1), (148, 31, -2), (232, 20, 1)]

_F = np.float32


def _mixer_tables():
    n = np.arange(1, 203, dtype=_F)
    zero = np.zeros(1, _F)
    pulse = _F(95.52) / (_F(8128) / n[:30] + _F(100))
    tnd = _F(163.67) / (_F(24329) / n + _F(100))
    return np.concatenate([zero, pulse]), np.concatenate([zero, tnd])


def _kernel():
    """``[phase, tap]``: a windowed sinc shifted by phase/256 of an output sample, each row of sum 1."""
    pi = _F(np.pi)
    tap = np.arange(TAPS, dtype=_F)
    phase = np.arange(PHASES, dtype=_F)[:, None] / _F(PHASES)
    x = tap - _F(TAPS / 2) + _F(0.5) - phase

    def of_double(function, argument):
        return function(argument.astype(np.float64)).astype(_F)

    safe = np.where(x == 0, _F(1), x)
    sinc = of_double(np.sin, _F(2) * pi * _F(CUTOFF) * safe) / (pi * safe)
    sinc = np.where(x == 0, _F(2) * _F(CUTOFF), sinc)
    at = (tap + _F(0.5)) / _F(TAPS)
    window = (
        _F(0.42)
        - _F(0.5) * of_double(np.cos, _F(2) * pi * at)
        + _F(0.08) * of_double(np.cos, _F(4) * pi * at)
    )
    rows = sinc * window
    total = np.zeros(PHASES, _F)
    for t in range(TAPS):
        total = total + rows[:, t]
    rows = rows * (_F(1) / total)[:, None]
    for row, t, units in SINE_ERRORS:
        rows.view(np.int32)[row, t] += units
    return rows


def _pole(hz):
    return _F(np.exp(np.float64(_F(-2) * _F(np.pi) * _F(hz) / _F(RATE))))


def _sums(phase):
    """The phases of one output sample, by repeated addition, up to the first that reaches 1."""
    sums = [phase]
    while sums[-1] < 1.0:
        sums.append(sums[-1] + STEP)
    return sums


def _phase_tables():
    """Bounds of F between patterns, cycles an output sample has, and what k cycles add to F.

    A pattern changes where a sum reaches a power of two one addition sooner.
    """
    bounds = set()
    top = 1.0
    while top > STEP:
        first = next(k for k, s in enumerate(_sums(0.0)) if s >= top)
        low, high = 0, int(STEP * 2**52) + 1
        while low < high:  # the least F whose sum number first - 1 reaches top
            middle = (low + high) // 2
            if _sums(middle * 2.0**-52)[first - 1] >= top:
                high = middle
            else:
                low = middle + 1
        if low * 2.0**-52 < STEP:
            bounds.add(low * 2.0**-52)
        top /= 2
    bounds = sorted(bounds)
    length = np.zeros(len(bounds) + 1, np.int64)
    table = np.zeros((len(bounds) + 1, 64))
    for i, least in enumerate([0.0] + bounds):
        sums = _sums(least)
        length[i] = len(sums) - 1
        table[i, : len(sums)] = [s - least for s in sums]
    return np.array(bounds), length, table


PULSE_MIX, TND_MIX = _mixer_tables()
KERNEL = _kernel()
HIGH_PASS_1 = _pole(90)
HIGH_PASS_2 = _pole(440)
LOW_PASS = _F(1) - _pole(14_000)
PHASE_BOUNDS, PHASE_CYCLES, PHASE = _phase_tables()


def power_on_audio(aud):
    """Give a zeroed section the state before CPU cycle 1, with sound."""
    aud["enabled"] = 1
    aud["first"] = 1
    aud["sample_at"] = PHASE_CYCLES[0]


@inline
def mix_recorded(pulses, triangle, noise, dmc):
    """The level of the mixer, float32: the wiki's two tables, one of them for three channels."""
    return PULSE_MIX[pulses] + TND_MIX[3 * triangle + 2 * noise + dmc]


@inline
def mix_hardware(pulses, triangle, noise, dmc):
    """The level of the mixer, float32: the wiki's formulas of the two resistor ladders."""
    level = 0.0
    if pulses:
        level = 95.88 / (8128.0 / pulses + 100.0)
    if triangle | noise | dmc:
        level += 159.79 / (1.0 / (triangle / 8227.0 + noise / 12241.0 + dmc / 22638.0) + 100.0)
    return np.float32(level)


@inline
def _begin_sample(aud, phase, cycle):
    pattern = 0
    while pattern < PHASE_BOUNDS.shape[0] and phase >= PHASE_BOUNDS[pattern]:
        pattern += 1
    aud.phase = phase
    aud.pattern = pattern
    aud.first = cycle
    aud.sample_at = cycle + PHASE_CYCLES[pattern] - 1


@inline
def audio_step(aud, cycle, level):
    """The level is ``level`` from CPU cycle ``cycle`` (of the present output sample) on."""
    delta = level - aud.held
    aud.held = level
    phase = aud.phase + PHASE[aud.pattern, cycle - aud.first]
    row = np.int64(np.float32(phase) * np.float32(PHASES))
    if row > PHASES - 1:
        row = PHASES - 1
    row &= PHASES - 1
    at = aud.ring_at & (RING - 1)
    for t in range(TAPS):
        aud.ring[at + t] += delta * KERNEL[row, t]


@inner
def audio_sample(nes):
    """An output sample is complete: no later step reaches its slot any more."""
    aud = nes.audio
    at = aud.ring_at
    level = aud.integrator + aud.ring[at]
    aud.integrator = level
    aud.ring[at] = np.float32(0)
    at += 1
    if at == RING:
        for t in range(TAPS):
            aud.ring[t] = aud.ring[RING + t]
            aud.ring[RING + t] = np.float32(0)
        at = 0
    aud.ring_at = at
    _begin_sample(
        aud,
        aud.phase + PHASE[aud.pattern, PHASE_CYCLES[aud.pattern]] - 1.0,
        aud.first + PHASE_CYCLES[aud.pattern],
    )
    if aud.dropped < DROPPED:
        aud.dropped += 1
        return
    high1 = HIGH_PASS_1 * (aud.high1 + level - aud.input)
    high2 = HIGH_PASS_2 * (aud.high2 + high1 - aud.high1)
    low = aud.low + LOW_PASS * (high2 - aud.low)
    aud.input = level
    aud.high1 = high1
    aud.high2 = high2
    aud.low = low
    if aud.enabled == 0:
        return
    if low > np.float32(1):
        low = np.float32(1)
    elif low < np.float32(-1):
        low = np.float32(-1)
    count = aud.count
    if count >= OUT:
        count = OUT - DROP_OLDEST
        for i in range(count):
            aud.out[i] = aud.out[i + DROP_OLDEST]
    aud.out[count] = np.int64(low * np.float32(32767))
    aud.count = count + 1
