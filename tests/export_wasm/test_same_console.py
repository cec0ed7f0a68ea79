"""The module is the console, byte for byte, in pictures, sound and state.

What the JIT does is tested elsewhere; here the module has to do the same. With ``PYNES_WASM_RECORDINGS=1`` all
recorded runs are compared, which takes some minutes.
"""

import hashlib
import os
import shutil
import subprocess

import numpy as np
import pytest
from places import SHARED
from wasm_consoles import console_state, random_keys, run_both, started, state

from abi import bugs
from abi.bugs import Bugged
from abi.candidate import PIXELS, drain, load, start
from abi.inprocess import PynesRef
from abi.loader import resolve
from abi.wasm import Wasm
from pynes_ref import wasm_export
from pynes_ref.bundled import folder

OWN = sorted(folder("test_roms").glob("*.nes"))
FOREIGN = ["accuracycoin/AccuracyCoin.nes", "mmc3_test_2/4-scanline_timing.nes", "holy_mapperel/M1_P128K_C32K.nes"]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_runs_our_roms_as_the_jit_does(module, path):
    rom = path.read_bytes()
    load(module, rom)
    reference = started(rom)
    run_both(module, reference, random_keys(200))
    assert state(module) == console_state(reference)


@pytest.mark.parametrize("path", FOREIGN)
def test_runs_test_roms_as_the_jit_does(module, rom, path):
    data = rom(path).read_bytes()
    load(module, data)
    reference = started(data)
    # AccuracyCoin begins when Start is pressed.
    run_both(module, reference, [0] * 60 + [8] * 4 + [0] * 336)
    assert state(module) == console_state(reference)


def recorded_runs(known_roms):
    """(name, ROM, keys) of everything that has been recorded, as far as its ROM is here."""
    from grader.manifest import load_corpus
    from pynes_ref.roms import find

    for case in load_corpus(SHARED / "corpus").cases:
        yield case.id, case.rom(), case.keys
    for row in known_roms.values():
        path = find(row.sha256)
        if path is not None:
            with np.load(SHARED / "recordings" / "suites" / f"{row.sha256[:16]}.npz") as recorded:
                yield row.path, path.read_bytes(), recorded["keys"].tolist()


@pytest.mark.skipif(not os.environ.get("PYNES_WASM_RECORDINGS"), reason="set PYNES_WASM_RECORDINGS to compare them all")
def test_runs_every_recorded_run_as_the_jit_does(module, known_roms):
    for name, rom, keys in recorded_runs(known_roms):
        load(module, rom)
        reference = started(rom)
        run_both(module, reference, keys)
        assert state(module) == console_state(reference), name


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_runs_in_another_engine(modules, tmp_path):
    rom, calls = OWN[0].read_bytes(), 120
    script = tmp_path / "run.mjs"
    script.write_text(NODE)
    command = ["node", str(script), str(modules[""]), str(OWN[0]), str(calls)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    reference, digest = started(rom), hashlib.sha256()
    for call in range(calls):
        reference.emu_set_keys(call & 0xFF)
        reference.emu_run_frame()
        digest.update(reference.emu_framebuffer().tobytes() + drain(reference).tobytes())
    assert done.stdout.strip() == digest.hexdigest()


NODE = """
import fs from 'fs'; import crypto from 'crypto';
const [, , module, rom, calls] = process.argv;
const emu = (await WebAssembly.instantiate(fs.readFileSync(module), {})).instance.exports;
const data = fs.readFileSync(rom), hash = crypto.createHash('sha256');
emu.emu_init();
new Uint8Array(emu.memory.buffer).set(data, emu.emu_rom_buffer());
if (emu.emu_load_rom(data.length) !== 1) throw new Error('refused');
for (let call = 0; call < Number(calls); call++) {
  emu.emu_set_keys(call & 0xff);
  emu.emu_run_frame();
  hash.update(new Uint8Array(emu.memory.buffer, emu.emu_framebuffer(), 2 * 256 * 240));
  const samples = emu.emu_audio_samples();
  hash.update(new Uint8Array(emu.memory.buffer, emu.emu_audio_buffer(), 2 * samples));
}
console.log(hash.digest('hex'));
"""


def test_the_bugs_are_the_graders():
    assert wasm_export.BUGS.keys() == bugs.BUGS.keys()
    for name, parts in bugs.BUGS.items():
        assert wasm_export.BUGS[name] == sum(wasm_export.BUGS[part] for part in parts)


@pytest.mark.parametrize("bug", wasm_export.BUGS)
def test_a_bug_is_the_one_the_grader_injects(modules, bug):
    rom = folder("test_roms").joinpath("pinewood.nes").read_bytes()
    buggy, reference, plain = Wasm(modules[bug].read_bytes()), Bugged(PynesRef(), bug), started(rom)
    for one in (buggy, reference):
        start(one)
        load(one, rom)
    assert np.array_equal(buggy.emu_framebuffer(), reference.emu_framebuffer().reshape(-1))
    run_both(buggy, reference, random_keys(150))
    assert buggy.emu_reset() == reference.emu_reset() == 1
    run_both(buggy, reference, random_keys(150, seed=3))
    # And it can be noticed.
    buggy.emu_reset()
    differs = False
    for held in random_keys(150):
        for one in (buggy, plain):
            one.emu_set_keys(held)
            one.emu_run_frame()
        sounds = drain(buggy), drain(plain)
        differs |= not np.array_equal(*sounds)
        differs |= not np.array_equal(buggy.emu_framebuffer(), plain.emu_framebuffer())
    assert differs


def test_a_bug_gives_the_emulator_another_identity(modules):
    assert len({resolve(str(path)).identity for path in modules.values()}) == len(modules)


def test_the_picture_has_its_size(modules):
    for path in modules.values():
        instance = Wasm(path.read_bytes())
        start(instance)
        assert instance.emu_framebuffer().size == PIXELS
