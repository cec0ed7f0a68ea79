"""The four wave channels of the 2A03: pulse 1 and 2, triangle, noise.

https://www.nesdev.org/wiki/APU_Pulse, APU_Triangle, APU_Noise, APU_Envelope,
APU_Sweep, APU_Length_Counter - ``apu.py`` calls everything here.

A channel's timer is kept as the cycle of its next clock, so it costs nothing
between clocks. A channel that cannot be heard is not clocked at all:
``..._sync`` makes up for it before anything that its timer depends on changes.

Recorded samples have to come out, so two things follow the recorded reference
until ``apu.hardware`` is set: the noise channel's period and when pulse 1 is
muted. No program can see either. ``TRI_LEAST_PERIOD`` follows it in any case.
"""

import numpy as np

from .jit import inline, inner

TRI, NOISE = 2, 3

# Bit s is the output at step s.
DUTY = np.array([0b00000010, 0b00000110, 0b00011110, 0b11111001])
TRIANGLE = np.concatenate([np.arange(15, -1, -1), np.arange(16)])
LENGTHS = np.array(
    [10, 254, 20, 2, 40, 4, 80, 6, 160, 8, 60, 10, 14, 12, 26, 14,
     12, 16, 24, 18, 48, 20, 96, 22, 192, 24, 72, 26, 16, 28, 32, 30]
)  # fmt: skip
_NOISE_PERIODS = np.array([4, 8, 16, 32, 64, 96, 128, 160, 202, 254, 380, 508, 762, 1016, 2034, 4068])
# [hardware, rate]: CPU cycles between shifts. The recorded reference takes the
# wiki's table as the reload values of a divider that runs at half the CPU's rate.
NOISE_CYCLES = np.stack([2 * (1 + _NOISE_PERIODS), _NOISE_PERIODS])
# Below this the sequencer would run at ultrasonic rates; the recorded reference holds its level.
TRI_LEAST_PERIOD = 2


def power_on_channels(apu):
    """Give a zeroed section the state before CPU cycle 1: all timers run out, the noise register at 1."""
    apu["pulse_at"] = 1
    apu["tri_at"] = 1
    apu["noise_at"] = 1
    apu["noise_shift"] = 1


# Levels and timers


@inline
def _volume(apu, i):
    if apu.env_constant[i]:
        return apu.env_period[i]
    return apu.env_decay[i]


@inline
def _sweep_target(apu, i):
    period = apu.pulse_period[i]
    change = period >> apu.sweep_shift[i]
    if apu.sweep_negate[i]:
        # Pulse 1's adder has no carry in: it adds the ones' complement.
        return period - change - (1 - i)
    return period + change


@inline
def _muted(apu, i):
    target = _sweep_target(apu, i)
    # Pulse 1 with negate and shift 0 ($4001 = $08) has a target period of -1.
    # Hardware does not mute it; the recorded reference compares as unsigned and does.
    return apu.pulse_period[i] < 8 or target > 0x7FF or (target < 0 and apu.hardware == 0)


@inline
def pulse_volume(apu, i):
    """What pulse ``i`` puts out while its sequencer is at 1; 0 if it cannot be heard."""
    if apu.len_count[i] == 0 or _muted(apu, i):
        return 0
    return _volume(apu, i)


@inline
def noise_volume(apu):
    """What the noise channel puts out while bit 0 of its register is clear."""
    if apu.len_count[NOISE] == 0:
        return 0
    return _volume(apu, NOISE)


@inline
def triangle_runs(apu):
    """Whether the triangle's timer clocks its sequencer."""
    return apu.tri_period >= TRI_LEAST_PERIOD and apu.len_count[TRI] != 0 and apu.lin_count != 0


@inline
def noise_cycles(apu):
    """CPU cycles between two shifts of the noise register."""
    return NOISE_CYCLES[apu.hardware, apu.noise_rate]


@inline
def noise_next(shift, mode):
    """The noise register after one shift."""
    tap = 6 if mode else 1
    return (shift >> 1) | (((shift ^ (shift >> tap)) & 1) << 14)


@inner
def pulse_sync(apu, i, n):
    """Clock pulse ``i`` up to and including CPU cycle ``n``."""
    late = n - apu.pulse_at[i]
    if late >= 0:
        cycles = 2 * (apu.pulse_period[i] + 1)
        clocks = 1 + late // cycles
        apu.pulse_step[i] = (apu.pulse_step[i] + clocks) & 7
        apu.pulse_at[i] += clocks * cycles


@inner
def triangle_sync(apu, n):
    """Clock the triangle up to and including CPU cycle ``n``."""
    if apu.tri_period >= TRI_LEAST_PERIOD and n >= apu.tri_at:
        cycles = apu.tri_period + 1
        clocks = 1 + (n - apu.tri_at) // cycles
        apu.tri_at += clocks * cycles
        if triangle_runs(apu):
            apu.tri_step = (apu.tri_step + clocks) & 31


@inner
def noise_sync(apu, n):
    """Clock the noise channel up to and including CPU cycle ``n``."""
    at = apu.noise_at
    if at <= n:
        shift = apu.noise_shift
        mode = apu.noise_mode
        cycles = noise_cycles(apu)
        while at <= n:
            shift = noise_next(shift, mode)
            at += cycles
        apu.noise_shift = shift
        apu.noise_at = at


