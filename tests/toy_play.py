"""Playing the toy emulator behind any adapter."""

import numpy as np
import toy_emulator as toy

from abi.candidate import drain, load, start

KEYS = [0, 0, 0, 1, 1, 8, 0, 255, 0, 0]


def play(candidate, keys=KEYS, rom=toy.ROM):
    start(candidate)
    load(candidate, rom)
    frames = []
    for held in keys:
        candidate.emu_set_keys(held)
        candidate.emu_run_frame()
        frames.append((candidate.emu_framebuffer().copy().reshape(-1), drain(candidate)))
    return frames


def same(a, b):
    return all(np.array_equal(x[0], y[0]) and np.array_equal(x[1], y[1]) for x, y in zip(a, b, strict=True))
