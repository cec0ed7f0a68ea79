"""Whose sound ``pynes-ref run`` plays: the recorded reference's without a window, a console's in one."""

from commands import PINEWOOD, sha, summary

import pynes_ref.player
from pynes_ref import Console


def sound(**options):
    console = Console(PINEWOOD, **options)
    console.run_frame()
    parts = [console.drain_audio()]
    for _ in range(99):
        console.run_frame()
        parts.append(console.drain_audio())
    return sha(b"".join(part.tobytes() for part in parts))


def test_without_a_window(run):
    recorded, hardware = sound(), sound(hardware_sound=True)
    assert recorded != hardware
    for options, wanted in (((), recorded), (("--recorded-sound",), recorded), (("--hardware-sound",), hardware)):
        assert summary(run("run", PINEWOOD, "--frames", 100, *options))["audio_sha256"] == wanted, options


def test_in_the_window(run, monkeypatch):
    played = []
    monkeypatch.setattr(pynes_ref.player, "open_pygame", lambda: None)
    monkeypatch.setattr(pynes_ref.player, "play", lambda console, path, **_: played.append(console))
    for options in ((), ("--recorded-sound",)):
        assert run("run", PINEWOOD, *options).code == 0
    assert [console._nes["apu"]["hardware"] for console in played] == [1, 0]
