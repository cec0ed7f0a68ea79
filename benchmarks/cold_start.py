"""Start-up: nothing compiled, everything compiled, and only --help; whole processes.

python benchmarks/cold_start.py [--rounds N]
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

from common import ROOT, machine, summary

RUN = [sys.executable, "-m", "pynes_ref.cli", "run", str(ROOT / "test_roms" / "pinewood.nes"), "--frames", "1"]
HELP = [sys.executable, "-m", "pynes_ref.cli", "--help"]


def seconds(command, cache):
    environment = dict(os.environ, PYNES_REF_CACHE=cache, PYTHONPATH=str(ROOT))
    begun = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    cold, warm, short = [], [], []
    with tempfile.TemporaryDirectory() as kept:
        seconds(RUN, kept)
        for i in range(args.rounds):
            if i < 2:
                with tempfile.TemporaryDirectory() as fresh:
                    cold.append(seconds(RUN, fresh))
            warm.append(seconds(RUN, kept))
            short.append(seconds(HELP, kept))
    print(machine(), "\n")
    print("| start | seconds, median (min-max) |\n|---|---|")
    print(f"| cold: nothing compiled, to the first frame | {summary(cold)} |")
    print(f"| warm: compiled code in the cache, to the first frame | {summary(warm)} |")
    print(f"| --help | {summary(short)} |")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\npeak memory of the largest of these processes (the compiling one): {peak:.0f} MB")


if __name__ == "__main__":
    main()
