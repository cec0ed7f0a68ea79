"""The APU: frame counter, length counters, $4015, DMC requests; and that laziness changes nothing."""

import random

import numpy as np
import pytest
from apu_player import FETCH, HALT, STATUS, Player

FRAME_IRQ = 0x40
DMC_IRQ = 0x80


def status(script, cycle):
    """$4015 as read in a cycle."""
    player = Player(max([cycle, *script]))
    player.at.update(script)
    player.at[cycle] = None
    return next(value for n, what, value in player.play() if n == cycle and what == STATUS)


# https://www.nesdev.org/wiki/APU_Frame_Counter: the counter is reset 3 CPU cycles after a write of $4017 in the
# first half of an APU cycle (here: odd cycles), 4 after one in the second; power-on is a reset in cycle 0.


@pytest.mark.parametrize(("written", "zero"), [(None, 0), (101, 104), (102, 106)])
def test_the_frame_irq_flag_rises_29828_cycles_after_the_reset(written, zero):
    script = {} if written is None else {written: (0x4017, 0)}
    assert status(script, zero + 29827) & FRAME_IRQ == 0
    assert status(script, zero + 29828) & FRAME_IRQ


def test_an_inhibited_flag_shows_for_two_cycles():
    # AccuracyCoin, Frame Counter IRQ, tests I to L
    script = {101: (0x4017, 0x40)}
    seen = [status(script, 104 + cycle) & FRAME_IRQ for cycle in (29827, 29828, 29829, 29830)]
    assert seen == [0, FRAME_IRQ, FRAME_IRQ, 0]


def test_writing_the_inhibit_flag_clears_the_irq_flag():
    assert status({29900: (0x4017, 0x40)}, 29904) & FRAME_IRQ == 0
    assert status({29900: (0x4017, 0x80)}, 29904) & FRAME_IRQ


@pytest.mark.parametrize(("read", "again"), [(30001, FRAME_IRQ * 0), (30002, FRAME_IRQ)])
def test_a_read_clears_the_flag_when_the_next_get_cycle_begins(read, again):
    # AccuracyCoin, Frame Counter IRQ, tests 6 and 7
    script = {read: None}
    assert status(script, read + 1) & FRAME_IRQ == again
    assert status(script, read + 2) & FRAME_IRQ == 0


@pytest.mark.parametrize(("mode", "steps"), [(0x00, [14913, 29829, 44743]), (0x80, [0, 14913, 37281])])
def test_length_counters_are_clocked_on_time(mode, steps):
    # AccuracyCoin, Frame Counter 4-step and 5-step. Load 2 (index 3): gone with the second clock.
    zero = 104
    second = zero + steps[1]
    script = {11: (0x4015, 1), 13: (0x4003, 3 << 3), 101: (0x4017, mode)}
    assert status(script, second - 1) & 1
    assert status(script, second) & 1 == 0
    script[13] = (0x4003, 0x1C << 3)  # 16 clocks
    assert status(script, zero + steps[2]) & 1


def test_a_halt_flag_written_in_the_cycle_before_a_clock_comes_too_late_to_stop_it():
    # blargg_apu_2005, 10.len_halt_timing: the clock of cycle 14913 finds the flag of the cycle before last.
    load = {11: (0x4015, 1), 13: (0x4003, 3 << 3)}
    assert status({**load, 14911: (0x4000, 0x20)}, 29829) & 1
    late = {**load, 14912: (0x4000, 0x20), 14950: (0x4000, 0)}
    assert status(late, 29829) & 1 == 0


def test_a_load_in_the_cycle_before_a_clock_is_lost_unless_the_counter_was_zero():
    # blargg_apu_2005, 11.len_reload_timing
    load = {11: (0x4015, 1), 13: (0x4003, 3 << 3)}
    assert status({**load, 14912: (0x4003, 1 << 3)}, 29830) & 1 == 0
    assert status({**load, 14913: (0x4003, 1 << 3)}, 29830) & 1
    assert status({11: (0x4015, 1), 14912: (0x4003, 3 << 3)}, 29829) & 1


# https://www.nesdev.org/wiki/DMA#DMC_DMA


