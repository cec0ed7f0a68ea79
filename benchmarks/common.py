"""What the benchmarks share: games to run, interleaving, medians, the machine.

Every benchmark interleaves what it compares (A B A B ...) and gives medians
with their spread, so that a machine that speeds up or slows down half-way
favours nobody. Rounds during which the process was kept from the processor for
more than a tenth of the time are thrown away and repeated (at most as many
again as were asked for).
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
SHARED = ROOT.parent / "shared" / "corpus"
STOLEN = 0.10

GAMES = {
    "pinewood": (ROOT / "test_roms/pinewood.nes", ROOT / "replays/pinewood-gameplay.txt"),
    "kittiwake": (ROOT / "test_roms/kittiwake.nes", ROOT / "replays/kittiwake-gameplay.txt"),
    "undertow": (ROOT / "test_roms/undertow.nes", ROOT / "replays/undertow-gameplay.txt"),
    "falling": (SHARED / "roms/homebrew/falling.nes", SHARED / "replays/falling-gameplay.txt"),
    "minekart": (SHARED / "roms/homebrew/minekart-madness.nes", SHARED / "replays/minekart-madness-gameplay.txt"),
}


def games():
    """The games that are here: ``{name: (rom, replay)}``."""
    return {name: pair for name, pair in GAMES.items() if pair[0].exists()}


def machine() -> str:
    """One line about the machine and the versions."""
    from importlib.metadata import version

    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"{model}, {os.cpu_count()} cores{load}; Python {platform.python_version()}, "
        f"Numba {version('numba')}, NumPy {version('numpy')}"
    )


def timed(task):
    """Wall seconds of ``task()``, and whether the process had the processor for nine tenths of them."""
    wall, cpu = time.perf_counter(), time.process_time()
    task()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return wall, wall <= 0.05 or cpu >= (1 - STOLEN) * wall


def interleaved(tasks, rounds=5, measure=timed):
    """Run ``{name: task}`` in turn, ``rounds`` times each: ``{name: [value, ...]}``.

    ``measure(task)`` gives a value (seconds, by default) and whether it counts. Where none did, all are given.
    """
    good = {name: [] for name in tasks}
    noisy = {name: [] for name in tasks}
    for _ in range(2 * rounds):
        for name, task in tasks.items():
            if len(good[name]) < rounds:
                value, quiet = measure(task)
                (good if quiet else noisy)[name].append(value)
        if all(len(values) >= rounds for values in good.values()):
            break
    for name in tasks:
        if not good[name]:
            print(f"no quiet round of {name}: the machine was busy", file=sys.stderr)
    return {name: good[name] or noisy[name] for name in tasks}


def summary(values, unit=1.0):
    """``median (min-max)`` of values times ``unit``."""
    values = sorted(v * unit for v in values)
    return f"{statistics.median(values):.4g} ({values[0]:.4g}-{values[-1]:.4g})"
