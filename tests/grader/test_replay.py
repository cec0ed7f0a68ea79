"""Replays: both forms, and every malformed line by number."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pynes_ref import movie
from pynes_ref.movie import Movie, MovieError

EVENTS = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 255)), max_size=20)


def test_text():
    found = movie.parse_text("# comment\n\n120 08   # press\n126 00\r\n 9999\tFF \n200 0x1\n")
    assert found.events == ((120, 8), (126, 0), (200, 1), (9999, 255))
    assert [found.keys_at(f) for f in (0, 119, 120, 125, 126, 199, 200, 10**6)] == [0, 0, 8, 8, 0, 0, 1, 255]
    assert found.last_frame == 9999
    assert movie.parse_text("").events == ()


def test_json_and_text_say_the_same():
    text = movie.parse("10 01\n20 00\n")
    assert movie.parse(' {"events": [[20, 0], [10, 1]]}') == text
    assert movie.parse(text.to_text("two\nlines")) == text


@given(EVENTS, st.integers(0, 320))
def test_keys_of_a_run_are_keys_at_every_frame(events, frames):
    played = movie.parse_json(json.dumps({"events": events}))
    assert played.keys(frames) == bytes(played.keys_at(f) for f in range(frames))
    assert movie.parse_text(played.to_text()) == played
    assert Movie.from_keys(played.keys(frames)).keys(frames) == played.keys(frames)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 00\nx 01", "line 2: the frame must be a whole number, not 'x'"),
        ("0 00\n\n# c\n5", "line 4: expected '<frame> <buttons in hex>'"),
        ("5 1 2", "line 1: expected"),
        ("5 zz", "line 1: the buttons must be hexadecimal, not 'zz'"),
        ("5 100", "line 1: the buttons must be from 00 to ff"),
        ("-1 00", "line 1: the frame must be a whole number"),
        ("4294967296 00", "line 1: the frame must be a whole number from 0"),
        ("1.5 00", "line 1: the frame"),
        ("\u0661 00", "line 1: the frame"),
        ('{"events": [[1, 2], [3]]}', r"event 1: expected \[frame, buttons\]"),
        ('{"events": [[1, 256]]}', "event 0: the buttons must be from 00 to ff"),
        ('{"events": [[true, 1]]}', "event 0: the frame"),
        ('{"events": 5}', "a JSON replay is"),
        ('{"events": [\n[1, }', "line 2: not JSON"),
        ("{" * 5000, "not"),
    ],
)
def test_malformed(text, message):
    with pytest.raises(MovieError, match=message):
        movie.parse(text, "demo.txt")
    with pytest.raises(MovieError, match=r"^demo\.txt"):
        movie.parse(text, "demo.txt")


def test_files(tmp_path):
    path = tmp_path / "r.txt"
    path.write_bytes(b"\xef\xbb\xbf1 01\n")  # an editor's byte order mark
    assert movie.load(path).events == ((1, 1),)
    path.write_bytes(b"1 01\n2 \xff\n")
    with pytest.raises(MovieError, match="line 2: not text"):
        movie.load(path)
    with pytest.raises(MovieError, match="No such file"):
        movie.load(tmp_path / "none")
    with pytest.raises(MovieError, match="directory"):
        movie.load(tmp_path)
    with path.open("wb") as file:
        file.truncate(movie.MAX_BYTES + 1)
    with pytest.raises(MovieError, match="too large"):
        movie.load(path)


def test_the_shared_replays(shared):
    for name, events in (("press-start", 3), ("falling-gameplay", 134), ("minekart-madness-gameplay", 165)):
        assert len(movie.load(shared / "corpus" / "replays" / f"{name}.txt").events) == events
