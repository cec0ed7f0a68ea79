"""The WebAssembly adapter: agreement with a Python twin, and modules that mean harm."""

from __future__ import annotations

import pytest
import toy_emulator as toy
import wasmtime
from toy_play import play, same

from abi.candidate import Candidate, CandidateError, EmulatorError, load, start
from abi.wasm import HUNG_AFTER, Wasm, WasmLimits

SMALL = WasmLimits(fuel_per_frame=5_000_000, fuel_load_rom=20_000_000, memory_bytes=32 * 1024 * 1024)


def test_a_module_plays_what_its_python_twin_plays():
    wasm = Wasm(toy.module(), SMALL)
    assert isinstance(wasm, Candidate)
    assert same(play(wasm), play(toy.ToyEmulator()))
    assert wasm.notes == []
    assert wasm.emu_audio_rate() == 44_100
    assert wasm.emu_boot_frames() == 0


def test_reset_is_load_and_another_rom_leaves_no_trace():
    wasm = Wasm(toy.module(), SMALL)
    first = play(wasm)
    assert same(play(wasm), first)
    play(wasm, rom=toy.OTHER_ROM)
    assert same(play(wasm), first)
    assert wasm.emu_reset() == 1
    wasm.emu_run_frame()
    assert not wasm.emu_framebuffer().any()


def test_a_rom_it_refuses():
    wasm = Wasm(toy.module(), SMALL)
    start(wasm)
    with pytest.raises(CandidateError, match="emu_load_rom returned 0"):
        load(wasm, b"no ROM" * 10)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a WebAssembly module"),
        (b"MZ" * 500, "not a WebAssembly module"),
        (b"(module)", "not a WebAssembly module"),
        (toy.module()[:300], "not a valid WebAssembly module"),
        (b"\0asm\x01\0\0\0", "exports no memory"),
        (toy.module(skip=("emu_reset", "emu_audio_rate")), "emu_reset is missing; emu_audio_rate is missing"),
        (toy.module(emu_init="(result i64) i64.const 1"), r"emu_init is \(\) -> i64 and should be \(\) -> i32"),
        (toy.module(emu_load_rom="(result i32) i32.const 1"), r"emu_load_rom is \(\) -> i32"),
        (toy.module(head='(import "env" "memory2" (global i32))'), "imports a global"),
        (toy.module(body="(func $s unreachable) (start $s)"), "does not start"),
        (toy.module(body="(func $s (loop br 0)) (start $s)"), "fuel"),
        (toy.module(head='(import "env" "f" (func $f))', body="(start $f)"), "env.f, which is forbidden"),
        (toy.module(memory="60000"), "memory"),
        (toy.module(memory="176 65536 ").replace(b"memory", b"memorx"), "exports no memory"),
    ],
)
def test_modules_that_cannot_be_opened(data, message):
    with pytest.raises(EmulatorError, match=message) as error:
        Wasm(data, SMALL)
    assert "\n" not in str(error.value)


def test_an_export_that_is_no_function():
    text = '(module (memory (export "memory") 1) (global (export "emu_init") i32 (i32.const 1)))'
    with pytest.raises(EmulatorError, match="emu_init is not a function"):
        Wasm(bytes(wasmtime.wat2wasm(text)), SMALL)


def test_imported_memory_is_refused():
    with pytest.raises(EmulatorError, match="imports a memory"):
        Wasm(bytes(wasmtime.wat2wasm('(module (import "env" "memory" (memory 1)))')), SMALL)


def test_threads_and_relaxed_simd_are_off():
    text = '(module (memory (export "memory") 1 2 shared))'
    with pytest.raises(EmulatorError, match="not a valid"):
        Wasm(bytes(wasmtime.wat2wasm(text)), SMALL)


@pytest.mark.parametrize("call", ["emu_init", "emu_load_rom", "emu_reset"])
def test_an_endless_call_is_a_trap(call):
    code = f"{'(param i32) ' if call == 'emu_load_rom' else ''}(result i32) (loop br 0) i32.const 1"
    wasm = Wasm(toy.module(**{call: code}), SMALL)
    arguments = (100,) if call == "emu_load_rom" else ()
    with pytest.raises(CandidateError, match=f"{call} did not return within 20,000,000 units of fuel"):
        getattr(wasm, call)(*arguments)


def test_an_endless_frame_is_given_up_after_a_while():
    wasm = Wasm(toy.module(emu_run_frame="(loop br 0)"), SMALL)
    start(wasm)
    load(wasm, toy.ROM)
    for number in range(HUNG_AFTER):
        with pytest.raises(CandidateError, match="fuel") as error:
            wasm.emu_run_frame()
        assert error.value.dead == (number == HUNG_AFTER - 1)