@inner
def _set_triangle_period(apu, period, n):
    if apu.tri_period < TRI_LEAST_PERIOD:
        if period >= TRI_LEAST_PERIOD:
            apu.tri_at += n
    elif period < TRI_LEAST_PERIOD:
        apu.tri_at -= n
    apu.tri_period = period


# Clocks from the frame counter


@inline
def _clock_envelope(apu, i):
    if apu.env_start[i]:
        apu.env_start[i] = 0
        apu.env_decay[i] = 15
        apu.env_divider[i] = apu.env_period[i]
    elif apu.env_divider[i]:
        apu.env_divider[i] -= 1
    else:
        apu.env_divider[i] = apu.env_period[i]
        if apu.env_decay[i]:
            apu.env_decay[i] -= 1
        elif apu.env_loop[i]:
            apu.env_decay[i] = 15


@inner
def quarter_frame(apu):
    """Envelopes and the triangle's linear counter."""
    for i in range(4):
        if i != TRI:
            _clock_envelope(apu, i)
    if apu.lin_reload:
        apu.lin_count = apu.lin_reload_value
    elif apu.lin_count:
        apu.lin_count -= 1
    if apu.lin_control == 0:
        apu.lin_reload = 0


@inner
def half_frame(apu):
    """Sweeps and length counters."""
    for i in range(2):
        if apu.sweep_divider[i] == 0 and apu.sweep_enabled[i] and apu.sweep_shift[i] and not _muted(apu, i):
            apu.pulse_period[i] = _sweep_target(apu, i)
        if apu.sweep_divider[i] == 0 or apu.sweep_reload[i]:
            apu.sweep_divider[i] = apu.sweep_period[i]
            apu.sweep_reload[i] = 0
        else:
            apu.sweep_divider[i] -= 1
    for i in range(4):
        if apu.len_count[i] and apu.len_halt[i] == 0:
            apu.len_count[i] -= 1


@inner
def settle_lengths(apu):
    """Let what was written in the cycle before reach the length counters, after a clock in this one.

    A halt flag counts from the next clock on; a load is lost if this cycle's
    clock moved the counter (blargg_apu_2005 tests 10 and 11).
    """
    for i in range(4):
        if apu.len_load[i]:
            if apu.len_count[i] == apu.len_before[i]:
                apu.len_count[i] = apu.len_load[i]
            apu.len_load[i] = 0
        apu.len_halt[i] = apu.len_next_halt[i]


# Registers


@inline
def _load_length(apu, i, value):
    if apu.len_enabled[i]:
        apu.len_load[i] = LENGTHS[value >> 3]
        apu.len_before[i] = apu.len_count[i]


@inline
def _write_envelope(apu, i, value):
    apu.len_next_halt[i] = (value >> 5) & 1
    apu.env_loop[i] = (value >> 5) & 1
    apu.env_constant[i] = (value >> 4) & 1
    apu.env_period[i] = value & 15


@inner
def write_pulse(apu, i, reg, value, n):
    """CPU cycle ``n`` writes register ``reg`` (0 to 3) of pulse ``i``."""
    pulse_sync(apu, i, n)
    if reg == 0:
        apu.pulse_duty[i] = value >> 6
        _write_envelope(apu, i, value)
    elif reg == 1:
        apu.sweep_enabled[i] = value >> 7
        apu.sweep_period[i] = (value >> 4) & 7
        apu.sweep_negate[i] = (value >> 3) & 1
        apu.sweep_shift[i] = value & 7
        apu.sweep_reload[i] = 1
    elif reg == 2:
        apu.pulse_period[i] = (apu.pulse_period[i] & 0x700) | value
    else:
        apu.pulse_period[i] = (apu.pulse_period[i] & 0xFF) | ((value & 7) << 8)
        _load_length(apu, i, value)
        apu.pulse_step[i] = 0
        apu.env_start[i] = 1


@inner
def write_triangle(apu, reg, value, n):
    """CPU cycle ``n`` writes register ``reg`` (0 to 3) of the triangle."""
    triangle_sync(apu, n)
    if reg == 0:
        apu.lin_control = value >> 7
        apu.len_next_halt[TRI] = value >> 7
        apu.lin_reload_value = value & 0x7F
    elif reg == 2:
        _set_triangle_period(apu, (apu.tri_period & 0x700) | value, n)
    elif reg == 3:
        _set_triangle_period(apu, (apu.tri_period & 0xFF) | ((value & 7) << 8), n)
        _load_length(apu, TRI, value)
        apu.lin_reload = 1


@inner
def write_noise(apu, reg, value, n):
    """CPU cycle ``n`` writes register ``reg`` (0 to 3) of the noise channel."""
    noise_sync(apu, n)
    if reg == 0:
        _write_envelope(apu, NOISE, value)
    elif reg == 2:
        apu.noise_mode = value >> 7
        apu.noise_rate = value & 15
    elif reg == 3:
        _load_length(apu, NOISE, value)
        apu.env_start[NOISE] = 1


@inner
def write_enables(apu, value, n):
    """The low four bits of a $4015 write: a channel switched off has its length counter cleared."""
    triangle_sync(apu, n)
    for i in range(4):
        apu.len_enabled[i] = (value >> i) & 1
        if apu.len_enabled[i] == 0:
            apu.len_count[i] = 0
