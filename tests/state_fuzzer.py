"""Save states with right checksums and wrong contents, loaded and run in a process of their own.

``python tests/state_fuzzer.py FIRST COUNT`` tries states FIRST to FIRST + COUNT - 1
and prints how many were loaded; the number of the present one goes to stderr, so
that the last line there names the one that crashes or hangs. Only ``StateError``
may come out of it.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from consoles import GAMES, leaves, played  # noqa: E402
from small_rom import READ_PADS, rom  # noqa: E402

from pynes_ref import Console, StateError  # noqa: E402
from pynes_ref.core.state import STATE_BYTES  # noqa: E402
from pynes_ref.savestate import pack  # noqa: E402

VALUES = [0, 1, 2, -1, -2, 7, 8, 31, 32, 63, 64, 255, 256, 340, 341, 4096, 0xFFFF, 1 << 16, 1 << 31, -(1 << 31),
          1 << 40, -(1 << 40), 1 << 50, 1 << 61, 1 << 62, (1 << 63) - 1, -(1 << 63)]  # fmt: skip


@cache
def seeds():
    """Consoles of every board, between frames and amid one, and just built."""
    found = [played(name, frames) for name in GAMES for frames in (1, 60, 200)]
    for mapper, submapper in ((0, 0), (1, 0), (2, 2), (3, 1), (4, 1), (4, 3), (7, 2)):
        prg, chr_ = (2, 1) if mapper in (0, 3) else (8, 0 if mapper in (2, 7) else 4)
        console = Console(rom(READ_PADS, mapper=mapper, submapper=submapper, prg=prg, chr_=chr_))
        console.run_frames(4)
        found.append(console)
    for console in list(found):
        twin = console.clone()
        for _ in range(500):
            twin.step_instruction()
        found.append(twin)
    return found


@cache
def fields():
    """(first byte, end) of every field but the large memories."""
    return [(a, b) for name, a, b in leaves() if b <= STATE_BYTES and b - a < 4096]


def damaged(number):
    """(console, save state): case ``number``, always the same."""
    rng = np.random.default_rng([30_000, number])
    console = seeds()[number % len(seeds())]
    raw = console.snapshot()
    for _ in range(1 if number % 4 else int(rng.integers(2, 6))):
        start, end = fields()[rng.integers(len(fields()))]
        if (end - start) % 8 == 0 and start % 8 == 0 and rng.random() < 0.7:
            words = raw[start:end].view(np.int64)
            at = rng.integers(len(words))
            near = rng.random() < 0.5
            words[at] = words[at] + rng.integers(-40, 41) if near else VALUES[rng.integers(len(VALUES))]
        else:
            raw[rng.integers(start, end)] ^= np.uint8(1 << rng.integers(8))
    return console, pack(raw, console.cartridge.sha256)


def attempt(number):
    """True when the state is taken; then it runs."""
    console, data = damaged(number)
    twin = console.clone()
    before = twin.snapshot()
    message = None
    try:
        twin.load_state(data)
    except StateError as error:
        message = str(error)
    if message is not None:
        assert "is damaged" in message
        assert len(message.splitlines()) == 1
        assert np.array_equal(twin.snapshot(), before)
        return False
    twin.run_frame(0x5A)
    twin.step_instruction()
    twin.drain_audio()
    twin.rgb()
    for which in range(4):
        twin.nametable(which)
        twin.pattern_table(which)
    assert len(twin.memory[0x6000:0x8010]) == 0x2010
    twin.run_frames(2, 0xFF)
    twin.reset()
    twin.run_frame()
    return True


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:])
    taken = 0
    for case in range(first, first + count):
        print(case, file=sys.stderr, flush=True)
        taken += attempt(case)
    print(taken)
