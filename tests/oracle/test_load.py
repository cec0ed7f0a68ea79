"""Many callers at once, slow ones, ones that hang up, and a server that is killed."""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import toy_emulator as toy
from oracle_server import OTHER, TOKEN, Server, put_roms, until

from grader.oracle.client import Client, Fault


def test_200_requests_at_once(toy_server: Server):
    session = toy_server.start()
    at = f"/oracle/session/{session}"
    kinds = [
        ("POST", "/oracle", {"rom": "game.nes", "frames": 20, "dump": "final"}),
        ("POST", f"{at}/run-frame", {"count": 3}),
        ("GET", f"{at}/framebuffer", None),
        ("GET", f"{at}/info", None),
        ("GET", "/oracle/info", None),
        ("POST", "/oracle", {"rom": "nothing.nes"}),
        ("GET", f"{at}/audio", None),
        ("POST", f"{at}/set-keys", {"keys": 1}),
    ]
    barrier = threading.Barrier(200)

    def one(number):
        method, path, body = kinds[number % len(kinds)]
        barrier.wait(60)
        status, _, data = toy_server.ask(method, path, body, seconds=120)
        return path, status, data

    with ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(one, range(200)))
    runs = set()
    ran = 0
    for path, status, data in answers:
        if path.endswith(("run-frame", "set-keys")):
            assert status in (200, 409), data  # one at a time in a session; the others are told so
            ran += path.endswith("run-frame") and status == 200
        elif path == "/oracle" and status == 200:
            summary = json.loads(data)
            runs.add((summary["last_frame_sha256"], tuple(summary["files"].values())))
        else:
            assert status == (404 if path == "/oracle" else 200), (path, data)
    assert len(runs) == 1
    assert ran >= 1
    assert toy_server.json("GET", f"{at}/info")[1]["cur_frame"] == 3 * ran
    toy_server.json("DELETE", at)


def test_200_sessions_wanted_at_once(toy_server):
    """Places are counted while consoles are still being made: not one too many."""
    before = toy_server.json("GET", "/oracle/info")[1]["sessions"]
    with ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(lambda _: toy_server.json("POST", "/oracle/session", {"rom": "game.nes"}), range(200)))
    there = [answer["id"] for status, answer in answers if status == 200]
    assert {status for status, _ in answers} == {200, 429}
    assert toy_server.json("GET", "/oracle/info")[1]["sessions"] == 40
    for session in there:
        toy_server.json("DELETE", f"/oracle/session/{session}")
    assert toy_server.json("GET", "/oracle/info")[1]["sessions"] == before


def test_slow_sessions_do_not_stall_others(toy_server):
    """Twice as many long runs as cores; a short one of another caller comes through meanwhile."""
    slow = [toy_server.start("slow.nes") for _ in range(2 * (os.cpu_count() or 1))]
    fast = toy_server.start(token=OTHER)
    done = []

    def run(session):
        status, _ = toy_server.json("POST", f"/oracle/session/{session}/run-frame", {"count": 60}, seconds=300)
        done.append(status)

    threads = [threading.Thread(target=run, args=(session,)) for session in slow]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    waits = []
    for _ in range(5):
        begun = time.monotonic()
        assert toy_server.json("POST", f"/oracle/session/{fast}/run-frame", {"count": 2}, token=OTHER)[0] == 200
        assert toy_server.json("GET", "/health")[0] == 200
        waits.append(time.monotonic() - begun)
    assert not done, "the slow runs were not slow"
    assert sorted(waits)[2] < 3.0, waits
    status, _ = toy_server.json("POST", f"/oracle/session/{slow[0]}/run-frame", {"count": 1})
    assert status == 409
    for thread in threads:
        thread.join(300)
    assert done == [200] * len(slow)
    for session in slow:
        assert toy_server.json("GET", f"/oracle/session/{session}/info")[1]["cur_frame"] == 60
        toy_server.json("DELETE", f"/oracle/session/{session}")


