"""The conformance check: silent about our console, and the right words about every injected fault.

The probe ROM's expected colours and clicks were seen on the recorded reference, too (same 24 pictures, bit for bit).
"""

from __future__ import annotations

import numpy as np
import pytest
import toy_emulator as toy
from places import ROOT

from abi import conformance, probe_rom
from abi.candidate import EmulatorError, load, start
from abi.inprocess import PynesRef


def failures(name, **options):
    return [f.text for f in conformance.check(name, **options) if not f.ok]


def test_pynes_ref_keeps_the_abi():
    findings = conformance.check("pynes_ref", reference="pynes_ref")
    assert [f.text for f in findings if not f.ok and f.fatal] == []
    assert len(findings) > 18


def test_the_probe_shows_what_it_says():
    console = PynesRef()
    start(console)
    load(console, probe_rom.rom())
    run = conformance.play(console, [0] * 30)
    assert run.colours == [probe_rom.expected_colour(n) for n in range(30)]
    assert run.colours[:8] == [0, 0, 0, 0, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("bug", "words"),
    [
        ("early", "your emulator is one frame early"),
        ("early", "Call 0 runs a frame and should run nothing"),
        ("ab-swap", "A is read as B, B is read as A"),
        ("scanline", "the picture is 1 line low"),
        ("broken", "the picture is 1 line low"),
        ("blank", "picture never changes"),
        ("blank", "clicks of the DMC's level ($4011) are not heard"),
    ],
)
def test_injected_faults_are_named(bug, words):
    assert any(words in text for text in failures(f"pynes_ref:{bug}")), failures(f"pynes_ref:{bug}")


def test_a_slip_is_found_against_a_reference():
    found = failures("pynes_ref:early", reference="pynes_ref")
    assert any("against pynes_ref" in text and "one frame early" in text for text in found)


def test_a_shift_is_found_against_a_reference():
    rom = ROOT / "test_roms" / "pinewood.nes"
    found = failures("pynes_ref:scanline", rom=rom, reference="pynes_ref")
    assert any("the first pictures that differ are 1 line low" in text for text in found), found
    assert not any("on time?" in text for text in found)


class Odd(PynesRef):
    """The console with one fault at a time."""

    fault = ""

    def emu_set_keys(self, keys):
        if self.fault == "late keys":
            keys, self._held = getattr(self, "_held", 0), keys
        super().emu_set_keys(keys)

    def emu_run_frame(self):
        super().emu_run_frame()
        if self.fault == "double":
            super().emu_run_frame()

    def emu_reset(self):
        return 1 if self.fault == "no reset" else super().emu_reset()

    def emu_audio_samples(self):
        count = super().emu_audio_samples()
        if self.fault == "no drain":
            self._all = np.concatenate([getattr(self, "_all", self._audio[:0]), self._audio])[-9000:]
            self._audio = self._all
            return self._all.size
        return count

    def emu_audio_rate(self):
        return 48_000 if self.fault == "rate" else super().emu_audio_rate()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("late keys", "shows in call n + 2"),
        ("double", "next picture is not the next frame's"),
        ("no reset", "emu_reset gives the state after loading"),
        ("no drain", "asked at once again"),
        ("rate", "emu_audio_rate answers 48000"),
    ],
)
def test_other_faults_are_named(fault, words, monkeypatch):
    monkeypatch.setattr(Odd, "fault", fault)
    monkeypatch.setattr("abi.inprocess.PynesRef", Odd)
    found = failures("pynes_ref")
    assert any(words in text for text in found), found


def test_modules(tmp_path):
    """The toy is no console: it is told so, and nothing breaks."""
    path = tmp_path / "toy.wasm"
    path.write_bytes(toy.module())
    found = failures(str(path))
    assert any("several colours" in text for text in found)
    assert not any("stays where it is" in text for text in found)
    path.write_bytes(toy.module(skip=("emu_reset",)))
    assert failures(str(path)) == [f"{path}: the module's exports do not fit the ABI: emu_reset is missing"]
    up = "(global.set $n (i32.add (global.get $n) (i32.const 1)))"
    moving = f"(result i32) {up} (i32.add (i32.const 0x1000) (global.get $n))"
    path.write_bytes(toy.module(emu_framebuffer=moving))
    assert any(text == "emu_framebuffer stays where it is" for text in failures(str(path)))
    path.write_bytes(toy.module(emu_run_frame="unreachable"))
    assert any("emu_run_frame trapped: unreachable" in text for text in failures(str(path)))


def test_recordings_cannot_be_checked(shared):
    with pytest.raises(EmulatorError, match="is a recording"):
        conformance.check(str(shared / "recordings"))
