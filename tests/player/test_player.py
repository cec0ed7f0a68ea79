"""The player driven by real SDL events, without a screen or a sound card."""

import os
import subprocess
import sys

import numpy as np
import pytest
from driver import key, pygame, tap
from fakes import FakeConsole

from pynes_ref.movie import load
from pynes_ref.player import PlayerError, play
from pynes_ref.player_keys import COMMANDS, HOLD, KEYS_1, KEYS_2, Rocker, command_of

# Keys ------------------------------------------------------------------------


def test_keys_are_buttons_of_the_two_controllers(window):
    console = FakeConsole()
    player = window(console)
    for port, keys in enumerate((KEYS_1, KEYS_2)):
        for name, bit in keys.items():
            key(name)
            player.tick()
            expected = [0, 0]
            expected[port] = bit
            assert console.seen[-1] == tuple(expected), name
            key(name, down=False)
            player.tick()
            assert console.seen[-1] == (0, 0)


def test_a_short_tap_is_held_for_one_frame(window):
    console = FakeConsole()
    player = window(console)
    key("x")
    key("x", down=False)
    player.tick()
    player.tick()
    assert console.seen == [(1, 0), (0, 0)]


def test_of_opposite_directions_the_last_counts(window):
    console = FakeConsole()
    player = window(console)
    for name, down in (("left", True), ("right", True), ("right", False), ("left", False)):
        key(name, down)
        player.tick()
    assert [held for held, _ in console.seen] == [0x40, 0x80, 0x40, 0]


def test_a_rocker_gives_one_direction_an_axis():
    rocker = Rocker()
    assert rocker(0xC0) == 0  # both at once: neither
    assert rocker(0x40) == 0x40
    assert rocker(0xF0 | 1) == 0x81
    assert rocker(0xF0 | 1) == 0x81
    assert rocker(0x20 | 0x80) == 0xA0


def test_losing_the_focus_lets_go_of_everything(window):
    console = FakeConsole()
    player = window(console)
    key("x")
    key("tab")
    player.tick()
    pygame.event.post(pygame.event.Event(pygame.WINDOWFOCUSLOST))
    player.tick()
    assert console.seen[-1] == (0, 0)
    frames = len(console.seen)
    player.tick()
    assert len(console.seen) == frames + 1


def test_keys_of_the_desktop_are_left_alone(window):
    console = FakeConsole()
    player = window(console)
    key("x", mod=pygame.KMOD_LALT)
    key("p", mod=pygame.KMOD_LALT)
    player.tick()
    assert console.seen == [(0, 0)]
    assert not player.paused


def test_no_key_has_two_meanings():
    names = [*KEYS_1, *KEYS_2, *HOLD, *COMMANDS]
    assert len(names) == len(set(names))
    for name in (*KEYS_1, *KEYS_2, *HOLD):
        assert command_of(name, False, False) is None


# Commands --------------------------------------------------------------------


def test_pause_advance_and_back(window):
    console = FakeConsole()
    player = window(console)
    tap(player, "p")
    player.tick()
    assert player.paused
    assert console.seen == []
    key("x")
    for _ in range(3):
        tap(player, ".")
        player.tick()
    assert console.seen == [(1, 0)] * 3
    before = console.cycles
    tap(player, ",")
    player.tick()
    assert console.cycles == before - 29780
    tap(player, "p")
    assert len(console.seen) == 4


def test_advance_repeats_while_held(window):
    console = FakeConsole()
    player = window(console)
    key(".")
    for _ in range(60):
        player.tick()
    assert 8 <= len(console.seen) <= 20
    key(".", down=False)
    player.tick()
    frames = len(console.seen)
    for _ in range(40):
        player.tick()
    assert len(console.seen) == frames


def test_rewind_while_held(window):
    console = FakeConsole()
    player = window(console)
    states = []
    for _ in range(30):
        player.tick()
        states.append(console.snapshot())
    key("backspace")
    for _ in range(10):
        player.tick()
    assert np.array_equal(console.snapshot(), states[19])
    for _ in range(30):
        player.tick()
    assert console.cycles == 8
    assert "ends here" in player.notice
    key("backspace", down=False)
    player.tick()
    assert np.array_equal(console.snapshot(), states[0])


def test_fast_forward_held_and_switched(window):
    console = FakeConsole()
    player = window(console)
    key("tab")
    player.tick()
    assert len(console.seen) > 1
    key("tab", down=False)
    tap(player, "tab", mod=pygame.KMOD_LSHIFT)
    assert player.fast
    frames = len(console.seen)
    player.tick()
    assert len(console.seen) > frames + 1
    tap(player, "tab", mod=pygame.KMOD_LSHIFT)
    frames = len(console.seen)
    player.tick()
    assert len(console.seen) == frames + 1