def hang_up(server: Server, path: str, body: dict, read: int, accept: str = "") -> None:
    """Send a request, read a little of the answer, and be gone (with a reset)."""
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
    if accept:
        head += f"Accept: {accept}\r\n"
    wire = socket.create_connection(("127.0.0.1", server.port), 60)
    wire.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
    left = read
    while left > 0:
        left -= len(wire.recv(left))
    if not read:
        time.sleep(0.3)
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


def used(server: Server) -> int:
    return server.json("GET", "/oracle/info")[1]["frames_used"]


def test_hanging_up_in_the_middle_of_an_answer(toy_server):
    before = used(toy_server)
    body = {"rom": "slow.nes", "frames": 2000, "dump": "all"}
    for _ in range(4):
        hang_up(toy_server, "/oracle", body, 300_000, "application/x-tar")
    time.sleep(1.0)
    settled = used(toy_server)
    assert before < settled < before + 4 * 500, "the runs went on without their caller"
    time.sleep(0.5)
    assert used(toy_server) == settled
    client = Client(toy_server.url, TOKEN)  # and the places of those runs are free
    assert dict(client.run("game.nes", {"frames": 3}))["summary.json"]
    client.close()


def test_hanging_up_in_the_middle_of_run_frame(toy_server):
    session = toy_server.start("slow.nes")
    at = f"/oracle/session/{session}"
    hang_up(toy_server, f"{at}/run-frame", {"count": 5000}, 0)
    assert until(lambda: toy_server.json("POST", f"{at}/set-keys", {"keys": 0})[0] == 200, 20)
    frame = toy_server.json("GET", f"{at}/info")[1]["cur_frame"]
    assert 0 < frame < 1000
    assert toy_server.json("POST", f"{at}/run-frame", {"count": 1})[1]["cur_frame"] == frame + 1
    toy_server.json("DELETE", at)


def test_ending_a_session_that_is_running(toy_server):
    session = toy_server.start("slow.nes")
    at = f"/oracle/session/{session}"
    answers = []

    def run():
        answers.append(toy_server.json("POST", f"{at}/run-frame", {"count": 5000}))

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)
    assert toy_server.json("DELETE", at)[0] == 200
    thread.join(30)
    assert answers == [(404, {"error": "there is no such session"})]


def test_frames_are_counted_and_a_budget_holds(tmp_path, toy_reference):
    usage = tmp_path / "usage.json"
    options = ("--budget", "100", "--usage", str(usage), "--timeout", "0.8")
    server = Server(tmp_path / "a", *options, reference=toy_reference)
    try:
        put_roms(server.roms)
        session = server.start()
        assert server.json("POST", f"/oracle/session/{session}/run-frame", {"count": 40})[0] == 200
        assert server.json("POST", "/oracle", {"rom": "game.nes", "frames": 35})[1]["frames_used_total"] == 75
        status, answer = server.json("POST", "/oracle", {"rom": "game.nes", "frames": 26})
        assert (status, answer) == (403, {"error": "the frame budget does not allow this: 25 frames are left"})
        assert server.json("POST", f"/oracle/session/{session}/run-frame", {"count": 26})[0] == 403
        slow = server.start("slower.nes")
        status, answer = server.json("POST", f"/oracle/session/{slow}/run-frame", {"count": 25})
        assert status == 504  # what was not run is given back
        ran = server.json("GET", f"/oracle/session/{slow}/info")[1]["cur_frame"]
        assert f"{ran} frames" in answer["error"]
        assert used(server) == 75 + ran < 100
        assert server.json("GET", "/oracle/info", token=OTHER)[1]["frames_used"] == 0
    finally:
        server.stop()
    server = Server(tmp_path / "b", *options, reference=toy_reference)
    try:
        assert used(server) == 75 + ran  # also after a new start
    finally:
        server.stop()