def test_stack_overflow_division_and_unreachable_are_traps():
    for code, message in (
        ("call $deep", "stack"),
        ("(drop (i32.div_u (i32.const 1) (global.get $count)))", "division by zero|divide by zero"),
        ("unreachable", "unreachable"),
        ("(i32.store (i32.const -4) (i32.const 1))", "out of bounds"),
    ):
        wasm = Wasm(toy.module(body="(func $deep (call $deep))", emu_run_frame=code), SMALL)
        start(wasm)
        load(wasm, toy.ROM)
        for _ in range(2):
            with pytest.raises(CandidateError, match=message):
                wasm.emu_run_frame()


def test_memory_growth_ends_at_the_limit():
    """Growing returns -1 there; the module lives on."""
    code = "(loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) call $frame"
    wasm = Wasm(toy.module(emu_run_frame=code), SMALL)
    assert same(play(wasm), play(toy.ToyEmulator()))
    assert SMALL.memory_bytes - 16 * 65536 < wasm.memory_size() <= SMALL.memory_bytes


def test_forbidden_imports_trap_when_called_and_only_then():
    head = '(import "env" "fopen" (func $fopen (param i32 i32) (result i32)))'
    assert same(play(Wasm(toy.module(head=head), SMALL)), play(toy.ToyEmulator()))
    code = "(drop (call $fopen (i32.const 0) (i32.const 0)))"
    wasm = Wasm(toy.module(head=head, emu_run_frame=code), SMALL)
    start(wasm)
    load(wasm, toy.ROM)
    with pytest.raises(CandidateError, match=r"env\.fopen, which is forbidden"):
        wasm.emu_run_frame()


def test_printing_is_told_why_it_is_forbidden():
    """The commonest forbidden call: ``printf`` of a module built against WASI."""
    head = """(import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))"""
    code = "(drop (call $write (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0)))"
    wasm = Wasm(toy.module(head=head, emu_run_frame=code), SMALL)
    start(wasm)
    load(wasm, toy.ROM)
    with pytest.raises(CandidateError, match=r"fd_write, which is forbidden: there is nothing to print to"):
        wasm.emu_run_frame()


def test_wasi_answers_zeros_and_emscripten_growth_is_a_no_op():
    head = """
      (import "env" "emscripten_notify_memory_growth" (func $grown (param i32)))
      (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
      (import "wasi_snapshot_preview1" "clock_res_get" (func $res (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "environ_sizes_get" (func $sizes (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "environ_get" (func $environ (param i32 i32) (result i32)))
    """
    code = """
      (call $grown (i32.const 0))
      (memory.fill (i32.const 0x1000) (i32.const 0x55) (i32.const 64))
      (drop (call $random (i32.const 0x1000) (i32.const 8)))
      (drop (call $clock (i32.const 0) (i64.const 0) (i32.const 0x1008)))
      (drop (call $res (i32.const 0) (i32.const 0x1010)))
      (drop (call $sizes (i32.const 0x1018) (i32.const 0x101c)))
      (drop (call $environ (i32.const 0x1020) (i32.const 0x1020)))
    """
    wasm = Wasm(toy.module(head=head, emu_run_frame=code), SMALL)
    start(wasm)
    load(wasm, toy.ROM)
    wasm.emu_run_frame()
    frame = wasm.emu_framebuffer()
    assert not frame[:16].any()
    assert (frame[16:32] == 0x5555).all()


@pytest.mark.parametrize(("pointer", "size"), [(-5, 100), (0, -1), (0x7FFFFFFF, 0x7FFFFFFF), (11534336 - 4, 5)])
def test_wasi_writes_nothing_outside_the_memory(pointer, size):
    """Error 28 (EINVAL) instead."""
    head = '(import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))'
    code = f"(i32.store16 (i32.const 0x1000) (call $random (i32.const {pointer}) (i32.const {size})))"
    wasm = Wasm(toy.module(head=head, emu_run_frame=code), SMALL)
    start(wasm)
    load(wasm, toy.ROM)
    wasm.emu_run_frame()
    assert wasm.emu_framebuffer()[0] == 28


def test_a_wasi_import_of_another_type_is_forbidden():
    head = '(import "wasi_snapshot_preview1" "random_get" (func $random (param i64) (result i32)))'
    wasm = Wasm(toy.module(head=head, emu_run_frame="(drop (call $random (i64.const 0)))"), SMALL)
    start(wasm)
    load(wasm, toy.ROM)
    with pytest.raises(CandidateError, match="forbidden"):
        wasm.emu_run_frame()


