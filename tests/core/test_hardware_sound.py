"""``hardware_sound``: heard where the recorded reference and a console differ; nothing else changes."""

import numpy as np
import pytest
from apu_player import Player
from places import ROOT, rom_or_skip

from pynes_ref import Button, Console
from pynes_ref.verify import listening

PINEWOOD = ROOT / "test_roms/pinewood.nes"


def played(script, hardware, cycles=179_000):
    player = Player(cycles)
    player.nes["apu"]["hardware"] = hardware
    player.at.update(script)
    player.play()
    return player.samples().astype(np.float64)


@pytest.mark.parametrize("sweep", [0x08, 0x88])
def test_pulse_1_is_heard_though_its_target_period_is_negative(sweep):
    # https://www.nesdev.org/wiki/APU_Sweep, "Muting": only periods below 8 and target periods above $7FF mute.
    script = {11: (0x4015, 1), 13: (0x4000, 0xBF), 15: (0x4001, sweep), 17: (0x4002, 0xFD), 19: (0x4003, 0)}
    assert played(script, 1).std() > 500
    assert played(script, 0).std() < 1  # as recorded


@pytest.mark.parametrize(("rate", "period"), [(6, 128), (7, 160), (8, 202)])
def test_noise_repeats_as_often_as_the_wiki_has_it(rate, period):
    # https://www.nesdev.org/wiki/APU_Noise: a period of the table counts CPU cycles, and with the mode flag the
    # sequence that begins with 1 has 93 steps.
    script = {11: (0x4015, 8), 13: (0x400C, 0x3F), 15: (0x400E, 0x80 | rate), 17: (0x400F, 0)}
    samples = played(script, 1)[200:]
    lag = 93 * period * 44_100 / 1_789_773

    def alike(shift):
        shift = round(shift)
        return np.corrcoef(samples[:-shift], samples[shift:])[0, 1]

    assert alike(3 * lag) > 0.95
    assert alike(3 * lag / 2) < 0.5


@pytest.mark.parametrize(
    ("name", "sha256", "wanted"),
    [
        ("square", "b16e333a2d3698201fc45c21375507a80981928562d3b10f865e23da3922696a", "silence 24"),
        ("triangle", "3756d4be75126ab51b40e013e60a125e0f6f198307dcfb9612cd4477f6762279", "silence 28"),
        ("dmc", "036e7a3222f56e7a823b693bae0243e6c8c7ae032defbbd15c8631da468d6ea7", "silence 25"),
        ("noise", "47b637cc911dc4416f55891c67976780e0985b6729b339a3f1db277ef6bd4910", "swell 10"),
    ],
)
def test_the_mixer_cancels_as_a_console_does(name, sha256, wanted):
    """apu_mixer, made against a console: 24, 31, 25 and 14 dB in its author's recordings of one."""
    console = Console(rom_or_skip(sha256, f"apu_mixer/{name}.nes"), hardware_sound=True)
    right, heard, _ = listening.mixer(console, 1500, wanted)
    assert right, heard


def test_nothing_else_changes():
    """No register shows a noise period, whether a pulse is muted, or the mixer: a game goes the same."""
    recorded, hardware = Console(PINEWOOD), Console(PINEWOOD, hardware_sound=True)
    sounds = []
    for console in (recorded, hardware):
        console.run_frames(170)
        sounds.append(console.drain_audio())
        console.run_frames(5, Button.START)
        console.run_frames(300, Button.RIGHT)
    assert sounds[0].size == sounds[1].size
    assert np.abs(sounds[0].astype(int) - sounds[1]).max() > 100
    for section in ("cpu", "ppu", "dma", "pads", "cart", "ram", "vram", "prg_ram", "chr_ram"):
        assert recorded._nes[section].tobytes() == hardware._nes[section].tobytes(), section
    assert recorded.peek(0x4015) == hardware.peek(0x4015)


def test_it_belongs_to_the_console_and_not_to_a_state():
    recorded, hardware = Console(PINEWOOD), Console(PINEWOOD, hardware_sound=True)
    recorded.run_frames(100)
    hardware.load_state(recorded.save_state())
    assert hardware._nes["apu"]["hardware"] == 1
    recorded.load_state(hardware.save_state())
    assert recorded._nes["apu"]["hardware"] == 0
    hardware.power_cycle()
    assert hardware._nes["apu"]["hardware"] == 1
