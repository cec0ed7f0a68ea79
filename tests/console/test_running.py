"""``Console``: frames and single instructions, with and without output, beside others, in little memory."""

import gc
import signal
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from consoles import GAMES, differing, outputs, played, same
from small_rom import READ_PADS, own, rom

from pynes_ref import Button, Console


def test_call_0_runs_nothing():
    console = Console(own("pinewood"))
    picture = console.run_frame(0xFF)
    assert console.cycles == 8
    assert not picture.any()
    assert len(console.drain_audio()) == 0
    console.run_frame()
    assert 29_700 < console.cycles < 29_900
    assert len(console.drain_audio()) == 716


def test_frames_are_as_long_as_the_hardware_has_them(game):
    twin = game.clone()
    begun, samples = twin.cycles, 0
    for _ in range(60):
        twin.run_frame()
        count = len(twin.drain_audio())
        assert count in (733, 734)
        samples += count
        assert twin.ppu.scanline == 0
        assert twin.ppu.dots in (3 * twin.cycles + 1, 3 * twin.cycles + 2)
    assert (twin.cycles - begun) / 60 == pytest.approx(29_780.5, abs=1)
    assert samples / 60 == pytest.approx(733.8, abs=0.5)


def test_the_frame_is_a_live_read_only_view(game):
    twin = game.clone()
    frame = twin.frame
    assert (frame.shape, frame.dtype) == ((240, 256), np.uint16)
    assert frame.max() < 512
    assert twin.run_frame() is frame
    assert twin.run_frames(2) is frame
    with pytest.raises(ValueError, match="read-only"):
        frame[0, 0] = 1


@pytest.mark.parametrize("name", GAMES)
def test_run_frames_is_run_frame_n_times(name):
    one, many = Console(own(name)), Console(own(name))
    many.run_frames(150)
    many.run_frames(6, Button.START, Button.A)
    many.run_frames(0, 0xFF)
    many.run_frames(24)
    for n in range(180):
        one.run_frame(*((Button.START, Button.A) if 150 <= n < 156 else (0, 0)))
    # The 0 frames in between have pressed buttons all the same, which nothing read.
    assert same(one, many)


def test_many_frames_are_run_in_slices(monkeypatch):
    whole, sliced = Console(own("pinewood")), Console(own("pinewood"))
    whole.run_frames(30, Button.START, Button.A)
    monkeypatch.setattr("pynes_ref.console.SLICE", 7)
    sliced.run_frames(30, Button.START, Button.A)
    assert same(whole, sliced)


def test_ctrl_c_ends_a_run_without_end():
    console = played()
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        console.run_frames(10**12, render=False, sound=False)
    assert time.monotonic() - begun < 60
    console.run_frame()
    assert len(console.drain_audio()) in (733, 734)


def test_run_frames_refuses_nonsense():
    console = Console(rom())
    before = console.snapshot()
    for n in (-1, 1 << 63, 1 << 64):
        with pytest.raises(ValueError, match=f"cannot run {n} frames"):
            console.run_frames(n)
    for n in (1.0, "1", None):
        with pytest.raises(TypeError):
            console.run_frames(n)
    assert np.array_equal(console.snapshot(), before)


@pytest.mark.parametrize(
    ("render", "sound", "may_differ"),
    [
        (False, True, {"ppu.frame"}),
        (True, False, {"audio.out", "audio.count"}),
        (False, False, {"ppu.frame", "audio.out", "audio.count"}),
    ],
)
def test_what_is_switched_off_leaves_the_state_alone(game, render, sound, may_differ):
    full, quiet = game.clone(), game.clone()
    for count in (1, 5, 40):
        full.run_frames(count, Button.RIGHT)
        quiet.run_frames(count, Button.RIGHT, render=render, sound=sound)
        differ = differing(full.snapshot(), quiet.snapshot())
        assert differ == may_differ if count == 40 else differ <= may_differ
    full.drain_audio()
    assert (len(quiet.drain_audio()) > 0) == sound
    # With both on again the next frame is whole, but for the pixels of its first line that the last call drew.
    different = full.run_frame() != quiet.run_frame()
    assert not different[1:].any()
    assert not different[0, 16:].any()
    assert np.array_equal(full.drain_audio(), quiet.drain_audio())
    assert outputs(full, 2) == outputs(quiet, 2)


def test_a_refused_run_leaves_picture_and_sound_on():
    console = played(frames=20)
    with pytest.raises(ValueError, match="byte"):
        console.run_frames(1, buttons=256, render=False, sound=False)
    console.run_frame()
    assert len(console.drain_audio()) in (733, 734)


def test_step_instruction_counts_its_cycles():
    # LDA #$42, STA $10, JMP $C000
    console = Console(rom(bytes.fromhex("a942 8510 4c00c0")))
    assert [console.step_instruction() for _ in range(6)] == [2, 3, 3, 2, 3, 3]
    assert console.cycles == 8 + 16
    assert console.cpu.pc == 0xC000
    assert console.memory[0x10] == 0x42


def test_steps_and_frames_go_the_same_way(game):
    framed, stepped = game.clone(), game.clone()
    framed.run_frame(0)
    while stepped.cycles < framed.cycles:
        stepped.step_instruction()
    assert stepped.cycles == framed.cycles
    stepped.run_frame(0)  # the frame that has ended under the steps
    assert stepped.cycles == framed.cycles
    assert outputs(stepped, 3) == outputs(framed, 3)
    assert np.array_equal(stepped.ram, framed.ram)


def test_numbers_of_any_integer_type_are_taken():
    console = Console(rom(READ_PADS))
    console.run_frames(3)
    for kind in (np.int32, np.uint8, np.uint64, bool, Button):
        console.run_frames(kind(1), kind(1), kind(1))
        console.run_frame(kind(1))
        console.peek(kind(1))
        console.memory[kind(1)] = kind(1)
        assert console.memory[kind(1)] == 1


def test_consoles_in_threads_equal_consoles_in_sequence():
    jobs = [(name, keys) for name in GAMES for keys in (0, Button.START, Button.A | Button.RIGHT)]

    def work(job):
        return outputs(Console(own(job[0])), 60, job[1])

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(work, jobs))
    assert together == [work(job) for job in jobs]


def test_one_console_in_two_threads_is_refused():
    console = played()
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(console.run_frames, 1000)
        refused = 0
        while not other.done():
            for call in (console.run_frame, lambda: console.run_frames(1), console.step_instruction, console.reset):
                try:
                    call()
                except RuntimeError as error:
                    refused += "running in another thread" in str(error)
            time.sleep(0.001)
            if refused > 20:
                break
        with suppress(RuntimeError):  # between two slices one of the calls above may have been first
            other.result(timeout=120)
    assert refused > 0
    console.run_frame()
    twin = console.clone()
    twin.run_frame()


def test_others_run_while_a_console_runs():
    console = played()
    ticks, done = [0], threading.Event()

    def count():
        while not done.wait(0.001):
            ticks[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    console.run_frames(300)  # one call of compiled code, a tenth of a second or more
    done.set()
    thread.join()
    assert ticks[0] > 5


def test_frames_allocate_nothing():
    console = played()
    gc.collect()
    objects = len(gc.get_objects())
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for _ in range(300):
            console.run_frame(Button.RIGHT)
        console.run_frames(50)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Numba looks up the record's type at every call, with some bytes that are let go again; a picture has 122 880.
    assert peak - before < 20_000
    assert after - before < 20_000
    assert len(gc.get_objects()) - objects < 10
