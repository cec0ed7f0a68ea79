"""The modules, built once, and what it takes to run one beside the console."""

import os
import random
import time
from importlib.util import find_spec

import numpy as np
import pytest

from abi.candidate import drain, load, start
from abi.inprocess import PynesRef
from abi.wasm import Wasm
from pynes_ref import wasm_export
from pynes_ref.core.state import NES, STATE_BYTES

FRAME = NES.fields["ppu"][1] + NES["ppu"].fields["frame"][1]


@pytest.fixture(scope="session")
def modules(tmp_path_factory):
    """Paths of the modules by bug ("" = none), built once for all of pytest's processes."""
    if find_spec("ziglang") is None:
        reason = "ziglang is not installed (pip install 'pynes-ref[wasm-build]')"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    here = tmp_path_factory.getbasetemp()
    place = (here.parent if os.environ.get("PYTEST_XDIST_WORKER") else here) / "modules"
    names = ["", *wasm_export.BUGS]
    paths = {name: place / f"pynes-{name or 'plain'}.wasm" for name in names}
    try:
        place.mkdir()
    except FileExistsError:
        waited = time.monotonic() + 500
        while not (place / "done").exists():
            assert time.monotonic() < waited, "another process has not built the modules"
            time.sleep(0.5)
        assert all(path.is_file() for path in paths.values()), "another process could not build the modules"
        return paths
    try:
        for name, data in wasm_export.export_all(names).items():
            paths[name].write_bytes(data)
    finally:
        (place / "done").touch()
    return paths


@pytest.fixture
def module(modules):
    """A running instance of the plain module."""
    instance = Wasm(modules[""].read_bytes())
    start(instance)
    return instance


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
