"""The delta modulation channel, without its DMA (that is dma.py's).

https://www.nesdev.org/wiki/APU_DMC - ``apu.py`` calls ``dmc_end`` for what
happens at the end of a CPU cycle, ``dma.py`` calls ``dmc_deliver``.

Put cycles are odd CPU cycles, get cycles even ones. The timer counts at the
end of get cycles, so a request for a byte that the output unit raises is seen
by the CPU's next cycle, a put (a "reload"). $4015 acts two APU cycles late:
the request of a sample just enabled (a "load") is raised at the end of a put
cycle, and a sample just disabled keeps its DMA going until then.
https://www.nesdev.org/wiki/DMA#DMC_DMA
"""

import numpy as np

from .jit import inner, outline
from .state import NEVER

# CPU cycles for each output bit.
RATES = np.array([428, 380, 340, 320, 286, 254, 226, 214, 190, 160, 142, 128, 106, 84, 72, 54])


def power_on_dmc(apu):
    """Give a zeroed section the state before CPU cycle 1; the timer's first clock comes at the end of cycle 2."""
    apu["dmc_rate"] = RATES[0]
    apu["dmc_start"] = apu["dmc_addr"] = 0xC000
    apu["dmc_length"] = 1
    apu["dmc_bits"] = 1
    apu["dmc_silent"] = 1
    apu["dmc_clock_at"] = apu["dmc_at"] = 2
    apu["dmc_load_at"] = apu["dmc_apply_at"] = apu["dmc_stop_at"] = NEVER


@inner
def dmc_reset(nes):
    """The Reset button: playback stops at once; bit 0 of the level stays."""
    apu = nes.apu
    apu.dmc_irq = 0
    apu.dmc_left = 0
    apu.dmc_enabled = 0
    apu.dmc_target = 0
    apu.dmc_request = 0
    apu.dmc_load = 0
    apu.dmc_stop_armed = 0
    apu.dmc_stopping = 0
    apu.dmc_load_at = NEVER
    apu.dmc_apply_at = NEVER
    apu.dmc_level &= 1
    _next(apu)


@inner
def _next(apu):
    # The DMA that a stopped sample leaves behind has one cycle to start.
    apu.dmc_stop_at = apu.dmc_stopping if apu.dmc_stopping else NEVER
    apu.dmc_at = min(min(apu.dmc_clock_at, apu.dmc_load_at), min(apu.dmc_apply_at, apu.dmc_stop_at))


@inner
def _clock_output(apu, e):
    """The timer ran out at the end of cycle ``e``: one bit, and after the eighth the next byte."""
    if apu.dmc_silent == 0:
        if apu.dmc_shift & 1:
            if apu.dmc_level <= 125:
                apu.dmc_level += 2
        elif apu.dmc_level >= 2:
            apu.dmc_level -= 2
    apu.dmc_shift >>= 1
    apu.dmc_bits -= 1
    if apu.dmc_bits:
        return
    apu.dmc_bits = 8
    apu.dmc_silent = 1 - apu.dmc_full
    if apu.dmc_full:
        apu.dmc_shift = apu.dmc_buffer
        apu.dmc_full = 0
    if apu.dmc_left or apu.dmc_stop_armed:
        # The cycle of a fetch cannot raise the next request: it waits for the next byte.
        if apu.dmc_got != e:
            apu.dmc_request = 1
            if apu.dmc_stop_armed:
                apu.dmc_stopping = e + 1
        apu.dmc_stop_armed = 0


@outline
def dmc_end(nes, e):
    """What is due at the end of cycle ``e`` (``dmc_at``)."""
    apu = nes.apu
    if e == apu.dmc_stop_at:
        apu.dmc_stopping = 0
        if apu.dmc_enabled == 0 and apu.dmc_target == 0:
            apu.dmc_request = 0
            apu.dmc_load = 0
    if e == apu.dmc_clock_at:
        apu.dmc_clock_at += apu.dmc_rate
        _clock_output(apu, e)
    if e == apu.dmc_load_at:
        apu.dmc_load_at = NEVER
        apu.dmc_request = 1
    if e == apu.dmc_apply_at:
        apu.dmc_apply_at = NEVER
        apu.dmc_enabled = apu.dmc_target
        if apu.dmc_enabled == 0:
            apu.dmc_left = 0
            if apu.dmc_stopping == 0:
                apu.dmc_request = 0
                apu.dmc_load = 0
    _next(apu)


@outline
def dmc_deliver(nes, n, value):
    """DMA fetched ``value`` in cycle ``n``."""
    apu = nes.apu
    load = apu.dmc_load
    apu.dmc_request = 0
    apu.dmc_load = 0
    apu.dmc_stopping = 0
    apu.dmc_got = n
    apu.dmc_buffer = value
    apu.dmc_full = 1
    apu.dmc_addr = 0x8000 if apu.dmc_addr == 0xFFFF else apu.dmc_addr + 1
    if apu.dmc_left:
        apu.dmc_left -= 1
        if apu.dmc_left == 0:
            if apu.dmc_loop:
                _start_sample(apu)
            else:
                apu.dmc_enabled = 0
                if apu.dmc_irq_enable:
                    apu.dmc_irq = 1
                    apu.irq_line = 1
    if load and apu.dmc_silent and apu.dmc_bits == 8 and apu.dmc_left and apu.dmc_clock_at - apu.dmc_rate == n - 2:
        # A load whose byte comes in the APU cycle after one in which silence began is played at once, and the
        # next is wanted, as in the recordings. By the wiki the byte waits for the end of the silent one.
        apu.dmc_shift = value
        apu.dmc_full = 0
        apu.dmc_silent = 0
        apu.dmc_load_at = n + 1
    _next(apu)


@inner
def _start_sample(apu):
    apu.dmc_addr = apu.dmc_start
    apu.dmc_left = apu.dmc_length


@inner
def write_dmc(apu, reg, value):
    """Write register ``reg`` (0 to 3: $4010 to $4013)."""
    if reg == 0:
        apu.dmc_irq_enable = value >> 7
        apu.dmc_loop = (value >> 6) & 1
        apu.dmc_rate = RATES[value & 15]
        if apu.dmc_irq_enable == 0:
            apu.dmc_irq = 0
    elif reg == 1:
        apu.dmc_level = value & 0x7F
    elif reg == 2:
        apu.dmc_start = 0xC000 | (value << 6)
    else:
        apu.dmc_length = (value << 4) | 1


@inner
def write_dmc_enable(apu, enable, n):
    """Bit 4 of a $4015 write in cycle ``n``."""
    put = n & 1
    to_clock = apu.dmc_clock_at - n
    apu.dmc_irq = 0
    apu.dmc_target = enable
    # The end of the second put cycle from here; that of the present one counts.
    apply_at = n + (2 if put else 3)
    if enable:
        if apu.dmc_left == 0:
            _start_sample(apu)
            if apu.dmc_full == 0 and apu.dmc_request == 0:
                apu.dmc_load_at = apply_at
                apu.dmc_load = apu.dmc_silent
        # A one-byte sample started four APU cycles before the byte ends is
        # over when the output unit asks for more: that DMA starts and is
        # aborted (DMA#Bugs). The same write four cycles before an earlier bit
        # has that effect at the byte's end, too: no hardware test decides, the
        # recordings have it (sprite_hit_tests/10.timing_order).
        if to_clock == (7 if put else 8):
            apu.dmc_stop_armed = 1
    elif to_clock == (apu.dmc_rate - 1 if put else 0):
        # In the APU cycle in which the timer runs out the DMA it starts completes.
        apply_at += 2
    apu.dmc_apply_at = apply_at
    _next(apu)
