"""Save states: size and time of snapshot, save_state and load_state.

python benchmarks/savestate.py [--rounds N]
"""

import argparse

from common import games, interleaved, machine, summary

REPEATS = 50


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()

    from pynes_ref import Console

    print(machine(), "\n")
    print("| game | state, raw | saved | snapshot µs | save µs | load µs |\n|---|---|---|---|---|---|")
    for name, (rom, _) in games().items():
        console = Console(rom)
        console.run_frames(600)
        state = console.save_state()
        tasks = {
            "snapshot": lambda c=console: [c.snapshot() for _ in range(REPEATS)],
            "save": lambda c=console: [c.save_state() for _ in range(REPEATS)],
            "load": lambda c=console, s=state: [c.load_state(s) for _ in range(REPEATS)],
        }
        times = interleaved(tasks, args.rounds)
        cells = [summary(times[key], 1e6 / REPEATS) for key in tasks]
        print(f"| {name} | {len(console.snapshot())} | {len(state)} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
