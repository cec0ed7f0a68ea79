"""The real reference behind the server: what comes over the wire is what it shows and plays."""

from __future__ import annotations

import hashlib
import threading
import time

import numpy as np
import pytest
from oracle_server import ROOT, TOKEN, Server

from abi.candidate import drain, load, start
from abi.inprocess import PynesRef
from grader.oracle.client import Client
from grader.oracle.oneshot import read_replay

PIXELS = 256 * 240


@pytest.fixture
def client(server):
    client = Client(server.url, TOKEN)
    yield client
    client.close()


def recorded(shared, case_id):
    """A recording with the replay and the ROM it was made with."""
    from abi.recorded import Recording
    from grader.manifest import load_corpus

    case = next(c for c in load_corpus(shared / "corpus", allow_empty_weights=True).cases if c.id == case_id)
    return case, Recording(shared / "recordings" / f"{case_id}.refcache")


@pytest.mark.parametrize(("case_id", "limit"), [("falling-gameplay", 1500), ("nestest", 1500)])
def test_a_recorded_replay_gives_the_recorded_frames_and_sound(server, client, shared, case_id, limit):
    from abi.recorded import Recorded

    case, recording = recorded(shared, case_id)
    player = Recorded([recording])
    start(player)
    load(player, case.rom())
    session = client.start_image(case.rom())["id"]
    held = 0
    for number, keys in enumerate(case.keys[:limit]):
        if keys != held:
            client.set_keys(session, keys)
            held = keys
        player.emu_set_keys(keys)
        player.emu_run_frame()
        assert client.run_frame(session)["cur_frame"] == number + 1
        picture = np.frombuffer(client.raw(session, "framebuffer"), "<u2")
        assert np.array_equal(picture, player.emu_framebuffer().reshape(-1)), f"frame {number}"
        sound = np.frombuffer(client.raw(session, "audio"), "<i2")
        assert np.array_equal(sound, drain(player)), f"sound of frame {number}"
    client.end(session)


def test_sessions_and_runs_agree_with_the_console(client):
    """The same input frame by frame, many frames a call, and from power-on; and without a server."""
    rom = (ROOT / "test_roms" / "pinewood.nes").read_bytes()
    text = (ROOT / "replays" / "pinewood-gameplay.txt").read_text()
    movie, frames = read_replay(text), 400
    console = PynesRef()
    console.emu_rom_buffer()[: len(rom)] = np.frombuffer(rom, np.uint8)
    assert console.emu_load_rom(len(rom))
    pictures, sound = [], []
    for number in range(frames):
        console.emu_set_keys(movie.keys_at(number))
        console.emu_run_frame()
        pictures.append(console.emu_framebuffer().astype("<u2").tobytes())
        sound.append(drain(console))
    track = np.concatenate(sound).astype("<i2").tobytes()

    session = client.start("pinewood.nes")["id"]
    number = 0
    while number < frames:  # one call from change to change
        last = number + 1
        while last < frames and movie.keys_at(last) == movie.keys_at(number):
            last += 1
        answer = client.run_frame(session, last - number, movie.keys_at(number))
        number = last
        assert answer["cur_frame"] == number
        assert client.raw(session, "framebuffer") == pictures[number - 1]
    assert client.session_info(session)["pending_audio_samples"] == len(track) // 2
    rgba = np.frombuffer(client.raw(session, "framebuffer-rgba"), np.uint8).reshape(-1, 4)
    table = np.fromfile(ROOT / "abi" / "nes_palette.pal", np.uint8).reshape(512, 3)
    assert np.array_equal(rgba[:, :3], table[np.frombuffer(pictures[-1], "<u2")])
    assert (rgba[:, 3] == 255).all()
    assert client.raw(session, "audio") == track
    assert client.raw(session, "audio") == b""
    assert client.end(session) == {"ok": True}

    options = {"frames": frames, "from": 390, "replay": text, "dump": "all", "image": "none", "audio": True}
    files = dict(client.run("pinewood.nes", options))
    assert sorted(files) == ["audio.wav", *(f"frame_{n:05d}.idx" for n in range(390, 400)), "summary.json"]
    for n in range(390, 400):
        assert files[f"frame_{n:05d}.idx"] == pictures[n]
    assert files["audio.wav"][44:] == np.concatenate(sound[390:]).astype("<i2").tobytes()
    assert hashlib.sha256(pictures[-1]).hexdigest().encode() in files["summary.json"]


def test_before_the_first_frame_all_is_zero(client):
    session = client.start("undertow.nes")["id"]
    assert client.raw(session, "framebuffer") == bytes(2 * PIXELS)
    assert client.raw(session, "audio") == b""
    client.run_frame(session)  # call 0 runs nothing
    assert client.raw(session, "framebuffer") == bytes(2 * PIXELS)
    assert client.raw(session, "audio") == b""
    client.run_frame(session)
    assert len(client.raw(session, "audio")) == 2 * 716
    client.end(session)


def test_a_frame_costs_a_frame(client):
    """The hundredth hundred of frames takes no longer than the first: nothing is replayed."""
    session = client.start("pinewood.nes")["id"]
    times = []
    for _ in range(12):
        begun = time.perf_counter()
        for _ in range(50):
            client.run_frame(session)
        times.append(time.perf_counter() - begun)
    client.end(session)
    assert sorted(times[6:])[1] < 4 * sorted(times[:6])[3] + 0.2, times


def test_consoles_run_side_by_side(server):
    """Several sessions at the same time, each with its own input, do not disturb one another."""

    def play(keys, out):
        client = Client(server.url, TOKEN)
        session = client.start("kittiwake.nes")["id"]
        client.set_keys(session, keys)
        for _ in range(6):
            client.run_frame(session, 50)
        out[keys] = client.raw(session, "framebuffer"), client.raw(session, "audio")
        client.end(session)
        client.close()

    together: dict[int, tuple[bytes, bytes]] = {}
    threads = [threading.Thread(target=play, args=(keys, together)) for keys in (0, 8, 0x80, 0x41)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for keys in (0, 8, 0x80, 0x41):
        alone: dict[int, tuple[bytes, bytes]] = {}
        play(keys, alone)
        assert together[keys] == alone[keys]


def test_the_server_is_only_on_loopback(server: Server):
    assert server.url.startswith("http://127.0.0.1:")
