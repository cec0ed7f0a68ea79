"""The 2A03's APU: registers, frame counter, and running it all up to a CPU cycle.

https://www.nesdev.org/wiki/APU, APU_Frame_Counter - ``clock.py`` and
``events.py`` bring it up to date before the CPU or DMA look at it, ``bus.py``
passes the registers on.

The order within CPU cycle n: the wave channels' timers (pulses and noise in odd
cycles only), the frame counter, the length counters' pending writes, the mixer;
then the CPU's access; then the DMC (dmc.py). ``apu_run(n)`` does everything up
to the access of cycle n, ``apu_end(n)`` to its end. Only cycles in which
something happens are visited, so it does not matter how the way is divided.
"""

import numpy as np

from .apu_channels import (
    DUTY,
    TRIANGLE,
    half_frame,
    noise_cycles,
    noise_next,
    noise_sync,
    noise_volume,
    power_on_channels,
    pulse_sync,
    pulse_volume,
    quarter_frame,
    settle_lengths,
    triangle_runs,
    triangle_sync,
    write_enables,
    write_noise,
    write_pulse,
    write_triangle,
)
from .audio import audio_sample, audio_step, mix_hardware, mix_recorded, power_on_audio
from .dmc import dmc_end, dmc_reset, power_on_dmc, write_dmc, write_dmc_enable
from .jit import inline, inner, outline
from .state import NEVER

# The frame counter's steps, in CPU cycles since it was reset, and what each
# does: six entries for the 4-step sequence, then those of the 5-step one.
# https://www.nesdev.org/wiki/APU_Frame_Counter
QUARTER, HALF, IRQ, WRAP = 1, 2, 4, 8
FC_CYCLES = np.array([7457, 14913, 22371, 29828, 29829, 29830] + [7457, 14913, 22371, 37281, 37282, 0])
FC_DOES = np.array(
    [QUARTER, QUARTER | HALF, QUARTER, IRQ, QUARTER | HALF | IRQ, IRQ | WRAP]
    + [QUARTER, QUARTER | HALF, QUARTER, QUARTER | HALF, WRAP, 0]
)
FC_FIRST_IRQ = 3


def power_on_apu(nes):
    """Give the zeroed sections ``apu`` and ``audio`` the state before CPU cycle 1: $4017 has been written 0."""
    apu = nes["apu"]
    power_on_channels(apu)
    power_on_dmc(apu)
    power_on_audio(nes["audio"])
    apu["due"] = apu["control_at"] = apu["touched_at"] = 1
    apu["fc_at"] = FC_CYCLES[0]
    apu["fc_reset_at"] = apu["fc_clear_at"] = NEVER


@outline
def apu_reset(nes, mem):
    """The Reset button, after CPU cycle ``nes.cpu.clk``.

    $4015 is cleared and the mode last written to $4017 is written again; that
    takes effect six or seven cycles before the first instruction, as it would
    if written 10 cycles before it (blargg's apu_reset: 9 to 12). The IRQ
    inhibit flag does not come back.
    """
    apu = nes.apu
    n = np.int64(nes.cpu.clk)
    apu_end(nes, mem, n)
    write_enables(apu, 0, n)
    triangle_sync(apu, n)
    apu.tri_step = 0
    dmc_reset(nes)
    apu.fc_written &= 0x80
    apu.fc_next_mode = apu.fc_written >> 7
    apu.fc_reset_at = n + 2 + (n & 1)
    apu.fc_inhibit = 0
    apu.fc_flag = 0
    apu.fc_clear_at = NEVER
    apu.fc_irq = 0
    _touched(apu, n)


# Registers


@outline
def apu_read_status(nes, mem):
    """A read of $4015 in the present cycle: bits 0-4, 6 and 7."""
    apu = nes.apu
    value = apu_peek_status(nes)
    if apu.fc_flag and apu.fc_clear_at == NEVER:
        # The flag goes when the next get cycle begins (AccuracyCoin, Frame Counter IRQ 6 and 7).
        apu.fc_clear_at = apu.cycle + 2 - (apu.cycle & 1)
    apu.fc_irq = 0
    apu.irq_line = apu.dmc_irq
    _schedule(apu)
    return value


