"""Damaged and hostile ROMs through load and three frames, in a process of its own.

``python tests/fuzz_worker.py run FIRST COUNT PROGRESS`` tries inputs FIRST to
FIRST + COUNT - 1 and writes the number of the present one to the file PROGRESS,
so that the parent knows where it died or hangs. ``... one N`` repeats one
input, ``... save N FILE`` keeps it. Only ``RomError`` may come out of it.
"""

import struct
import sys
from functools import cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from small_rom import OWN, rom  # noqa: E402

from pynes_ref import Console, RomError  # noqa: E402

FRAMES = 4  # the first call after power-on runs nothing

# What registers there are, so that random programs find them: PPU, APU, DMA, pads, boards.
PLACES = np.array(
    [*range(0x2000, 0x2008)] * 4 + [*range(0x4000, 0x4018)] * 2 + [0x4014, 0x4010, 0x4015, 0x4016]
    + [0x5000, 0x6000, 0x6FFF, 0x7000, 0x7400, 0x8000, 0x8001, 0x9FFF, 0xA000, 0xA001, 0xBFFF, 0xC000, 0xC001, 0xDFFF,
       0xE000, 0xE001, 0xFFFF] * 4
    + [0x0000, 0x00FF, 0x0100, 0x01FF, 0x07FF, 0x1FFF, 0x3FFF, 0x401F],
    np.uint16,
)  # fmt: skip
# LDA, LDX, LDY, STA, STX, STY, INC, LSR, BIT, LAX, SAX, DCP absolute; STA and LDA indexed; SHA, SHX, SHY, SHS.
TOUCHES = np.frombuffer(bytes.fromhex("ad ae ac 8d 8d 8d 8e 8c ee 4e 2c af 8f cf 9d 99 bd b9 9f 9e 9c 9b"), np.uint8)


@cache
def seeds():
    """Valid ROMs: ours, and one of every size and shape of every board."""
    found = [path.read_bytes() for path in sorted(OWN.glob("*.nes"))]
    for mapper, submapper in [(0, 0), (1, 0), (1, 5), (155, 0), (2, 0), (2, 2), (3, 0), (3, 1), (4, 0), (4, 1), (4, 3),
                              (4, 4), (7, 0), (7, 2)]:  # fmt: skip
        for prg, chr_ in [(1, 0), (1, 1), (2, 0), (2, 1), (3, 1), (8, 0), (8, 3), (32, 16)]:
            for flags in (0, 1, 2, 8):
                data = rom(mapper=mapper, submapper=submapper, prg=prg, chr_=chr_, flags=flags)
                try:
                    Console(data)
                except RomError:
                    continue
                found.append(data)
    return found


BANK = 0x2000


