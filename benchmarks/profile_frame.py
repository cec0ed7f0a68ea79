"""Where a frame's time goes: PPU, APU and sound, CPU with everything that binds them, copying.

python benchmarks/profile_frame.py [GAME ...] [--frame N] [--rounds N]

From a state N frames into the replay the PPU alone is run for whole frames
(with the registers as they are), then the APU alone, then the console; what
the console needs beyond the two is the CPU, the boards, DMA and the catching
up. The floor beside it is what one dot, one CPU cycle costs at best: a dot in a
line that is skipped because nothing is rendered, a cycle of a loop of JMP.
"""

import argparse
import statistics
import time

from common import games, machine

DOTS, CYCLES = 89_342, 29_780.5
JUMP_FOREVER = b"NES\x1a\x01\x01" + bytes(10) + bytes([0x4C, 0x00, 0xC0]) + bytes(0x3FF9) + bytes([0, 0xC0, 0, 0])


def compiled():
    """Entry points that run one chip alone."""
    from pynes_ref.core.apu import apu_run
    from pynes_ref.core.jit import entry
    from pynes_ref.core.ppu import ppu_run

    @entry
    def ppu_alone(nes, mem, frames):
        for _ in range(frames):
            ppu_run(nes, mem, nes.ppu.dots + DOTS)

    @entry
    def apu_alone(nes, mem, frames):
        for _ in range(frames):
            apu_run(nes, mem, nes.apu.cycle + 29_780)
            nes.audio.count = 0

    return ppu_alone, apu_alone


def milliseconds(task, frames, rounds):
    """Median CPU milliseconds a frame."""
    times = []
    for _ in range(rounds):
        begun = time.process_time()
        task(frames)
        times.append(1000 * (time.process_time() - begun) / frames)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*")
    parser.add_argument("--frame", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()

    from pynes_ref import Console
    from pynes_ref.movie import load

    ppu_alone, apu_alone = compiled()
    print(machine(), "\n")
    print("| game | frame, ms | PPU | APU and sound | CPU, DMA, catching up | copying out |\n|---|---|---|---|---|---|")
    for name, (rom, replay) in games().items():
        if args.games and name not in args.games:
            continue
        console = Console(rom)
        keys = load(replay).keys(args.frame)
        for held in keys:
            console.run_frame(held)
        state = console.snapshot()

        def chip(alone, console=console, state=state):
            def run(frames):
                console.restore(state)
                alone(console._nes, console._mem, frames)

            return run

        def whole(frames, console=console, state=state):
            console.restore(state)
            console.run_frames(frames)

        def copies(frames, console=console):
            for _ in range(frames):
                console.frame.copy()
                console.drain_audio()

        for task in (chip(ppu_alone), chip(apu_alone), whole, copies):
            task(2)
        total, ppu, apu, out = (
            milliseconds(task, 120, args.rounds) for task in (whole, chip(ppu_alone), chip(apu_alone), copies)
        )
        print(f"| {name} | {total:.3f} | {ppu:.3f} | {apu:.3f} | {max(total - ppu - apu, 0):.3f} | {out:.3f} |")

    loop = Console(JUMP_FOREVER + bytes(0x2000))
    loop.run_frames(5)
    blank = loop.snapshot()

    def idle(alone):
        def run(frames):
            loop.restore(blank)
            alone(loop._nes, loop._mem, frames)

        return run

    total = milliseconds(loop.run_frames, 300, args.rounds)
    ppu, apu = (milliseconds(idle(alone), 300, args.rounds) for alone in (ppu_alone, apu_alone))
    cycle = (total - ppu - apu) * 1e6 / CYCLES
    print(f"\nfloor: {ppu * 1e6 / DOTS:.2f} ns a dot that shows the backdrop, {apu * 1e6 / CYCLES:.2f} ns a cycle of a")
    print(f"silent APU, {cycle:.2f} ns a CPU cycle of a loop of JMP; together {total:.3f} ms a frame")


if __name__ == "__main__":
    main()
