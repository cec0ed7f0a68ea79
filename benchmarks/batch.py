"""Many consoles at once: frames a second of a ConsoleBatch against its size, and two consoles in two threads.

python benchmarks/batch.py [--frames N] [--rounds N]
"""

import argparse
import statistics
import threading

from common import games, interleaved, machine, summary


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()

    from pynes_ref import Console
    from pynes_ref.batch import ConsoleBatch

    rom = next(iter(games().values()))[0]
    consoles = [Console(rom), Console(rom)]
    for console in consoles:
        console.run_frames(300)

    def two_threads():
        threads = [threading.Thread(target=c.run_frames, args=(10 * args.frames,)) for c in consoles]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    tasks = {"one console": lambda: consoles[0].run_frames(10 * args.frames), "two in two threads": two_threads}
    times = interleaved(tasks, args.rounds)
    one, two = (statistics.median(times[name]) for name in tasks)
    print(machine(), "\n")
    print(f"two consoles in two threads give {2 * one / two:.2f} times the frames of one\n")

    print("| consoles | frames/s of all, rendered | not rendered |\n|---|---|---|")
    for n in (1, 2, 4, 8, 16, 32, 64):
        batch = ConsoleBatch(rom, n)
        batch.run_frames(60)
        frames = max(args.frames // n, 10)
        tasks = {
            "seen": lambda b=batch, f=frames: b.run_frames(f),
            "unseen": lambda b=batch, f=frames: b.run_frames(f, render=False),
        }
        times = interleaved(tasks, args.rounds)
        rates = [summary([n * frames / s for s in times[name]]) for name in tasks]
        print(f"| {n} | {rates[0]} | {rates[1]} |")
        batch.close()


if __name__ == "__main__":
    main()
