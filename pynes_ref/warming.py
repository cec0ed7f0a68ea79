"""Saying so while the core compiles: never silent for more than two seconds."""

import sys
import threading
import time
from contextlib import contextmanager

QUIET = 1.0
QUIET_WARM = 2.0
EVERY = 1.0


@contextmanager
def warmed():
    """Report on stderr, with the elapsed time, if what runs inside takes longer than a second.

    The first run of a version compiles the console; with a warm cache only a
    slow machine is ever spoken of.
    """
    from .jitcache import is_warm

    warm = is_warm()
    what = "starting the console" if warm else "compiling the console (once for this version)"
    stop = threading.Event()
    begun = time.monotonic()
    spoken = []

    def report():
        live = sys.stderr.isatty()
        wait = QUIET_WARM if warm else QUIET
        while not stop.wait(wait):
            wait = EVERY
            text = f"{what}: {time.monotonic() - begun:.0f} s"
            print(("\r" if live else "") + text, end="" if live else "\n", file=sys.stderr, flush=True)
            spoken.append(live)

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        if spoken and spoken[-1]:
            print(file=sys.stderr)


def compile_all():
    """Compile every entry point by running a console for a moment."""
    import numpy as np

    from .console import Console

    header = np.frombuffer(b"NES\x1a\x01\x01" + bytes(10), np.uint8)
    prg = np.zeros(0x4000, np.uint8)
    prg[0:3] = 0x4C, 0x00, 0xC0  # JMP $C000
    prg[0x3FFD] = 0xC0
    console = Console(header.tobytes() + prg.tobytes() + bytes(0x2000))
    console.run_frames(2)
    console.peek(0)
    console.memory[0] = 0
