"""The modules, built once, and what it takes to run one beside the console."""

import os
import time
from importlib.util import find_spec

import pytest
from places import missing

from abi.candidate import start
from abi.wasm import Wasm
from pynes_ref import wasm_export
from pynes_ref.core.state import NES

FRAME = NES.fields["ppu"][1] + NES["ppu"].fields["frame"][1]


@pytest.fixture(scope="session")
def modules(tmp_path_factory):
    """Paths of the modules by bug ("" = none), built once for all of pytest's processes."""
    if find_spec("ziglang") is None:
        missing("ziglang is not installed (pip install 'pynes-ref[wasm-build]')")
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