def test_reset_and_power_cycle(window, monkeypatch):
    console = FakeConsole()
    player = window(console)
    player.tick()
    state = console.snapshot()
    tap(player, "r", mod=pygame.KMOD_LCTRL)
    assert console.snapshot()[20] != state[20]
    tap(player, "r", mod=pygame.KMOD_LCTRL | pygame.KMOD_LSHIFT)
    assert console.cycles == 8 + 29780
    assert player.notice == "Power off and on"


def test_slots_by_key(window):
    console = FakeConsole()
    player = window(console)
    player.tick()
    tap(player, "4")
    assert player.notice == "Slot 4: empty"
    tap(player, "f5")
    assert player.notice == "Saved to slot 4"
    cycles = console.cycles - 29780
    player.tick()
    tap(player, "f7")
    assert player.notice == "Loaded slot 4"
    assert console.cycles == cycles + 29780


def test_recording_by_key(window):
    console = FakeConsole()
    player = window(console)
    player.tick()
    tap(player, "f9")  # the frame of this tick is frame 0
    path = player.session.recorder.path
    key("x")
    player.tick()
    player.tick()
    key("x", down=False)
    player.tick()
    tap(player, "f9")
    assert "Recorded 4 frames" in player.notice
    assert list(load(path).keys(4)) == [0, 1, 1, 0]


def test_screenshot_size_shape_help_and_sound_keys(window):
    player = window()
    for name, mod in (("f12", 0), ("f1", 0), ("f8", 0), ("=", 0), ("-", 0), ("f11", 0), ("f11", 0), ("m", 0)):
        tap(player, name, mod)
    assert player.help
    assert player.muted
    assert player.screen.square
    assert len(list(player.session.folder.glob("*.png"))) == 1
    tap(player, "escape")
    assert not player.help


def test_the_ways_to_quit(window):
    player = window()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert not player.tick()
    player = window()
    key("q", mod=pygame.KMOD_LCTRL)
    assert not player.tick()
    player = window()
    key("escape")
    assert player.tick()
    assert player.notice == "Esc again quits"
    key("escape")
    assert not player.tick()


# Start and end ---------------------------------------------------------------


def test_play_runs_until_the_window_is_closed(monkeypatch, tmp_path):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    frames = 40

    class Closing(FakeConsole):
        def run_frame(self, buttons=0, buttons2=0):
            if len(self.seen) == frames:
                pygame.event.post(pygame.event.Event(pygame.QUIT))
            self.battery_ram[0] = 77
            return super().run_frame(buttons, buttons2)

    console = Closing(battery=True)
    play(console, tmp_path / "game.nes", scale=1, folder=tmp_path, record=tmp_path / "a.txt")
    assert "# frames" in (tmp_path / "a.txt").read_text()
    assert not (tmp_path / "game.sav").exists()
    console = Closing(battery=True)
    play(console, tmp_path / "game.nes", scale=1, folder=tmp_path)
    assert (tmp_path / "game.sav").read_bytes()[0] == 77
    assert not pygame.get_init()


def test_an_interrupt_loses_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")

    class Interrupted(FakeConsole):
        def run_frame(self, buttons=0, buttons2=0):
            self.battery_ram[1] = 42
            if len(self.seen) == 10:
                raise KeyboardInterrupt
            return super().run_frame(buttons, buttons2)

    with pytest.raises(KeyboardInterrupt):
        play(Interrupted(battery=True), tmp_path / "game.nes", scale=1, folder=tmp_path)
    assert (tmp_path / "game.sav").read_bytes()[1] == 42
    with pytest.raises(KeyboardInterrupt):
        play(Interrupted(battery=True), tmp_path / "game.nes", scale=1, folder=tmp_path, record=tmp_path / "a.txt")
    assert "# frames 10" in (tmp_path / "a.txt").read_text()
    assert not pygame.get_init()


def test_sound_of_the_dummy_driver_keeps_its_level(window):
    player = window(sound=True)
    assert player._feed is not None
    for _ in range(3):
        player.tick()
    assert player._queue.level() > 0
    player._queue.close()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there is always a display")
def test_without_a_display_it_says_so_and_names_the_headless_options(monkeypatch):
    for name in ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(PlayerError) as error:
        play(FakeConsole())
    text = str(error.value)
    assert "\n" not in text
    assert "no display" in text
    assert "--frames N" in text
    assert "--png" in text
    monkeypatch.setenv("DISPLAY", ":7654")
    with pytest.raises(PlayerError, match="no display"):
        play(FakeConsole())


def test_without_pygame_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(PlayerError, match=r'pip install "pynes-ref\[play\]"'):
        play(FakeConsole())


def test_importing_the_player_does_not_import_pygame():
    code = "import sys, pynes_ref.player; sys.exit('pygame' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={**os.environ}, check=False).returncode == 0
