"""The module as a file: exports, size, the same bytes when built again; and the small print of the ABI."""

import os
import shutil
import subprocess
import sys

import wasmtime
from places import ROOT
from wasm_consoles import console_state, random_keys, run_both, started, state

from abi import conformance
from abi.candidate import OPTIONAL, REQUIRED, load
from pynes_ref.bundled import folder

SOURCES = ROOT / "pynes_ref"
OWN = sorted(folder("test_roms").glob("*.nes"))


def test_exports_the_abi_and_imports_nothing(modules):
    config = wasmtime.Config()
    # An engine without the newer features.
    for feature in ("simd", "relaxed_simd", "threads", "multi_value", "memory64"):
        setattr(config, f"wasm_{feature}", False)
    config.wasm_bulk_memory = True
    engine = wasmtime.Engine(config)
    for path in modules.values():
        found = wasmtime.Module(engine, path.read_bytes())
        assert not found.imports
        kinds = {item.name: item.type for item in found.exports}
        assert isinstance(kinds.pop("memory"), wasmtime.MemoryType)
        types = {
            name: (tuple(map(str, kind.params)), " ".join(map(str, kind.results))) for name, kind in kinds.items()
        }
        assert types == REQUIRED
        assert not types.keys() & OPTIONAL.keys()


def test_is_small(modules):
    assert max(path.stat().st_size for path in modules.values()) < 300_000


def test_memory_is_what_it_needs(module):
    assert module.memory_size() < 18 * 2**20


def test_says_what_it_was_built_from(modules):
    from pynes_ref import __version__
    from pynes_ref.jitcache import source_hash

    assert f"pynes-ref {__version__}, core {source_hash()}".encode() in modules[""].read_bytes()[-200:]


def test_the_same_sources_give_the_same_bytes(modules, tmp_path):
    # Elsewhere, under another user's settings, built alone.
    shutil.copytree(SOURCES, tmp_path / "pynes_ref", ignore=shutil.ignore_patterns("__pycache__"))
    code = "import sys; from pynes_ref.wasm_export import export; sys.stdout.buffer.write(export())"
    settings = {"PYTHONPATH": str(tmp_path), "NUMBA_OPT": "2", "PYTHONHASHSEED": "5", "NUMBA_BOUNDSCHECK": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | settings, capture_output=True, timeout=500)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == modules[""].read_bytes()


def test_keeps_the_abi(modules):
    findings = conformance.check(str(modules[""]), reference="pynes_ref")
    assert [finding.text for finding in findings if not finding.ok and "speed" not in finding.text] == []


def test_without_a_rom_there_is_nothing_to_run(module):
    assert module.emu_reset() == 0
    module.emu_set_keys(255)
    module.emu_run_frame()
    assert module.emu_audio_samples() == 0
    assert not module.emu_framebuffer().any()


def test_a_refused_rom_leaves_the_game_running(module):
    rom = OWN[0].read_bytes()
    load(module, rom)
    reference = started(rom)
    run_both(module, reference, random_keys(30))
    module.emu_rom_buffer()[:] = 0x55
    assert module.emu_load_rom(40_000) == 0
    run_both(module, reference, random_keys(30))
    # Nor does Reset look at the buffer.
    assert module.emu_reset() == 1
    assert reference.emu_reset() == 1
    assert state(module) == console_state(reference)
    run_both(module, reference, random_keys(30))


def test_switching_on_lets_the_buttons_go(module):
    rom = OWN[0].read_bytes()
    load(module, rom)
    reference = started(rom)
    for one in (module, reference):
        one.emu_set_keys(0x1FF)
        one.emu_run_frame()
        one.emu_reset()
        for _ in range(3):
            one.emu_run_frame()
    assert state(module) == console_state(reference)


def test_a_rom_leaves_no_trace(module):
    small, large = sorted(OWN, key=lambda path: path.stat().st_size)[:: len(OWN) - 1]
    load(module, small.read_bytes())
    for held in random_keys(20):
        module.emu_set_keys(held)
        module.emu_run_frame()
    before = state(module)
    load(module, large.read_bytes())
    for held in random_keys(100):
        module.emu_set_keys(held)
        module.emu_run_frame()
    load(module, small.read_bytes())
    for held in random_keys(20):
        module.emu_set_keys(held)
        module.emu_run_frame()
    # Nobody drained the first twenty frames' sound; nobody has drained these.
    assert state(module) == before
