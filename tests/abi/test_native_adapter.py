"""Native libraries in a child process: agreement with the Python twin, crashes, hangs, missing functions."""

from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest
import toy_emulator as toy
from toy_play import play, same

from abi.candidate import CandidateError, EmulatorError, drain, load, start
from abi.loader import resolve
from abi.native import Native


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Compile C into a shared library: build(source, *flags) -> path."""
    compiler = [shutil.which("cc") or shutil.which("gcc") or shutil.which("clang") or ""]
    if not compiler[0]:
        if subprocess.run([sys.executable, "-m", "ziglang", "version"], capture_output=True, check=False).returncode:
            pytest.skip("no C compiler (cc, or the ziglang package)")
        compiler = [sys.executable, "-m", "ziglang", "cc"]
    folder = tmp_path_factory.mktemp("native")

    def make(source: str, *flags: str) -> str:
        number = len(list(folder.glob("*.c")))
        path = folder / f"toy{number}.so"
        (folder / f"toy{number}.c").write_text(source)
        command = [*compiler, "-O1", "-shared", "-fPIC", *flags, "-o", str(path), str(folder / f"toy{number}.c")]
        subprocess.run(command, check=True, capture_output=True)
        return str(path)

    return make


def test_a_library_plays_what_its_python_twin_plays(build):
    native = Native(build(toy.C_SOURCE))
    assert same(play(native), play(toy.ToyEmulator()))
    assert same(play(native, rom=toy.OTHER_ROM), play(toy.ToyEmulator(), rom=toy.OTHER_ROM))
    native.close()


def test_a_crash_is_an_error_and_the_caller_lives_on(build):
    native = Native(build(toy.C_SOURCE, "-DCRASH_AT=3"))
    start(native)
    load(native, toy.ROM)
    for _ in range(3):
        native.emu_run_frame()
        drain(native)
    with pytest.raises(CandidateError, match="crashed in emu_run_frame") as error:
        native.emu_run_frame()
    assert error.value.dead
    with pytest.raises(CandidateError, match="crashed"):
        native.emu_framebuffer()
    native.close()


def test_a_hang_is_ended(build):
    native = Native(build(toy.C_SOURCE, "-DHANG_AT=2"), frame_seconds=1.0)
    start(native)
    load(native, toy.ROM)
    native.emu_run_frame()
    native.emu_run_frame()
    with pytest.raises(CandidateError, match="did not return within 1 s") as error:
        native.emu_run_frame()
    assert error.value.dead
    assert not native._child.is_alive()
    native.close()


def test_missing_functions_and_files(build, tmp_path):
    with pytest.raises(EmulatorError, match="does not export emu_reset, emu_run_frame"):
        Native(build(toy.C_SOURCE.replace("emu_reset", "x").replace("emu_run_frame", "y")))
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"\x7fELF" + bytes(100))
    with pytest.raises(EmulatorError):
        Native(str(broken))


def test_it_needs_trust(build):
    path = build(toy.C_SOURCE)
    with pytest.raises(EmulatorError, match="--trust-native"):
        resolve(path)
    candidate = resolve(path, trust_native=True).open()
    start(candidate)
    load(candidate, toy.ROM)
    candidate.emu_run_frame()
    assert not np.any(candidate.emu_framebuffer())
    candidate.close()


def test_null_pointers_and_absurd_counts(build):
    source = toy.C_SOURCE.replace("return frame;", "return 0;").replace(
        "int c = count; count = 0; return c;", "return -3;"
    )
    native = Native(build(source))
    start(native)
    load(native, toy.ROM)
    native.emu_run_frame()
    with pytest.raises(CandidateError, match="null pointer"):
        native.emu_framebuffer()
    assert drain(native).size == 0
    assert native.notes == ["emu_audio_samples answered -3; taken as no sound"]
    native.close()