@pytest.mark.parametrize(("written", "halt"), [(201, 204), (202, 206)])
def test_a_load_dma_halts_on_the_second_following_get_cycle(written, halt):
    player = Player(600)
    player.at[written] = (0x4015, 0x10)
    log = player.play()
    assert log[:3] == [(halt, HALT, 0), (halt + 1, HALT, 0), (halt + 2, FETCH, 0xC000)]


def test_a_reload_dma_halts_on_a_put_cycle_and_fetches_three_cycles_later():
    player = Player(20_000)
    player.at.update({21: (0x4010, 0x0F), 23: (0x4013, 1), 201: (0x4015, 0x10)})
    log = player.play()
    fetches = [n for n, what, _ in log if what == FETCH]
    assert len(fetches) == 17
    assert np.diff(fetches)[1:].tolist() == [8 * 54] * 15
    fetch = fetches[5]
    assert [n for n, what, _ in log if what == HALT and fetch - 10 < n < fetch] == [fetch - 3, fetch - 2, fetch - 1]
    assert (fetch - 3) % 2 == 1


def test_the_end_of_a_sample_raises_the_dmc_irq():
    for last, line in ((205, 0), (206, 1)):
        player = Player(last)
        player.at.update({21: (0x4010, 0x80), 201: (0x4015, 0x10)})
        player.play()
        assert player.nes["apu"]["irq_line"] == line
    script = {21: (0x4010, 0x80), 201: (0x4015, 0x10)}
    assert status(script, 300) & DMC_IRQ
    assert status({**script, 250: (0x4015, 0)}, 300) & DMC_IRQ == 0


def test_bit_4_drops_at_once_when_the_sample_is_stopped():
    # AccuracyCoin, Delta Modulation Channel, test 5
    script = {21: (0x4013, 0xFF), 201: (0x4015, 0x10), 1001: (0x4015, 0)}
    assert status(script, 1000) & 0x10
    assert status(script, 1002) & 0x10 == 0


# Laziness


def random_script(seed, last, gap):
    rng = random.Random(seed)
    registers = [0x4000 + i for i in range(0x14)] + [0x4015] * 6 + [0x4017] * 2
    at = {}
    n = 1
    while (n := n + rng.randrange(1, gap)) < last:
        register = rng.choice(registers)
        value = rng.randrange(256)
        if register == 0x4010:
            value |= 0x0C  # the fast rates: many DMAs
        if register == 0x4015:
            value |= rng.choice([0, 0x0F, 0x1F])
        at[n] = None if rng.random() < 0.2 else (register, value)
    return at


@pytest.mark.parametrize(("seed", "gap"), [(1, 20), (2, 200), (3, 3000)])
def test_catching_up_in_pieces_changes_no_byte(seed, gap):
    last = 60_000
    plain = Player(last)
    plain.at = random_script(seed, last, gap)
    split = Player(last)
    split.at = plain.at
    split.stops = np.random.default_rng(seed).choice([0, 0, 1, 2, 3], last + 1)
    every = Player(last)
    every.at = plain.at
    every.stops[:] = 3
    log = plain.play()
    assert split.play() == log
    assert every.play() == log
    every.stops[:] = split.stops[:] = 0
    plain.nes["apu"]["cycle"] = split.nes["apu"]["cycle"]
    assert len(log) > 10
    assert plain.mem.tobytes() == split.mem.tobytes()


@pytest.mark.parametrize("seed", [4, 5])
def test_without_sound_every_other_byte_is_the_same(seed):
    last = 60_000
    loud, quiet = Player(last), Player(last)
    loud.at = quiet.at = random_script(seed, last, 300)
    quiet.nes["audio"]["enabled"] = 0
    assert loud.play() == quiet.play()
    assert loud.nes["audio"]["count"] > 1000
    assert quiet.nes["audio"]["count"] == 0
    for nes in (loud.nes, quiet.nes):
        nes["audio"]["enabled"] = nes["audio"]["count"] = 0
        nes["audio"]["out"] = 0
    assert loud.mem.tobytes() == quiet.mem.tobytes()