@inner
def apu_peek_status(nes):
    """What ``apu_read_status`` returns, without its side effect."""
    apu = nes.apu
    value = (apu.dmc_irq << 7) | (apu.fc_flag << 6)
    # A sample that has been switched off counts as over at once.
    if apu.dmc_left and apu.dmc_target:
        value |= 0x10
    for i in range(4):
        if apu.len_count[i]:
            value |= 1 << i
    return value


@outline
def apu_write(nes, mem, addr, value, n):
    """CPU cycle ``n`` writes an APU register: $4000-$4013, $4015, $4017 (others do nothing)."""
    apu = nes.apu
    reg = addr & 3
    if addr < 0x4008:
        write_pulse(apu, (addr >> 2) & 1, reg, value, n)
    elif addr < 0x400C:
        write_triangle(apu, reg, value, n)
    elif addr < 0x4010:
        write_noise(apu, reg, value, n)
    elif addr < 0x4014:
        write_dmc(apu, reg, value)
    elif addr == 0x4015:
        write_enables(apu, value, n)
        write_dmc_enable(apu, (value >> 4) & 1, n)
    elif addr == 0x4017:
        apu.fc_written = value
        apu.fc_next_mode = value >> 7
        apu.fc_reset_at = n + 4 - (n & 1)
        apu.fc_inhibit = (value >> 6) & 1
        if apu.fc_inhibit:
            apu.fc_flag = 0
            apu.fc_clear_at = NEVER
            apu.fc_irq = 0
    apu.irq_line = apu.fc_irq | apu.dmc_irq
    _touched(apu, n)


@inline
def _touched(apu, n):
    apu.touched_at = n + 1
    _schedule(apu)


@inner
def _schedule(apu):
    apu.control_at = min(min(apu.fc_at, apu.fc_reset_at), min(apu.fc_clear_at, apu.touched_at))
    # An early look does no harm; apu_run works out the right cycle.
    apu.due = apu.cycle + 1


# Time


@inner
def _frame_step(apu, does, c):
    if does & IRQ:
        if does & WRAP and apu.fc_inhibit:
            # Even with IRQs inhibited the flag can be seen for two cycles.
            apu.fc_flag = 0
        else:
            apu.fc_flag = 1
            if apu.fc_inhibit == 0:
                apu.fc_irq = 1
    if does & QUARTER:
        quarter_frame(apu)
    if does & HALF:
        half_frame(apu)
    apu.fc_step += 1
    if does & WRAP:
        apu.fc_step = 0
        apu.fc_zero = c
    apu.fc_at = apu.fc_zero + FC_CYCLES[6 * apu.fc_mode + apu.fc_step]


@inner
def _control(nes, c):
    """The frame counter and the effects of the last register write, in cycle ``c`` after the timers."""
    apu = nes.apu
    pulse_sync(apu, 0, c)
    pulse_sync(apu, 1, c)
    triangle_sync(apu, c)
    noise_sync(apu, c)
    if c == apu.fc_clear_at:
        apu.fc_flag = 0
        apu.fc_clear_at = NEVER
    if c == apu.fc_reset_at:
        apu.fc_reset_at = NEVER
        apu.fc_mode = apu.fc_next_mode
        apu.fc_step = 0
        apu.fc_zero = c
        apu.fc_at = c + FC_CYCLES[0]
        if apu.fc_mode:
            quarter_frame(apu)
            half_frame(apu)
    elif c == apu.fc_at:
        _frame_step(apu, FC_DOES[6 * apu.fc_mode + apu.fc_step], c)
        apu.irq_line = apu.fc_irq | apu.dmc_irq
    settle_lengths(apu)
    apu.touched_at = NEVER
    _schedule(apu)


