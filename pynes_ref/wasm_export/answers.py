"""What the exported functions do, in compiled code: one function, told which of them was called.

Memory is the caller's (``shim``): ``mem`` with ``nes`` at its start; ``image``,
the ROM buffer; ``kept``, the record at power-on; ``shown``, a picture that is
not the console's own (bugs only); ``desk``, what the ABI has to remember.
"""

import numpy as np

from ..core import frame
from ..core.jit import inner
from ..core.power import RECORD
from .bugs import AB_SWAP, BLANK, EARLY, NO_TRI_NOISE, SCANLINE
from .cartridge import insert

LOAD, RESET, KEYS, RUN, SAMPLES = range(5)

# desk
LOADED, HELD = range(2)

TRIANGLE_AND_NOISE = 4 | 8
WIDTH, PIXELS = 256, 256 * 240

_advance = inner(frame.advance.py_func)


@inner
def _show(nes, shown, bugs):
    if bugs & SCANLINE:
        for i in range(WIDTH):
            shown[i] = nes.ppu.frame[i]
        for i in range(WIDTH, PIXELS):
            shown[i] = nes.ppu.frame[i - WIDTH]


@inner
def _switch_on(nes, mem, kept, shown, desk, bugs):
    for i in range(RECORD):
        mem[i] = kept[i]
    desk[LOADED] = 1
    desk[HELD] = 0
    if bugs & NO_TRI_NOISE:
        nes.apu.mute = TRIANGLE_AND_NOISE
        # The mixer looks again in the next cycle.
        nes.apu.due = min(nes.apu.due, nes.cpu.clk + 1)
    if bugs & EARLY:
        _advance(nes, mem, frame.FRAMES, 1, 0, 0)
        nes.audio.count = 0
    _show(nes, shown, bugs)


@inner
def answer(nes, mem, image, kept, shown, desk, bugs, call, value):
    """Do what the exported function ``call`` does; its result."""
    if call == LOAD:
        if not 0 < value <= image.shape[0] or not insert(nes, mem, image, value):
            return 0
        _advance(nes, mem, frame.START, 0, 0, 0)
        for i in range(RECORD):
            kept[i] = mem[i]
    if call == LOAD or call == RESET:
        if call == RESET and not desk[LOADED]:
            return 0
        _switch_on(nes, mem, kept, shown, desk, bugs)
        return 1
    if call == KEYS:
        keys = value & 0xFF
        if bugs & AB_SWAP:
            keys = keys & ~3 | (keys & 1) << 1 | (keys & 2) >> 1
        desk[HELD] = keys
    elif call == RUN:
        if desk[LOADED]:
            _advance(nes, mem, frame.FRAMES, 1, desk[HELD], 0)
            _show(nes, shown, bugs)
    elif call == SAMPLES:
        count = nes.audio.count
        nes.audio.count = 0
        return np.int64(0) if bugs & BLANK else count
    return 0
