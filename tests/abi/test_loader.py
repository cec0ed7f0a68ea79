"""Emulators by name, and the injected bugs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import small_rom
import toy_emulator as toy
from toy_play import KEYS, play, same

from abi.bugs import BUGS, Bugged
from abi.candidate import Candidate, EmulatorError
from abi.loader import core_sha256, resolve


def test_a_module_by_name(tmp_path):
    path = tmp_path / "toy.wasm"
    path.write_bytes(toy.module())
    emulator = resolve(str(path))
    assert (emulator.kind, emulator.label, len(emulator.identity)) == ("wasm", "toy", 64)
    again = pickle.loads(pickle.dumps(emulator))
    assert same(play(again.open()), play(toy.ToyEmulator()))
    path.write_bytes(toy.module(memory="177"))
    with pytest.raises(EmulatorError, match="changed while it was in use"):
        emulator.open()


def test_names_that_are_none(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "game.nes").write_bytes(b"NES")
    for name, message in (
        ("nothing", "no such emulator"),
        ("", "an empty name is no emulator"),
        (str(tmp_path / "nothing.wasm"), "No such file"),
        (str(tmp_path / "empty"), "no .refcache recordings"),
        (str(tmp_path / "game.nes"), "not an emulator"),
        ("pynes_ref:sideways", "no bug named 'sideways'; choose from scanline, .*, hardware-sound$"),
        ("pynes_ref:", "no bug named ''"),
    ):
        with pytest.raises(EmulatorError, match=message) as error:
            resolve(name)
        assert "\n" not in str(error.value)


def test_a_file_too_large_is_refused_unread(tmp_path):
    path = tmp_path / "huge.wasm"
    with path.open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    with pytest.raises(EmulatorError, match="200 MB is too large"):
        resolve(str(path))


def test_identity_of_pynes_ref():
    plain, bugged = resolve("pynes_ref"), resolve("pynes_ref:scanline")
    assert plain.identity == core_sha256() == resolve("pynes_ref").identity
    assert bugged.identity != plain.identity
    assert (bugged.label, bugged.title, plain.title) == ("pynes_ref-scanline", "pynes_ref:scanline", "pynes_ref")
    assert resolve(bugged.title) == bugged


def test_hardware_sound_is_an_emulator_of_its_own_and_no_bug():
    plain, other = resolve("pynes_ref"), resolve("pynes_ref:hardware-sound")
    assert other.identity != plain.identity
    assert (other.label, other.bug) == ("pynes_ref-hardware-sound", "")
    rom = small_rom.rom()
    for emulator, wanted in ((plain, 0), (other, 1)):
        console = emulator.open()
        console.emu_rom_buffer()[: len(rom)] = list(rom)
        assert console.emu_load_rom(len(rom))
        assert console.emu_reset()
        assert console.console._nes["apu"]["hardware"] == wanted
    with pytest.raises(EmulatorError, match="no bug named"):
        resolve("x.wasm:hardware-sound")


def test_bugs():
    assert list(BUGS) == ["scanline", "ab-swap", "no-tri-noise", "broken", "early", "blank"]
    plain = play(toy.ToyEmulator())
    for bug in BUGS:
        assert isinstance(Bugged(toy.ToyEmulator(), bug), Candidate)
    late = play(Bugged(toy.ToyEmulator(), "scanline"))
    for (was, heard), (now, sound) in zip(plain, late, strict=True):
        was, now = was.reshape(240, 256), now.reshape(240, 256)
        assert np.array_equal(now[1:], was[:-1])
        assert np.array_equal(now[0], was[0])
        assert np.array_equal(heard, sound)
    swap = [(k & 0xFC) | (k & 1) << 1 | (k & 2) >> 1 for k in KEYS]
    assert same(play(Bugged(toy.ToyEmulator(), "ab-swap")), play(toy.ToyEmulator(), swap))
    muted = play(Bugged(toy.ToyEmulator(), "no-tri-noise"))
    assert all(not sound.any() and np.array_equal(a, b) for (a, sound), (b, _) in zip(muted, plain, strict=True))
    blank = play(Bugged(toy.ToyEmulator(), "blank"))
    assert all(not picture.any() and not sound.size for picture, sound in blank)
    early = play(Bugged(toy.ToyEmulator(), "early"), [0] * 9)
    assert same(early, play(toy.ToyEmulator(), [0] * 10)[1:])
    with pytest.raises(EmulatorError, match="no bug named"):
        Bugged(toy.ToyEmulator(), "worse")


def test_muting_needs_help_from_the_emulator(tmp_path):
    path = tmp_path / "toy.wasm"
    path.write_bytes(toy.module())
    assert resolve(f"{path}:scanline").open()
    with pytest.raises(EmulatorError, match="no way to silence"):
        resolve(f"{path}:no-tri-noise").open()