@inner
def _span(nes, c, last):
    """Channels, mixer and samples from cycle ``c``, an event, to ``last``; returns the event after it.

    Nothing is due from the frame counter or a register write in between, except
    that cycle ``c`` may have had such work; so it is mixed in any case.
    """
    apu = nes.apu
    aud = nes.audio
    volume_0 = pulse_volume(apu, 0)
    volume_1 = pulse_volume(apu, 1)
    volume_n = noise_volume(apu)
    runs = triangle_runs(apu)
    step_0 = apu.pulse_step[0]
    step_1 = apu.pulse_step[1]
    step_t = apu.tri_step
    shift = apu.noise_shift
    mode = apu.noise_mode
    duty_0 = DUTY[apu.pulse_duty[0]]
    duty_1 = DUTY[apu.pulse_duty[1]]
    cycles_0 = 2 * (apu.pulse_period[0] + 1)
    cycles_1 = 2 * (apu.pulse_period[1] + 1)
    cycles_t = apu.tri_period + 1
    cycles_n = noise_cycles(apu)
    # Channels that cannot be heard or do not move are not visited; the record keeps their state.
    at_0 = apu.pulse_at[0] if volume_0 else NEVER
    at_1 = apu.pulse_at[1] if volume_1 else NEVER
    at_t = apu.tri_at if runs else NEVER
    at_n = apu.noise_at if volume_n else NEVER
    at_d = apu.dmc_at + 1
    at_s = aud.sample_at
    at_c = apu.control_at
    heard_0 = 0 if apu.mute & 1 else volume_0
    heard_1 = 0 if apu.mute & 2 else volume_1
    heard_t = 0 if apu.mute & 4 else 1
    heard_n = 0 if apu.mute & 8 else volume_n
    heard_d = 0 if apu.mute & 16 else 1
    mix = True
    while c <= last:
        if at_d <= c:
            dmc_end(nes, c - 1)
            at_d = apu.dmc_at + 1
            mix = True
        if at_t == c:
            at_t += cycles_t
            step_t = (step_t + 1) & 31
            mix = True
        if at_0 == c:
            at_0 += cycles_0
            step_0 = (step_0 + 1) & 7
            mix = True
        if at_1 == c:
            at_1 += cycles_1
            step_1 = (step_1 + 1) & 7
            mix = True
        if at_n == c:
            at_n += cycles_n
            shift = noise_next(shift, mode)
            mix = True
        if mix:
            mix = False
            pulses = heard_0 * ((duty_0 >> step_0) & 1) + heard_1 * ((duty_1 >> step_1) & 1)
            triangle = heard_t * TRIANGLE[step_t]
            noise = heard_n * (1 - (shift & 1))
            dmc = heard_d * apu.dmc_level
            if apu.hardware:
                level = mix_hardware(pulses, triangle, noise, dmc)
            else:
                level = mix_recorded(pulses, triangle, noise, dmc)
            if level != aud.held:
                audio_step(aud, c, level)
        if at_s == c:
            audio_sample(nes)
            at_s = aud.sample_at
        c = min(min(min(at_0, at_1), min(at_t, at_n)), min(min(at_d, at_s), at_c))
    if volume_0:
        apu.pulse_at[0] = at_0
        apu.pulse_step[0] = step_0
    if volume_1:
        apu.pulse_at[1] = at_1
        apu.pulse_step[1] = step_1
    if runs:
        apu.tri_at = at_t
        apu.tri_step = step_t
    if volume_n:
        apu.noise_at = at_n
        apu.noise_shift = shift
    return c


@outline
def _run(nes, n):
    apu = nes.apu
    c = apu.due
    while c <= n:
        if apu.control_at == c:
            if apu.dmc_at < c:
                dmc_end(nes, c - 1)
            _control(nes, c)
        c = _span(nes, c, min(n, apu.control_at - 1))
    apu.due = c


@inline
def apu_run(nes, mem, n):
    """Everything up to the access point of CPU cycle ``n``."""
    apu = nes.apu
    if n > apu.cycle:
        if n >= apu.due:
            _run(nes, n)
        apu.cycle = n


@inline
def apu_end(nes, mem, n):
    """Everything up to the end of CPU cycle ``n``."""
    apu = nes.apu
    apu_run(nes, mem, n)
    if apu.dmc_at <= n:
        dmc_end(nes, n)
        apu.due = n + 1


@outline
def apu_next_event(nes):
    """A cycle, never too late, at whose end IRQ may rise or after which a DMC DMA may start.

    It holds until a register is accessed or DMA delivers a byte.
    """
    apu = nes.apu
    event = NEVER
    if apu.fc_mode == 0 and apu.fc_inhibit == 0:
        event = apu.fc_zero + FC_CYCLES[max(FC_FIRST_IRQ, apu.fc_step)]
    if apu.fc_reset_at < event:
        event = apu.fc_reset_at
    when = NEVER
    if apu.dmc_request and (apu.dmc_enabled or apu.dmc_stopping):
        when = apu.cycle
    elif apu.dmc_left or apu.dmc_stop_armed:
        # The end of the present byte.
        when = apu.dmc_clock_at + (apu.dmc_bits - 1) * apu.dmc_rate
    return min(min(event, when), min(apu.dmc_load_at, apu.dmc_apply_at))
