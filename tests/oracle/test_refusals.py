"""What the server refuses, how it says so, and that it says nothing else. The reference is the toy emulator."""

from __future__ import annotations

import base64
import json
import os
import socket
import time

import pytest
import toy_emulator as toy
from oracle_server import OTHER, TOKEN, Server, put_roms

ADDRESSES = [
    ("GET", "/oracle/info"),
    ("POST", "/oracle"),
    ("POST", "/oracle/session"),
    ("POST", "/oracle/session/0/set-keys"),
    ("POST", "/oracle/session/0/run-frame"),
    ("GET", "/oracle/session/0/framebuffer"),
    ("GET", "/oracle/session/0/framebuffer-rgba"),
    ("GET", "/oracle/session/0/audio"),
    ("GET", "/oracle/session/0/info"),
    ("DELETE", "/oracle/session/0"),
    ("GET", "/nothing"),
    ("GET", "/docs"),
]


HEADERS = [
    None,
    "Bearer",
    "Bearer ",
    f"Bearer {TOKEN}x",
    f"Bearer {TOKEN[:-1]}",
    f"Basic {TOKEN}",
    TOKEN,
    "Bearer \xff",
]


@pytest.mark.parametrize(("method", "path"), ADDRESSES)
@pytest.mark.parametrize("header", HEADERS)
def test_nothing_without_the_token(toy_server: Server, method, path, header):
    headers = {} if header is None else {"Authorization": header}
    body = b"{}" if method == "POST" else None
    status, fields, data = toy_server.ask(method, path, body, token=None, headers=headers)
    assert status == 401
    assert json.loads(data) == {"error": "a bearer token is needed"}
    assert fields["www-authenticate"] == "Bearer"


def test_health_and_description_need_no_token(toy_server):
    assert toy_server.json("GET", "/health", token=None) == (200, {"ok": True, "service": "oracle"})
    status, description = toy_server.json("GET", "/openapi.json", token=None)
    assert status == 200
    assert {"/oracle", "/oracle/session", "/oracle/session/{session}/run-frame"} <= set(description["paths"])


def test_an_upload_without_a_token_is_not_read(toy_server):
    with socket.create_connection(("127.0.0.1", toy_server.port), 10) as wire:
        wire.sendall(b"POST /oracle HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        assert wire.recv(100).startswith(b"HTTP/1.1 401")


BAD_NAMES = [
    "../secret.nes", "deep/../../secret.nes", "/etc/passwd", "", ".", "..", "./game.nes", "deep//game two.nes", "deep/",
    "game.nes\0", "..\\secret.nes", "C:\\game.nes", "c:game.nes", "\\\\host\\share", "a" * 300, "game.nes\n",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_are_no_names(toy_server, name):
    for path in ("/oracle/session", "/oracle"):
        status, answer = toy_server.json("POST", path, {"rom": name})
        assert status == 400
        assert answer == {"error": "rom: a plain relative name inside the served folder"}


def test_half_a_character(toy_server):
    assert toy_server.json("POST", "/oracle/session", {"rom": "\ud800"})[0] == 422
    assert toy_server.json("POST", "/oracle", {"rom": "game.nes", "\ud800": 1, "frames": "\ud800"})[0] == 422


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no symbolic links here")
def test_links_pipes_and_folders_are_not_there(toy_server, tmp_path):
    """The same answer as for a name that does not exist: what lies outside cannot even be guessed at."""
    outside = tmp_path / "secret.nes"
    outside.write_bytes(toy.ROM)
    roms = toy_server.roms
    for link, target in (("link.nes", outside), ("linked", tmp_path), ("inside.nes", roms / "game.nes")):
        if not (roms / link).is_symlink():
            (roms / link).symlink_to(target)
    names = ["link.nes", "linked/secret.nes", "inside.nes", "deep", "nothing.nes", "game.nes/x"]
    if hasattr(os, "mkfifo"):
        if not (roms / "pipe").exists():
            os.mkfifo(roms / "pipe")
        names.append("pipe")
    for name in names:
        assert toy_server.json("POST", "/oracle/session", {"rom": name}) == (
            404, {"error": "there is no ROM of that name here"}
        )  # fmt: skip


def test_named_and_uploaded_roms(toy_server):
    for body in ({"rom": "deep/game two.nes"}, {"rom_base64": base64.b64encode(toy.ROM).decode()}):
        status, answer = toy_server.json("POST", "/oracle/session", body)
        assert status == 200
        assert answer["rom"] == body.get("rom", "upload")
        assert toy_server.json("DELETE", f"/oracle/session/{answer['id']}") == (200, {"ok": True})


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"{", 400, "not JSON"),
        (b"\xff\xfe", 400, ""),
        (b"[" * 100_000, 400, ""),
        (b"", 422, "required"),
        (b"[]", 422, "dictionary"),
        (b'"x"', 422, ""),
        ({}, 422, "either rom"),
        ({"rom": "game.nes", "rom_base64": ""}, 422, "either rom"),
        ({"rom": 5}, 422, "rom: "),
        ({"rom_base64": "%%%"}, 422, "not base64"),
        ({"rom_base64": "aGVsbG8="}, 422, "not a ROM"),
        ({"rom_base64": ""}, 422, "not a ROM"),
        ({"rom": "not-a-rom.nes"}, 422, "not a ROM"),
    ],
)
def test_malformed_and_invalid(toy_server, body, status, words):
    for path in ("/oracle", "/oracle/session"):
        headers = {"Content-Type": "application/json"}
        got, answer = toy_server.json("POST", path, body, headers=headers)
        assert got == status, answer
        assert words in answer["error"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"frames": -1}, "frames"), ({"frames": "60"}, "frames"), ({"frames": True}, "frames"),
        ({"frames": 1e30}, "frames"),
        ({"frames": 100_001}, "100000 frames"), ({"from": -1}, "from"), ({"dump": "some"}, "dump"),
        ({"replay": "1 2 3"}, "replay, line 1"), ({"replay": "x"}, "replay, line 1"),
        ({"replay": '{"events": 1}'}, "replay"),
        ({"replay": "0 \u2603"}, "replay, line 1"),
        ({"replay": "\n".join(f"{n} 01" for n in range(100_001))}, "100000 events"),
        ({"args": "run"}, "args"), ({"args": ["x"] * 33}, "args"),
    ],
)  # fmt: skip
def test_invalid_runs(toy_server, body, words):
    status, answer = toy_server.json("POST", "/oracle", {"rom": "game.nes", **body})
    assert status == 422
    assert words in answer["error"]


