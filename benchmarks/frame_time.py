"""Frames a second on one core, replay played, picture and sound produced and drained.

python benchmarks/frame_time.py [GAME ...] [--frames N] [--rounds N] [--dots]

``--dots`` adds the dot path (every line dot by dot) beside the ordinary one.
"""

import argparse
import statistics

from common import games, interleaved, machine, summary


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*")
    parser.add_argument("--frames", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dots", action="store_true")
    args = parser.parse_args()

    from pynes_ref import Console
    from pynes_ref.movie import load

    chosen = {name: pair for name, pair in games().items() if not args.games or name in args.games}
    tasks = {}
    for name, (rom, replay) in chosen.items():
        keys = load(replay).keys(args.frames)
        for path in ["lines", "dots"] if args.dots else ["lines"]:

            def play(rom=rom, keys=keys, path=path):
                console = Console(rom)
                console._nes["ppu"]["whole_lines"] = path == "lines"
                for held in keys:
                    console.run_frame(held)
                    console.drain_audio()

            tasks[name if path == "lines" else f"{name} (dots)"] = play
    for task in tasks.values():
        task()
    times = interleaved(tasks, args.rounds)
    print(machine())
    print(f"{args.frames} frames from power-on, {args.rounds} interleaved rounds\n")
    print("| game | frames/s, median (min-max) | ms a frame |\n|---|---|---|")
    for name, seconds in times.items():
        rate = [args.frames / s for s in seconds]
        print(f"| {name} | {summary(rate)} | {1000 / statistics.median(rate):.3f} |")


if __name__ == "__main__":
    main()
