"""``Console``: clones, snapshots and save states, and the damaged ones it refuses."""

import copy
import hashlib
import io
import pickle

import numpy as np
import pytest
from consoles import outputs, pads_seen, played, same
from small_rom import READ_PADS, own, rom

from pynes_ref import Button, Console, StateError


def test_a_clone_goes_its_own_way(game):
    twin = game.clone()
    assert same(game, twin)
    before = game.snapshot()
    twin.run_frames(5, Button.LEFT)
    twin.ram[0] ^= 0xFF
    twin.memory[1] = twin.memory[1] ^ 0xFF
    twin.cpu.a ^= 0xFF
    twin.reset()
    assert np.array_equal(game.snapshot(), before)
    assert not np.shares_memory(game.frame, twin.frame)
    again = game.clone()
    assert outputs(again, 5) == outputs(game.clone(), 5)


TWINS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda console: pickle.loads(pickle.dumps(console)),
    "oldest pickle": lambda console: pickle.loads(pickle.dumps(console, 0)),
}


@pytest.mark.parametrize("how", TWINS)
def test_copies_and_pickles_are_clones(game, how):
    before = game.snapshot()
    twin = TWINS[how](game)
    assert type(twin) is Console
    assert same(game, twin)
    assert twin.cartridge == game.cartridge
    assert outputs(twin, 4, Button.LEFT) == outputs(game.clone(), 4, Button.LEFT)
    twin.ram[:] = 0xEE
    twin.memory[0x10] = 1
    assert np.array_equal(game.snapshot(), before)
    assert not np.shares_memory(game.frame, twin.frame)


@pytest.mark.parametrize("how", TWINS)
def test_copies_and_pickles_keep_the_options(how):
    console = Console(rom(mapper=4, prg=8, chr_=4), 1, famicom=True, hardware_sound=True)
    console.mute(["noise"])
    twin = TWINS[how](console)
    assert twin.cartridge.board == "HKROM (MMC6)"
    assert same(console, twin)
    for one in (console, twin):
        one.power_cycle()
    assert same(console, twin)


class Named(Console):
    def __init__(self, name):
        super().__init__(rom())
        self.name = name


def test_a_pickle_of_a_derived_class_is_of_that_class():
    assert type(TWINS["pickle"](Named("x"))) is Named
    assert copy.copy(Named("x")).name == "x"


def test_consoles_go_to_other_processes_and_back(game):
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        there = pool.submit(_run_three, game.clone()).result(timeout=120)
    here = game.clone()
    here.run_frames(3, Button.RIGHT)
    assert same(here, there)


def _run_three(console):
    console.run_frames(3, Button.RIGHT)
    return console


def test_snapshot_and_restore(game):
    twin = game.clone()
    kept = twin.snapshot()
    assert (kept.dtype, kept.ndim) == (np.uint8, 1)
    first = outputs(twin, 4)
    twin.restore(kept)
    assert outputs(twin, 4) == first
    with pytest.raises(ValueError, match="broadcast"):
        twin.restore(kept[:-1])


def test_state_as_bytes_and_files(game, tmp_path):
    data = game.save_state()
    assert isinstance(data, bytes)
    assert data == game.save_state()
    buffer = io.BytesIO()
    assert game.save_state(buffer) == data == buffer.getvalue()
    (tmp_path / "state").write_bytes(data)
    for source in (data, bytearray(data), memoryview(data), io.BytesIO(data), (tmp_path / "state").open("rb")):
        console = Console(game.cartridge)
        console.load_state(source)
        assert same(console, game)


def test_a_loaded_state_goes_on_exactly(game):
    straight = game.clone()
    straight.run_frames(2)  # its sound is not drained
    data = straight.save_state()
    loaded = Console(straight.cartridge)
    loaded.run_frames(7, 0xFF)
    loaded.load_state(data)
    assert np.array_equal(loaded.frame, straight.frame)
    assert np.array_equal(loaded.clone().drain_audio(), straight.clone().drain_audio())
    assert len(loaded.clone().drain_audio()) >= 2 * 733
    for keys in (0, Button.RIGHT, Button.A | Button.RIGHT):
        straight.run_frames(3, keys)
        loaded.run_frames(3, keys)
        assert same(straight, loaded)
    assert straight.save_state() == loaded.save_state()


def test_a_state_amid_a_frame_goes_on_exactly(game):
    straight = game.clone()
    for steps in (1, 7, 1234, 3000):
        for _ in range(steps):
            straight.step_instruction()
        loaded = Console(straight.cartridge)
        loaded.load_state(straight.save_state())
        assert same(straight, loaded)
        for _ in range(50):
            straight.step_instruction()
            loaded.step_instruction()
        assert same(straight, loaded)
        straight.run_frames(3, Button.RIGHT)
        loaded.run_frames(3, Button.RIGHT)
        assert same(straight, loaded)


def test_pending_input_is_part_of_a_state():
    straight = Console(rom(READ_PADS))
    straight.run_frames(3, 0b10110010, 0b01011100)
    pads_seen(straight)
    for _ in range(200):  # the strobe and every bit of both pads
        straight.step_instruction()
        loaded = Console(rom(READ_PADS))
        loaded.load_state(straight.save_state())
        for console in (straight.clone(), loaded):
            assert pads_seen(console) == [0b10110010, 0b01011100]
        assert loaded.cycles > straight.cycles


def refused(console, data, words):
    before = console.snapshot()
    with pytest.raises(StateError, match=words) as caught:
        console.load_state(data)
    assert len(str(caught.value).splitlines()) == 1
    assert np.array_equal(console.snapshot(), before)


def test_states_that_do_not_belong_here(game):
    data = game.save_state()
    assert issubclass(StateError, ValueError)
    refused(Console(rom()), data, "another ROM")
    newer = data[:8] + (2).to_bytes(4, "little") + data[12:]
    refused(game, newer, "format 2")
    layout = data[:44] + bytes(32) + data[76:]
    refused(game, layout, "another version")
    for nothing in (b"", b"x", own("pinewood"), data[1:], io.BytesIO()):
        refused(game, nothing, "not a save state")


def test_truncated_states(game):
    data = game.save_state()
    for length in [*range(0, 140), *range(140, len(data), 97), len(data) - 1]:
        refused(game, data[:length], "save state")
    refused(game, data + b"\0", "damaged")
    refused(game, data + data, "damaged")


def test_states_with_any_bit_flipped():
    console = played(frames=30)
    data = console.save_state()
    before = console.snapshot()
    places = [*range(200), *np.random.default_rng(1).integers(0, len(data), 500)]
    for place in places:
        for bit in range(8):
            damaged = bytearray(data)
            damaged[place] ^= 1 << bit
            with pytest.raises(StateError):
                console.load_state(damaged)
    assert np.array_equal(console.snapshot(), before)


def test_a_state_made_by_hand_unpacks_to_no_more_than_a_console():
    import zstandard

    console = played(frames=3)
    data = console.save_state()
    for content in (b"", bytes(1000), bytes(50_000_000)):
        frame = zstandard.ZstdCompressor().compress(content)
        refused(console, data[:76] + hashlib.sha256(frame).digest() + frame, "damaged")