def test_keys_and_counts(toy_server):
    session = toy_server.start()
    at = f"/oracle/session/{session}"
    for keys in (0, 255, "0", "fF", "0x80", 8.0):
        assert toy_server.json("POST", f"{at}/set-keys", {"keys": keys}) == (200, {"ok": True, "cur_frame": 0})
    assert toy_server.json("GET", f"{at}/info")[1]["keys"] == 8
    for keys in (-1, 256, "100", "", "g", None, True, 1.5, [1]):
        assert toy_server.json("POST", f"{at}/set-keys", {"keys": keys})[0] == 422
    for count in (0, -1, 100_001, "1", True, None):
        assert toy_server.json("POST", f"{at}/run-frame", {"count": count})[0] == 422
    status, answer = toy_server.json("POST", f"{at}/run-frame")  # no body: one frame
    assert (status, answer["cur_frame"]) == (200, 1)
    assert toy_server.json("GET", f"{at}/info")[1]["keys"] == 8


def test_too_much(toy_server):
    status, answer = toy_server.json("POST", "/oracle/session", b"x" * (13 * 2**20))
    assert status == 413
    big = base64.b64encode(b"NES\x1a" + bytes(8 * 2**20)).decode()
    status, answer = toy_server.json("POST", "/oracle/session", {"rom_base64": big})
    assert (status, answer) == (413, {"error": "a ROM may have 8388608 bytes"})
    (toy_server.roms / "big.nes").write_bytes(b"NES\x1a" + bytes(8 * 2**20))
    assert toy_server.json("POST", "/oracle/session", {"rom": "big.nes"})[0] == 413
    assert toy_server.json("POST", "/oracle", {"rom": "game.nes", "frames": 100, "dump": "all"})[0] == 413


