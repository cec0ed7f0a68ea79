"""Playing without a window: slots, rewind, recording, battery (a stand-in console; the real one in test_game.py)."""

import numpy as np
import pytest
from fakes import RAM, FakeConsole

from pynes_ref.movie import load
from pynes_ref.roms import download_folder
from pynes_ref.session import BATTERY_EVERY, PlayerError, Session
from pynes_ref.slots import data_folder, game_folder


@pytest.fixture
def make(tmp_path):
    def session(console=None, rom="game.nes", **options):
        return Session(console or FakeConsole(), tmp_path / rom, folder=tmp_path / "data", **options)

    return session


def play(session, keys):
    for key in keys:
        session.run_frame(key)


def test_going_back_restores_the_bytes_of_every_frame(make):
    session = make()
    seen = [session.console.snapshot()]
    for key in range(50):
        session.run_frame(key)
        seen.append(session.console.snapshot())
    for expected in seen[-2::-1]:
        assert session.go_back()
        assert np.array_equal(session.console.snapshot(), expected)
    assert not session.go_back()


def test_reset_power_cycle_and_loading_can_be_undone(make):
    session = make()
    play(session, [1, 2])
    session.save_slot()
    play(session, [3])
    before = session.console.snapshot()
    for action in (session.reset, session.power_cycle, session.load_slot):
        action()
        assert not np.array_equal(session.console.snapshot(), before)
        assert session.go_back()
        assert np.array_equal(session.console.snapshot(), before)


def test_slots_are_kept_apart_and_survive_the_session(make):
    session = make()
    states = []
    for slot in range(10):
        play(session, [slot])
        assert session.choose_slot(slot) == f"Slot {slot}: empty"
        assert session.save_slot() == f"Saved to slot {slot}"
        states.append(session.console.snapshot())
    again = make()
    for slot in (7, 0, 9):
        assert "empty" not in again.choose_slot(slot)
        assert again.load_slot() == f"Loaded slot {slot}"
        assert np.array_equal(again.console.snapshot(), states[slot])


def test_an_empty_or_damaged_slot_changes_nothing(make):
    session = make()
    play(session, [1, 2, 3])
    before = session.console.snapshot()
    assert session.load_slot() == "Slot 0 is empty"
    session.save_slot()
    path = session.slots.path(0)
    path.write_bytes(path.read_bytes()[:-1])
    assert "damaged" in session.load_slot()
    assert np.array_equal(session.console.snapshot(), before)


def test_an_unwritable_folder_is_a_message_not_the_end(make, tmp_path):
    (tmp_path / "data").write_text("a file is in the way")
    session = make()
    for action in (session.save_slot, session.screenshot, session.toggle_recording):
        assert "not " in action().lower()
    assert session.recorder is None
    play(session, [1])


def test_games_do_not_share_folders(tmp_path):
    one = game_folder(tmp_path, "../../My game?", "ab" * 32)
    two = game_folder(tmp_path, "../../My game?", "cd" * 32)
    assert one != two
    assert one.parent == two.parent == tmp_path


def test_the_data_folder_can_be_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PYNES_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.delenv("PYNES_DATA")
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    assert data_folder() == download_folder().parent
    assert data_folder().name == "pynes_ref"
    data_folder().with_name("pynes-ref").mkdir(parents=True)
    assert data_folder().name == "pynes-ref"


def test_a_screenshot_is_a_png(make):
    session = make()
    session.screenshot()
    assert "Screenshot" in session.screenshot()  # in the same second: another name
    files = sorted(session.folder.glob("*.png"))
    assert len(files) == 2
    assert files[0].read_bytes()[:4] == b"\x89PNG"


# Recording -----------------------------------------------------------------


def recorded(path, frames):
    return list(load(path).keys(frames))


def test_a_recording_holds_the_input_of_every_frame(make, tmp_path):
    session = make(record=tmp_path / "a.txt")
    keys = [0, 0, 8, 8, 0x81, 1, 0]
    play(session, keys)
    assert session.close() == []
    assert recorded(tmp_path / "a.txt", 7) == keys
    assert "# frames 7" in (tmp_path / "a.txt").read_text()


def test_after_the_recording_everything_is_let_go(make, tmp_path):
    session = make(record=tmp_path / "a.txt")
    play(session, [1, 1, 1])
    session.close()
    assert recorded(tmp_path / "a.txt", 5) == [1, 1, 1, 0, 0]


def test_going_back_shortens_the_recording(make, tmp_path):
    session = make(record=tmp_path / "a.txt")
    play(session, [1, 2, 3, 4, 5])
    for _ in range(3):
        session.go_back()
    play(session, [9])
    session.close()
    assert recorded(tmp_path / "a.txt", 3) == [1, 2, 9]


def test_a_slot_saved_while_recording_takes_the_recording_back(make, tmp_path):
    session = make(record=tmp_path / "a.txt")
    play(session, [1, 2, 3])
    session.save_slot()
    play(session, [4, 5, 6, 7])
    session.load_slot()
    play(session, [8])
    assert session.go_back()
    assert not session.go_back()  # what was before belongs to another recording
    play(session, [8, 9])
    session.close()
    assert recorded(tmp_path / "a.txt", 5) == [1, 2, 3, 8, 9]