@pytest.mark.parametrize("pointer", ["-4", "0x7ffffff0", "11534336", "11411457"])
def test_a_framebuffer_outside_the_memory(pointer):
    """The memory has 176 pages, 11 534 336 bytes; the last frame that fits is at 11 411 456."""
    wasm = Wasm(toy.module(emu_framebuffer=f"(result i32) i32.const {pointer}"), SMALL)
    with pytest.raises(CandidateError, match="a frame from there leaves the memory"):
        start(wasm)


def test_a_framebuffer_at_the_very_end_is_fine():
    wasm = Wasm(toy.module(emu_framebuffer="(result i32) i32.const 11411456"), SMALL)
    start(wasm)
    load(wasm, toy.ROM)
    assert wasm.emu_framebuffer().shape == (61440,)


def test_a_framebuffer_that_moves_is_asked_for_after_loading_only():
    """The pointer counts up with every question; frames are read where it was after the load."""
    code = """(result i32) (global.set $count (i32.add (global.get $count) (i32.const 2)))
              (i32.add (i32.const 0x1000) (global.get $count))"""
    wasm = Wasm(toy.module(emu_framebuffer=code, emu_audio_samples="(result i32) i32.const 0"), SMALL)
    start(wasm)
    load(wasm, toy.ROM)
    wasm.emu_run_frame()
    first = wasm.emu_framebuffer().ctypes.data
    assert wasm.emu_framebuffer().ctypes.data == first
    assert wasm.ask_pointer("emu_framebuffer") != wasm.ask_pointer("emu_framebuffer")


@pytest.mark.parametrize("count", ["-1", "0x80000000", "0x7fffffff", "44101"])
def test_absurd_sample_counts_are_no_sound(count):
    wasm = Wasm(toy.module(emu_audio_samples=f"(result i32) i32.const {count}"), SMALL)
    frames = play(wasm)
    assert all(sound.size == 0 for _, sound in frames)
    assert len(wasm.notes) == 1
    assert "taken as no sound" in wasm.notes[0]


@pytest.mark.parametrize("pointer", ["-2", "11534335"])
def test_sound_outside_the_memory_is_dropped(pointer):
    wasm = Wasm(toy.module(emu_audio_buffer=f"(result i32) i32.const {pointer}"), SMALL)
    frames = play(wasm)
    assert all(sound.size == 0 for _, sound in frames)
    assert "outside the memory" in wasm.notes[0]


def test_a_rom_buffer_too_small_or_outside():
    small = Wasm(toy.module(emu_rom_buffer="(result i32) i32.const 11534330"), SMALL)
    start(small)
    with pytest.raises(CandidateError, match="buffer only 6"):
        load(small, toy.ROM)
    outside = Wasm(toy.module(emu_rom_buffer="(result i32) i32.const -1"), SMALL)
    start(outside)
    with pytest.raises(CandidateError, match="outside the memory"):
        load(outside, toy.ROM)


def test_boot_frames():
    assert Wasm(toy.module(emu_boot_frames="(result i32) i32.const 7"), SMALL).emu_boot_frames() == 7
    assert Wasm(toy.module(emu_boot_frames="(result i32) i32.const -7"), SMALL).emu_boot_frames() == 0
    with pytest.raises(CandidateError, match="emu_boot_frames"):
        Wasm(toy.module(emu_boot_frames="(result i32) i32.const 2000000000"), SMALL).emu_boot_frames()
    odd = Wasm(toy.module(emu_boot_frames="(result i64) i64.const 7"), SMALL)
    assert odd.emu_boot_frames() == 0
    assert "ignored" in odd.notes[0]


def test_initialize_is_called_once_before_everything():
    wasm = Wasm(
        toy.module(_initialize="(global.set $keys (i32.const 9))", emu_init="(result i32) global.get $keys"), SMALL
    )
    assert wasm.emu_init() == 9


def test_nans_are_canonical():
    """0/0 has the one bit pattern the specification names, whatever the machine makes of it."""
    zero = "(f32.convert_i32_u (global.get $count))"
    code = f"(i32.store (i32.const 0x1000) (i32.reinterpret_f32 (f32.div {zero} {zero})))"
    wasm = Wasm(toy.module(emu_run_frame=code), SMALL)
    start(wasm)
    load(wasm, toy.ROM)
    wasm.emu_run_frame()
    assert wasm.emu_framebuffer()[:2].view("<u4")[0] == 0x7FC00000
