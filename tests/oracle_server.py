"""The oracle for its tests: the command, and servers as processes on a free loopback port."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from places import ROOT

TOKEN = "the-first-token"
OTHER = "the-second-token"
SECRETS = ("pynes", "toy", "numba", "wasmtime", "uvicorn", "traceback", 'file "', str(ROOT).lower())
"""Never in an answer, whatever the case."""


def environment(**more: str) -> dict[str, str]:
    """The test's environment without an oracle in it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ORACLE_")}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**kept, "PYTHONPATH": path, **more}


def oracle(*arguments: str, seconds: float = 120.0, binary: bool = False, cwd: Path | None = None, **more: str):
    """Run the command."""
    return subprocess.run(
        [sys.executable, "-m", "grader.oracle.cli", *arguments], env=environment(**more), capture_output=True,
        text=not binary, timeout=seconds, cwd=cwd, stdin=subprocess.DEVNULL,
    )  # fmt: skip


class Server:
    """``oracle serve`` as a process."""

    def __init__(self, folder: Path, *options: str, reference: str = "pynes_ref", seconds: float = 240.0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.roms = folder / "roms"
        self.roms.mkdir(exist_ok=True)
        tokens = folder / "tokens"
        tokens.write_text(f"{TOKEN}\n{OTHER}\n")
        command = [
            sys.executable, "-m", "grader.oracle.cli", "serve", str(self.roms), "--port", "0", "--token-file",
            str(tokens), "--reference", reference, *options,
        ]  # fmt: skip
        self.errors = (folder / "stderr").open("wb")
        self.process = subprocess.Popen(
            command, env=environment(), stdout=subprocess.PIPE, stderr=self.errors, stdin=subprocess.DEVNULL
        )
        timer = threading.Timer(seconds, self.process.kill)
        timer.start()
        line = self.process.stdout.readline().decode()
        timer.cancel()
        if "listening on " not in line:
            self.stop()
            pytest.fail("the server did not start: " + (folder / "stderr").read_text()[-2000:])
        self.url = line.split("listening on ")[1].strip()
        self.port = int(self.url.rsplit(":", 1)[1])
        self.seen: list[bytes] = []

    def ask(self, method: str, path: str, body=None, token: str | None = TOKEN, headers=None, seconds: float = 60.0):
        """One request: (status, headers in lower case, body). ``body``: bytes, or an object for JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        send = dict(headers or {})
        if token is not None:
            send.setdefault("Authorization", f"Bearer {token}")
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            send.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, send)
            answer = connection.getresponse()
            data = answer.read()
            fields = {name.lower(): value for name, value in answer.getheaders()}
        finally:
            connection.close()
        self.check(str(fields).encode())
        if fields.get("content-type", "").startswith("application/json"):
            self.check(data)
        return answer.status, fields, data

    def json(self, method: str, path: str, body=None, token: str | None = TOKEN, **more):
        """One request with a JSON answer: (status, object)."""
        status, fields, data = self.ask(method, path, body, token, **more)
        assert fields["content-type"] == "application/json", fields
        if status != 200:
            assert data.find(b"\n") == len(data) - 1, data
            assert list(json.loads(data)) == ["error"]
        return status, json.loads(data)

    def start(self, rom: str = "game.nes", token: str = TOKEN) -> str:
        """A new session's id."""
        status, answer = self.json("POST", "/oracle/session", {"rom": rom}, token)
        assert status == 200, answer
        return answer["id"]

    def check(self, data: bytes) -> None:
        """Does an answer say what the reference is?"""
        text = data.decode("latin-1").lower()
        found = [secret for secret in SECRETS if secret in text]
        assert not found, (found, text[:500])

    def stop(self) -> str:
        """End it; what it wrote on stderr."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        return (self.folder / "stderr").read_text()


def until(true, seconds: float = 20.0, every: float = 0.05) -> bool:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(every)
    return bool(true())


SLOW = """(local $w i32)
  (local.set $w (i32.add (i32.const 1) (i32.mul (i32.load8_u (i32.const 0x100011)) (i32.const 400000))))
  (loop $burn (br_if $burn (local.tee $w (i32.sub (local.get $w) (i32.const 1)))))
  call $frame"""


def put_roms(folder: Path) -> None:
    """``game.nes``, a fast one, ``slow.nes``, ``slower.nes``, and ``not-a-rom.nes``."""
    import toy_emulator as toy

    (folder / "game.nes").write_bytes(toy.ROM)
    slow = bytearray(toy.ROM)
    slow[17] = 60
    (folder / "slow.nes").write_bytes(slow)
    slow[17] = 200
    (folder / "slower.nes").write_bytes(slow)
    (folder / "not-a-rom.nes").write_bytes(b"something else")
    (folder / "deep").mkdir(exist_ok=True)
    (folder / "deep" / "game two.nes").write_bytes(toy.ROM)
