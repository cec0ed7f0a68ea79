"""What it takes to run an exported module beside the console."""

import random

import numpy as np

from abi.candidate import drain, load, start
from abi.inprocess import PynesRef
from pynes_ref.core.state import NES, STATE_BYTES

FRAME = NES.fields["ppu"][1] + NES["ppu"].fields["frame"][1]


def state(module):
    """The state in the module's memory: the record begins ``FRAME`` bytes before the picture."""
    return bytes(module._bytes(module.ask_pointer("emu_framebuffer") - FRAME, STATE_BYTES))


def console_state(reference):
    return reference.console.snapshot().tobytes()


def started(rom):
    reference = PynesRef()
    start(reference)
    load(reference, rom)
    return reference


def random_keys(calls, seed=7):
    """Held for some frames each, as a player would; no two runs of the tests differ."""
    chosen = random.Random(seed)
    keys = []
    while len(keys) < calls:
        keys += [chosen.choice([0, 8, 1, 2, 0x81, 0x41, 0x82, 0x10, chosen.randrange(256)])] * chosen.randrange(1, 30)
    return keys[:calls]


def run_both(ours, theirs, keys):
    """Run both; every picture and every sample has to be equal."""
    for call, held in enumerate(keys):
        for one in (ours, theirs):
            one.emu_set_keys(held)
            one.emu_run_frame()
        same = np.array_equal(ours.emu_framebuffer().reshape(-1), theirs.emu_framebuffer().reshape(-1))
        assert same, f"call {call} shows another picture"
        assert np.array_equal(drain(ours), drain(theirs)), f"call {call} sounds otherwise"