def test_a_slot_of_no_recording_is_refused_while_recording(make, tmp_path):
    session = make()
    play(session, [1, 2, 3])
    session.save_slot()
    session = make(record=tmp_path / "a.txt")
    play(session, [4])
    before = session.console.snapshot()
    assert "end the recording first" in session.load_slot()
    assert np.array_equal(session.console.snapshot(), before)


def test_a_replaced_state_does_not_pass_for_the_recorded_one(make, tmp_path):
    session = make(record=tmp_path / "a.txt")
    play(session, [1, 2])
    session.save_slot()
    play(session, [3])
    session.slots.path(0).write_bytes(session.console.save_state())
    assert "end the recording first" in session.load_slot()


def test_what_a_replay_cannot_hold_is_refused(make, tmp_path):
    console = FakeConsole()
    session = make(console, record=tmp_path / "a.txt")
    session.run_frame(1, 0x80)
    assert console.seen == [(1, 0)]
    before = console.snapshot()
    assert "end the recording first" in session.reset()
    assert "end the recording first" in session.power_cycle()
    assert np.array_equal(console.snapshot(), before)


def test_a_recording_never_overwrites_a_file(make, tmp_path):
    (tmp_path / "a.txt").write_text("precious")
    with pytest.raises(PlayerError, match="exists"):
        make(record=tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text() == "precious"
    with pytest.raises(PlayerError, match="cannot write"):
        make(record=tmp_path / "missing" / "a.txt")


def test_a_recording_cannot_begin_from_a_loaded_state(make, tmp_path):
    console = FakeConsole()
    console.run_frame()
    with pytest.raises(PlayerError, match="power-on"):
        make(console, record=tmp_path / "a.txt")
    assert not (tmp_path / "a.txt").exists()


def test_a_crash_loses_little_of_a_recording(make, tmp_path):
    session = make(record=tmp_path / "a.txt")
    play(session, [n // 100 for n in range(1234)])
    assert recorded(tmp_path / "a.txt", 1200) == [n // 100 for n in range(1200)]


def test_recording_in_play_begins_at_a_blank_power_on(make):
    console = FakeConsole(battery=True)
    fresh = console.snapshot()
    session = make(console)
    play(session, [1, 2, 3])
    console.battery_ram[:] = 7
    assert "Recording" in session.toggle_recording()
    assert np.array_equal(console.snapshot(), fresh)
    play(session, [5, 6])
    path = session.recorder.path
    assert "Recorded 2 frames" in session.toggle_recording()
    assert recorded(path, 2) == [5, 6]


# Battery -------------------------------------------------------------------


def test_battery_ram_comes_from_the_file_and_goes_back(make, tmp_path):
    save = tmp_path / "game.sav"
    save.write_bytes(bytes(range(256)) * (RAM // 256))
    console = FakeConsole(battery=True)
    session = make(console)
    assert bytes(console.battery_ram) == save.read_bytes()
    console.battery_ram[0] = 99
    assert session.close() == []
    assert save.read_bytes()[0] == 99


def test_battery_ram_is_saved_now_and_then_and_only_when_changed(make, tmp_path):
    console = FakeConsole(battery=True)
    session = make(console)
    play(session, [0] * BATTERY_EVERY)
    assert not (tmp_path / "game.sav").exists()
    console.battery_ram[5] = 1
    play(session, [0] * BATTERY_EVERY)
    assert (tmp_path / "game.sav").read_bytes()[5] == 1


def test_a_battery_file_of_the_wrong_size_stops_the_start(make, tmp_path):
    (tmp_path / "game.sav").write_bytes(b"12345")
    with pytest.raises(PlayerError, match="5 bytes"):
        make(FakeConsole(battery=True))
    assert (tmp_path / "game.sav").read_bytes() == b"12345"


def test_a_recording_leaves_the_battery_file_alone(make, tmp_path):
    save = tmp_path / "game.sav"
    save.write_bytes(bytes([3]) * RAM)
    console = FakeConsole(battery=True)
    session = make(console, record=tmp_path / "a.txt")
    assert not console.battery_ram.any()
    console.battery_ram[:] = 1
    play(session, [0] * BATTERY_EVERY)
    session.save_slot()
    session.toggle_recording()
    play(session, [0] * BATTERY_EVERY)
    session.save_battery()
    assert save.read_bytes() == bytes([3]) * RAM
    session.power_cycle()
    assert bytes(console.battery_ram) == bytes([3]) * RAM
    assert not session.go_back()
    session.load_slot()  # made in a recording
    assert session.close() == []
    assert save.read_bytes() == bytes([3]) * RAM


def test_a_battery_file_that_cannot_be_written_is_told_at_the_end(make, tmp_path):
    console = FakeConsole(battery=True)
    session = make(console, rom="missing/game.nes")
    console.battery_ram[0] = 1
    assert "cannot write" in session.close()[0]


def test_a_power_cycle_keeps_the_battery_ram(make):
    console = FakeConsole(battery=True)
    session = make(console)
    console.battery_ram[:] = 5
    session.power_cycle()
    assert (console.battery_ram == 5).all()
    session = Session(FakeConsole(battery=True), None)
    session.console.battery_ram[:] = 5
    session.power_cycle()
    assert (session.console.battery_ram == 5).all()
    assert session.close() == []