def test_too_much_in_pieces(toy_server):
    """A chunked upload says no length beforehand."""
    with socket.create_connection(("127.0.0.1", toy_server.port), 20) as wire:
        head = (
            f"POST /oracle HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        wire.sendall(head.encode())
        piece = b"%x\r\n%s\r\n" % (1 << 20, b"x" * (1 << 20))
        try:
            for _ in range(20):
                wire.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert wire.recv(100).startswith(b"HTTP/1.1 413")


def test_nonsense_on_the_wire(toy_server):
    for sent in (b"\0" * 100 + b"\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"x" * 200_000):
        with socket.create_connection(("127.0.0.1", toy_server.port), 10) as wire:
            try:
                wire.sendall(sent)
                wire.shutdown(socket.SHUT_WR)
                got = wire.recv(200)
            except ConnectionError:
                continue
            assert not got or got.startswith(b"HTTP/1.1 4"), got
    assert toy_server.json("GET", "/health")[0] == 200


def test_addresses_and_methods(toy_server):
    assert toy_server.json("GET", "/oracle/nothing")[0] == 404
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS"):
        status, fields, _ = toy_server.ask(method, "/oracle")
        assert (status, fields["allow"]) == (405, "POST")


def test_foreign_ended_and_unknown_sessions_are_one_and_the_same(toy_server):
    mine, gone = toy_server.start(), toy_server.start()
    assert toy_server.json("DELETE", f"/oracle/session/{gone}")[0] == 200
    answers = set()
    for session, token in ((mine, OTHER), (gone, TOKEN), ("0" * 32, TOKEN), ("%00", TOKEN), ("..%2f..", TOKEN)):
        for method, path in ADDRESSES[3:10]:
            body = {"keys": 1} if "keys" in path else {} if method == "POST" else None
            status, _, data = toy_server.ask(method, path.replace("/0", f"/{session}"), body, token)
            assert status == 404
            answers.add(data)
    assert answers <= {b'{"error": "there is no such session"}\n', b'{"error": "Not Found"}\n'}
    assert toy_server.json("GET", f"/oracle/session/{mine}/info")[1]["cur_frame"] == 0


def test_a_command_line_as_nes_eval_sends_it(toy_server):
    def ask(*arguments, **files):
        body = {"args": list(arguments), "cwd": "/anywhere"}
        coded = {name.replace("_", "."): base64.b64encode(data).decode() for name, data in files.items()}
        status, answer = toy_server.json("POST", "/oracle", {**body, "files": coded} if coded else body)
        assert status == 200
        return answer

    answer = ask("run", "game.nes", "20", "--dump-final", "out", "--dump-audio", "a.wav", "--from", "2")
    assert answer["returncode"] == 0
    summary = json.loads(answer["stdout"])
    assert (summary["frames_executed"], summary["from_frame"]) == (20, 2)
    assert sorted(answer["files"]) == ["a.wav", "out/frame_00019.idx", "out/frame_00019.ppm"]
    plain = ask("run", "mine.nes", "20", "--replay", "in.txt", mine_nes=toy.ROM, in_txt=b"0 00\n")
    assert json.loads(plain["stdout"])["last_frame_sha256"] == summary["last_frame_sha256"]
    other = ask("run", "game.nes", "20", "--replay", "in.txt", in_txt=b"0 01\n")
    assert json.loads(other["stdout"])["last_frame_sha256"] != summary["last_frame_sha256"]
    assert json.loads(ask("info")["stdout"])["width"] == 256
    assert "usage: oracle" in ask("help")["stdout"]
    for bad in (["run"], ["run", "../x", "5"], ["run", "game.nes", "-1"], ["--nonsense"],
                ["run", "game.nes", "5", "--replay", "x"], ["session", "start", "game.nes"],
                ["run", "game.nes", "100", "--dump-frames", "d"],
                ["run", "game.nes", "5", "--reference", "other"]):  # fmt: skip
        answer = ask(*bad)
        assert answer["returncode"] == 2, bad
        assert answer["stderr"]
        assert not answer["files"]


def test_sessions_expire_and_the_rate_is_limited(tmp_path, toy_reference):
    server = Server(tmp_path, "--idle", "2", "--rate", "5", "--burst", "12", "--sessions", "2", reference=toy_reference)
    try:
        put_roms(server.roms)
        session = server.start()
        server.start(token=OTHER)
        server.start()
        assert server.json("POST", "/oracle/session", {"rom": "game.nes"})[0] == 429  # a third one
        for _ in range(4):
            time.sleep(0.8)
            assert server.json("GET", f"/oracle/session/{session}/info")[0] == 200  # used, it stays
        time.sleep(2.6)
        assert server.json("GET", f"/oracle/session/{session}/info")[0] == 404
        server.start()  # and its place is free
        for _ in range(500):
            status, late, _ = server.ask("GET", "/oracle/info")
            if status != 200:
                break
        assert status == 429
        assert int(late["retry-after"]) >= 1
        assert server.json("GET", "/oracle/info", token=OTHER)[0] == 200  # each token has its own
        time.sleep(1.1)
        assert server.json("GET", "/oracle/info")[0] == 200
    finally:
        assert "Traceback" not in server.stop()
