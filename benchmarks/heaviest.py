"""Frames a second on the heaviest test ROMs: which they are, how fast they run, and what they do to the PPU.

python benchmarks/heaviest.py [ROM ...] [--count N] [--rounds N] [--all]

Every ROM of ``tests/expectations.toml`` that is here (found by its hash, see ``pynes-ref roms``) runs once for as
long as its test takes, with its input, picture and sound produced and drained. A ROM is as heavy as its slowest 300
frames. The heaviest of each suite, N of them, then run those frames again, interleaved, the whole-line path beside
the dot path. ROM: names like ``full_palette/full_palette``, in place of the survey's choice. ``--all``: not only one a
suite.
"""

import argparse
import statistics
import time

from common import interleaved, machine, summary

STRETCH, BLOCK = 300, 60
FRAME_CYCLES = 29_781
PPU_REGISTERS = 0x2000, 0x3FFF
ABSOLUTE = {0x0C, 0x0D, 0x0E, 0x0F}  # low five bits of the opcodes with a two-byte address, index or not
INDEXED = {0x19, 0x1B, 0x1C, 0x1D, 0x1E, 0x1F}
JUMPS = {0x4C, 0x6C}


def keys_of(row):
    """The buttons of every frame of a row's run."""
    from pynes_ref.verify import accuracycoin

    pressed = accuracycoin.PRESSED if row.protocol == "accuracycoin" else ()
    return [accuracycoin.START if frame in pressed else row.keys_at(frame) for frame in range(row.frames)]


def runs_here():
    """``{name: (path, submapper, keys)}`` of the table's ROMs that are here, and the names of those that are not."""
    from pynes_ref import roms
    from pynes_ref.verify import table

    here, missing = {}, []
    for row in table.load().rows:
        path = roms.find(row.rom.sha256)
        if path is None:
            missing.append(row.name)
        else:
            here[row.name] = (path, row.submapper, keys_of(row))
    return here, missing


def slowest_stretch(run):
    """``(CPU seconds a frame, first frame)`` of the slowest 300 frames of a run."""
    from pynes_ref import Console

    path, submapper, keys = run
    console = Console(path, submapper=submapper)
    blocks = []
    for at in range(0, max(len(keys) - BLOCK, 0) + 1, BLOCK):
        held_in_block = (keys[at : at + BLOCK] + [0] * BLOCK)[:BLOCK]
        begun = time.thread_time()
        for held in held_in_block:
            console.run_frame(held)
            console.drain_audio()
        blocks.append((time.thread_time() - begun) / BLOCK)
    wide = min(STRETCH // BLOCK, len(blocks))
    return max((statistics.mean(blocks[i : i + wide]), i * BLOCK) for i in range(len(blocks) - wide + 1))


def survey(here, one_a_suite):
    """``[(CPU seconds a frame, first frame, name)]``, the heaviest first."""
    found = sorted(((*slowest_stretch(run), name) for name, run in here.items()), reverse=True)
    if not one_a_suite:
        return found
    kept = {}
    for entry in found:
        kept.setdefault(entry[2].split("/")[0], entry)
    return list(kept.values())


def stretch(run, first):
    """A console at the beginning of a stretch, its state, and the buttons from there on."""
    from pynes_ref import Console

    path, submapper, keys = run
    console = Console(path, submapper=submapper)
    for held in keys[:first]:
        console.run_frame(held)
    console.drain_audio()
    return console, console.snapshot(), (keys[first:] + [0] * STRETCH)[:STRETCH]


def touches(console, keys, every=30):
    """Instructions a frame that name a PPU register, in one frame of ``every``, and the register most named."""
    counts = {}
    for at in range(0, len(keys), every):
        for held in keys[at : at + every - 1]:
            console.run_frame(held)
        console.drain_audio()
        begun = console.cycles
        while console.cycles - begun < FRAME_CYCLES:
            pc = console.cpu.pc
            opcode = console.peek(pc)
            if (opcode & 0x1F) in ABSOLUTE | INDEXED and opcode not in JUMPS:
                address = console.peek(pc + 1) | console.peek(pc + 2) << 8
                if PPU_REGISTERS[0] <= address <= PPU_REGISTERS[1]:
                    register = 0x2000 | address & 7
                    counts[register] = counts.get(register, 0) + 1
            console.step_instruction()
    if not counts:
        return "none"
    return f"{sum(counts.values()) * every // len(keys)}, most ${max(counts, key=counts.get):04X}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("roms", nargs="*", metavar="ROM")
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--all", action="store_true", help="several ROMs of one suite")
    args = parser.parse_args()
    here, missing = runs_here()
    if args.roms:
        missing = [name for name in args.roms if name not in here]
        here = {name: run for name, run in here.items() if name in args.roms}
    if not here:
        raise SystemExit("none of these ROMs is here: name their folder in PYNES_ROMS or run `pynes-ref roms fetch`")
    chosen = survey(here, not (args.all or args.roms))[: args.count]

    tasks, touched = {}, {}
    for _, first, name in chosen:
        console, state, keys = stretch(here[name], first)
        touched[name] = touches(console, keys)
        for lines in (1, 0):

            def play(console=console, state=state, keys=keys, lines=lines):
                console.restore(state)
                console._nes["ppu"]["whole_lines"] = lines
                for held in keys:
                    console.run_frame(held)
                    console.drain_audio()

            tasks[name if lines else f"{name} (dots)"] = play
    times = interleaved(tasks, args.rounds)
    print(machine())
    print(f"{len(here)} runs surveyed, {len(missing)} ROMs not here; {STRETCH} frames each, {args.rounds} rounds\n")
    print("| ROM, from frame | frames/s, median (min-max) | ms a frame | dot path, ms | PPU registers a frame |")
    print("|---|---|---|---|---|")
    for _, first, name in chosen:
        rates = [STRETCH / seconds for seconds in times[name]]
        dots = 1000 * statistics.median(times[f"{name} (dots)"]) / STRETCH
        ours = 1000 / statistics.median(rates)
        print(f"| {name}, {first} | {summary(rates)} | {ours:.3f} | {dots:.3f} | {touched[name]} |")
    if missing:
        print("\nnot here: " + ", ".join(missing))


if __name__ == "__main__":
    main()