def _storm(rng):
    """A bank full of loading random values and touching registers with them; in some, of other things now and then."""
    code = rng.integers(0, 256, (BANK // 5 + 1, 5), np.uint8)
    count = len(code)
    code[:, 0] = 0xA9  # LDA #
    which = rng.random(count)
    code[which < 0.15, 0] = 0xA2  # LDX #
    code[which < 0.08, 0] = 0xA0  # LDY #
    code[:, 2] = TOUCHES[rng.integers(0, len(TOUCHES), count)]
    where = PLACES[rng.integers(0, len(PLACES), count)]
    code[:, 3], code[:, 4] = where & 0xFF, where >> 8
    wild = rng.random(count) < rng.choice([0, 0, 0.005, 0.03])
    code[wild] = rng.integers(0, 256, (int(wild.sum()), 5), np.uint8)
    return code.reshape(-1)[:BANK]


def make(number):
    """Input ``number``, always the same."""
    rng = np.random.default_rng([20_000, number])
    base = seeds()[number % len(seeds())]
    data = np.frombuffer(base, np.uint8).copy()
    kind = int(rng.integers(0, 10))
    if kind <= 2:  # the header
        for _ in range(rng.integers(1, 5)):
            data[rng.integers(4, 16)] = rng.choice([0, 1, 2, 8, 15, 16, 0x7F, 0x80, 0xF0, 0xFF, rng.integers(0, 256)])
        if kind == 0:
            data[rng.integers(0, 16)] ^= np.uint8(1 << rng.integers(0, 8))
    if kind in (1, 3, 4):  # some bytes anywhere
        data[rng.integers(16, len(data), rng.integers(1, 2000))] = rng.integers(0, 256, 1, np.uint8)
    elif kind in (5, 6):  # a program of noise
        data[16:] = rng.integers(0, 256, len(data) - 16, np.uint8)
    elif kind in (7, 8, 9):  # a program that goes for the registers
        # Every bank begins with an instruction, so that switching one keeps the program in step.
        storms = np.stack([_storm(rng), _storm(rng)])
        banks = storms[rng.integers(0, 2, (len(data) - 16) // BANK)]
        data[16:] = np.resize(banks, len(data) - 16)
    for end in range(16 + BANK, len(data) + 1, BANK):
        if kind in (2, 6):  # the vectors of every 8 KiB
            data[end - 6 : end] = rng.integers(0, 256, 6, np.uint8)
        elif kind >= 5:  # a jump and the vectors go to the beginnings of instructions
            at = 0x8000 + rng.integers(0, 4) * BANK + rng.integers(0, (BANK - 256) // 5, 4) * 5
            words = [part for a in at for part in (a & 0xFF, a >> 8)]
            data[end - 12 : end] = [0x4C, *words[:2], 0, 0, 0, *words[2:]]
    if kind == 0:  # the length
        cut = int(rng.integers(0, 4))
        if cut == 0:
            data = data[: rng.integers(0, len(data))]
        elif cut == 1:
            data = np.concatenate([data, rng.integers(0, 256, rng.integers(1, 5000), np.uint8)])
    return data.tobytes(), rng


def play(data, keys=(0, 0xFF, 0x5A, 0x0F), more=False):
    """Load and run; True when it is a ROM."""
    try:
        console = Console(data)
    except RomError:
        return False
    for held in keys[:FRAMES]:
        console.run_frame(held, held ^ 0x3C)
    if more:
        state = console.save_state()
        console.reset()
        console.run_frame(0)
        console.load_state(state)
        console.step_instruction()
        console.drain_audio()
        console.rgb()
        console.pattern_table(1)
        console.nametable(3)
        for start in (0x0000, 0x1FF8, 0x3FF8, 0x4010, 0x5FF8, 0x6FF8, 0x73F8, 0x7FF8, 0xFFF0):
            assert len(console.memory[start : start + 16]) == 16
        console.power_cycle()
        console.run_frames(2, render=False, sound=False)
    return True


def run(first, count, progress):
    accepted = 0
    with open(progress, "r+b", buffering=0) as file:
        play(rom())  # compiles, if it has to
        for number in range(first, first + count):
            file.seek(0)
            file.write(struct.pack("<q", number))
            data, rng = make(number)
            accepted += play(data, [int(key) for key in rng.integers(0, 256, FRAMES)], more=number % 16 == 0)
    print(accepted)


def hypothetical(examples):
    """The same with Hypothesis, which shrinks what it finds."""
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    @given(
        header=st.binary(min_size=0, max_size=12),
        mapper=st.sampled_from([0, 1, 2, 3, 4, 7, 155, None]),
        body=st.binary(min_size=0, max_size=400),
        banks=st.sampled_from([0, 1, 2, 4, 8]),
        keys=st.lists(st.integers(0, 255), min_size=FRAMES, max_size=FRAMES),
    )
    @settings(max_examples=examples, deadline=None, derandomize=True, database=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    def attempt(header, mapper, body, banks, keys):
        head = bytearray(header.ljust(12, b"\0"))
        if mapper is not None:
            head[0], head[1] = banks, head[1] & 3
            head[2] = head[2] & 15 | (mapper & 15) << 4
            head[3] = head[3] & 12 | mapper & 0xF0
        play(b"NES\x1a" + bytes(head) + (body or b"\0") * ((banks * 0x4000 + 0x8000) // len(body or b"\0") + 1), keys)

    attempt()
    print("done")


if __name__ == "__main__":
    task, *rest = sys.argv[1:]
    if task == "run":
        run(int(rest[0]), int(rest[1]), rest[2])
    elif task == "hypothesis":
        hypothetical(int(rest[0]))
    elif task == "one":
        made, generator = make(int(rest[0]))
        print(play(made, [int(key) for key in generator.integers(0, 256, FRAMES)], more=True))
    elif task == "save":
        Path(rest[1]).write_bytes(make(int(rest[0]))[0])