def test_a_run_that_takes_too_long(tmp_path, toy_reference):
    server = Server(tmp_path, "--timeout", "0.5", reference=toy_reference)
    try:
        put_roms(server.roms)
        client = Client(server.url, TOKEN)
        seen = []
        with pytest.raises(Fault, match=r"it took too long; [0-9]+ frames were run"):
            seen.extend(client.run("slow.nes", {"frames": 5000, "dump": "all", "image": "none"}))
        assert seen
        assert server.json("POST", "/oracle", {"rom": "slow.nes", "frames": 5000})[0] == 504
    finally:
        server.stop()


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_kill_9_leaves_nothing_behind(tmp_path, toy_reference):
    """Not a file, not a process; frames stay counted, and clients get one line."""
    usage = tmp_path / "usage" / "frames.json"
    usage.parent.mkdir()
    server = Server(tmp_path / "a", "--usage", str(usage), reference=toy_reference)
    put_roms(server.roms)
    client = Client(server.url, TOKEN)
    session = client.start("slow.nes")["id"]
    for _ in range(3):
        client.run_frame(session)
    assert until(lambda: usage.exists(), 5)
    time.sleep(1.2)
    files = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    faults = []

    def run(call):
        try:
            call()
        except Fault as fault:
            faults.append(str(fault))

    calls = [
        lambda: client.run_frame(session, 5000),
        lambda: list(Client(server.url, TOKEN).run("slow.nes", {"frames": 5000, "dump": "all"})),
        lambda: Client(server.url, OTHER).run_frame(Client(server.url, OTHER).start("slow.nes")["id"], 5000),
    ]
    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    time.sleep(0.7)
    os.kill(server.process.pid, signal.SIGKILL)
    for thread in threads:
        thread.join(20)
    assert len(faults) == 3
    assert all("\n" not in fault for fault in faults)
    server.stop()
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == files
    family = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert str(server.roms) not in family
    assert sum(json.loads(usage.read_text())["frames"].values()) >= 3
    server = Server(tmp_path / "a", "--usage", str(usage), reference=toy_reference)
    try:
        assert used(server) >= 3
        assert server.json("GET", f"/oracle/session/{session}/info")[0] == 404
    finally:
        server.stop()


def test_ending_politely_ends_soon(tmp_path, toy_reference):
    server = Server(tmp_path, reference=toy_reference)
    put_roms(server.roms)
    client = Client(server.url, TOKEN)
    session = client.start("slow.nes")["id"]
    faults = []

    def run():
        try:
            client.run_frame(session, 5000)
        except Fault as fault:
            faults.append(str(fault))

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)
    begun = time.monotonic()
    server.process.terminate()
    server.process.wait(20)
    assert time.monotonic() - begun < 10
    thread.join(20)
    assert faults == ["the server answers 503: the server is being stopped"]
    assert "Traceback" not in server.stop()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a C compiler for .so")
def test_a_reference_that_dies(tmp_path):
    """A native reference that crashes costs its session (503), not the server."""
    from shutil import which

    compiler = which("cc") or which("gcc") or which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    source = tmp_path / "crash.c"
    source.write_text(toy.C_SOURCE)
    library = tmp_path / "crash.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-DCRASH_AT=20", "-o", library, source], check=True, timeout=60)
    server = Server(tmp_path / "s", "--trust-native", reference=str(library))
    try:
        put_roms(server.roms)
        body = {"rom_base64": base64.b64encode(toy.ROM).decode()}
        session = server.json("POST", "/oracle/session", body)[1]["id"]
        at = f"/oracle/session/{session}"
        assert server.json("POST", f"{at}/run-frame", {"count": 10})[0] == 200
        status, answer = server.json("POST", f"{at}/run-frame", {"count": 20})
        assert (status, answer) == (503, {"error": "the reference has stopped; start a new session"})
        assert server.json("GET", f"{at}/info")[0] == 404
        assert server.json("POST", "/oracle", {"rom": "game.nes", "frames": 15})[0] == 200
        assert server.json("POST", "/oracle", {"rom": "game.nes", "frames": 30})[0] == 503
    finally:
        assert "Traceback" not in server.stop()
