"""Downloading ROMs from a server on this machine, and what may go wrong there."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pynes_ref import fetching, roms
from pynes_ref.fetching import PARTIAL, FetchError, Unreachable

DATA = b"NES\x1a" + bytes(range(256)) * 200
ROM = roms.KnownRom(
    path="suite/a rom.nes", suite="suite", sha256=hashlib.sha256(DATA).hexdigest(), size=len(DATA), mapper=0,
    repository="someone/roms", commit="0123abcd", source="folder/a rom.nes", licence="MIT",
)  # fmt: skip
PLACE = "/someone/roms/0123abcd/folder/a%20rom.nes"


class Server(ThreadingHTTPServer):
    """Serves DATA; ``tricks`` are used up one a request."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.tricks = []
        self.requests = []
        self.body = DATA

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        wanted = self.headers.get("Range")
        self.server.requests.append((self.path, wanted))
        trick = self.server.tricks.pop(0) if self.server.tricks else ""
        body = self.server.body
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if trick == "redirect":
            return self._send(302, b"", Location="/elsewhere")
        if trick == "busy":
            return self._send(503, b"")
        if self.path not in (PLACE, "/elsewhere"):
            return self._send(404, b"not here")
        if trick == "no ranges" or not wanted:
            return self._send(200, body, cut=trick == "cut")
        if trick == "another range":
            return self._send(206, body[1:], **{"Content-Range": f"bytes 1-{len(body) - 1}/{len(body)}"})
        if start >= len(body):
            return self._send(416, b"")
        rest = f"bytes {start}-{len(body) - 1}/{len(body)}"
        return self._send(206, body[start:], cut=trick == "cut", **{"Content-Range": rest})

    def _send(self, status, body, cut=False, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self.close_connection = True


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(fetching, "PAUSE", 0.001)
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def get(server, tmp_path):
    """Fetches ROM (or another row) into tmp_path; the number of bytes told to ``tick`` is ``get.ticks``."""

    def run(rom=ROM):
        run.ticks = 0

        def tick(n):
            run.ticks += n

        with fetching.client() as http:
            return fetching.fetch(rom, tmp_path, http, server.address, tick)

    return run


def files(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def partial(tmp_path, data):
    part = tmp_path / PARTIAL / ROM.sha256
    part.parent.mkdir()
    part.write_bytes(data)
    return part


def test_a_whole_file(get, server, tmp_path):
    assert get() == tmp_path / "suite" / "a rom.nes"
    assert (tmp_path / "suite" / "a rom.nes").read_bytes() == DATA
    assert files(tmp_path) == ["suite/a rom.nes"]
    assert not (tmp_path / PARTIAL).exists()
    assert server.requests == [(PLACE, None)]
    assert get.ticks == len(DATA)


def test_a_redirect_is_followed(get, server):
    server.tricks = ["redirect"]
    assert get().read_bytes() == DATA


def test_a_cut_connection_is_resumed_where_it_ended(get, server):
    server.tricks = ["cut"]
    assert get().read_bytes() == DATA
    assert server.requests == [(PLACE, None), (PLACE, f"bytes={len(DATA) // 2}-")]
    assert get.ticks == len(DATA)


def test_what_has_arrived_is_kept_for_the_next_run(get, server, tmp_path):
    server.tricks = ["cut"] * fetching.ATTEMPTS
    with pytest.raises(FetchError, match=r"the connection failed .*; \d+ of \d+ bytes are kept, fetch again"):
        get()
    assert files(tmp_path) == [f"{PARTIAL}/{ROM.sha256}"]
    kept = (tmp_path / PARTIAL / ROM.sha256).stat().st_size
    assert 0 < kept < len(DATA)
    assert get().read_bytes() == DATA
    assert server.requests[-1] == (PLACE, f"bytes={kept}-")
    assert files(tmp_path) == ["suite/a rom.nes"]


def test_a_server_without_ranges_begins_again(get, server, tmp_path):
    partial(tmp_path, DATA[:1000])
    server.tricks = ["no ranges"]
    assert get().read_bytes() == DATA
    assert get.ticks == len(DATA) - 1000


def test_another_range_than_the_one_asked_for_begins_again(get, server, tmp_path):
    partial(tmp_path, DATA[:1000])
    server.tricks = ["another range"]
    assert get().read_bytes() == DATA
    assert [wanted for _, wanted in server.requests] == ["bytes=1000-", None]


def test_a_file_that_shrank_on_the_server(get, server, tmp_path):
    partial(tmp_path, DATA[:1000])
    server.body = DATA[:500]
    with pytest.raises(FetchError, match="does not resume"):
        get()
    assert [wanted for _, wanted in server.requests] == ["bytes=1000-", None, "bytes=500-"]
    assert files(tmp_path) == []


@pytest.mark.parametrize("data", [DATA, DATA + b"more"], ids=["whole", "too long"])
def test_a_part_that_is_whole_or_too_long(get, server, tmp_path, data):
    partial(tmp_path, data)
    assert get().read_bytes() == DATA
    assert len(server.requests) == (0 if data == DATA else 1)


def test_a_wrong_part_is_noticed_and_thrown_away(get, tmp_path):
    partial(tmp_path, b"x" * 1000)
    with pytest.raises(FetchError, match="not the expected file"):
        get()
    assert files(tmp_path) == []
    assert get().read_bytes() == DATA


def test_a_wrong_hash_leaves_nothing(get, server, tmp_path):
    server.body = DATA[:-1] + b"!"
    with pytest.raises(FetchError, match="not the expected file"):
        get()
    assert files(tmp_path) == []


def test_more_than_the_file_leaves_nothing(get, server, tmp_path):
    server.body = DATA + b"!" * 100_000
    with pytest.raises(FetchError, match="more than the"):
        get()
    assert files(tmp_path) in ([], [f"{PARTIAL}/{ROM.sha256}"])
    server.body = DATA
    assert get().read_bytes() == DATA


def test_a_file_that_is_not_there(get, server, tmp_path):
    from dataclasses import replace

    with pytest.raises(FetchError, match="404 Not Found"):
        get(replace(ROM, source="other.nes"))
    assert len(server.requests) == 1
    assert files(tmp_path) == []


def test_a_busy_server_is_asked_again(get, server):
    server.tricks = ["busy", "busy"]
    assert get().read_bytes() == DATA


def test_a_server_that_stays_busy(get, server, tmp_path):
    server.tricks = ["busy"] * fetching.ATTEMPTS
    with pytest.raises(FetchError, match=r"503 Service Unavailable; try again later"):
        get()
    assert files(tmp_path) == []


def test_no_server_at_all(tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "PAUSE", 0.001)
    with fetching.client() as http, pytest.raises(Unreachable, match=r"no connection to 127.0.0.1:1 in 3 attempts: "):
        fetching.fetch(ROM, tmp_path, http, "http://127.0.0.1:1")
    assert files(tmp_path) == []


def test_an_old_file_stays_whole_when_the_new_one_fails(get, server, tmp_path):
    target = tmp_path / "suite" / "a rom.nes"
    target.parent.mkdir()
    target.write_bytes(b"old")
    server.body = b"?" * len(DATA)
    with pytest.raises(FetchError):
        get()
    assert target.read_bytes() == b"old"


def test_a_rom_that_is_only_in_an_archive(get, server):
    from dataclasses import replace

    with pytest.raises(FetchError, match=r"only inside an archive: https://host/x\.7z"):
        get(replace(ROM, archive="https://host/x.7z"))
    assert server.requests == []


def test_the_address_of_every_known_rom():
    for rom in roms.known():
        address = fetching.url_of(rom)
        assert address.startswith("https://raw.githubusercontent.com/")
        assert " " not in address
    assert fetching.url_of(ROM, "http://x/") == "http://x" + PLACE


@pytest.mark.parametrize("bad", ["", "x", "ftp://host", "file:///etc", "http://"])
def test_a_base_address_that_is_none(bad):
    with pytest.raises(FetchError, match="no web address"):
        fetching.check_base_url(bad)


def command(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "pynes_ref.cli", "roms", *arguments], capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYNES_ROMS": "", **environment},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_the_command_reports_every_missing_file(server, tmp_path):
    home = {"XDG_DATA_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path), "HOME": str(tmp_path)}
    status, out, err = command("fetch", "read_joy3", "holy_mapperel", "--base-url", server.address, **home)
    assert status == 1
    assert err.count("404 Not Found") == 4
    assert "0 of 4 files downloaded" in out
    assert "10 more are published only in an archive" in out
    assert not [name for name in files(tmp_path) if name.endswith(".nes")]


def test_the_command_gives_up_on_a_server_that_is_not_there(tmp_path):
    home = {"XDG_DATA_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path), "HOME": str(tmp_path)}
    status, out, err = command("fetch", "instr_misc", "--base-url", "http://127.0.0.1:1", **home)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "no connection to 127.0.0.1:1" in err
    assert "0 of 5 files downloaded" in err


def test_the_command_lists(tmp_path):
    home = {"XDG_DATA_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path), "HOME": str(tmp_path)}
    status, out, _ = command("list", "--json", **home)
    rows = json.loads(out)
    assert status == 0
    assert len(rows) == len(roms.known())
    assert {row["found"] for row in rows} == {None}
    status, out, _ = command("list", "nestest", "mmc3_test/5-MMC3", **home)
    lines = out.splitlines()
    assert status == 0
    assert [line.split()[:2] for line in lines[:-1]] == [["missing", "nestest/nestest.nes"],
                                                        ["missing", "mmc3_test/5-MMC3.nes"]]
    assert lines[-1].startswith("0 of 2 present; searched: ")
    assert lines[-1].endswith(f"{roms.bundled.folder('test_roms')}, {_downloads(tmp_path)} (not there)")
    _downloads(tmp_path).mkdir(parents=True)
    _, out, _ = command("list", "nestest", PYNES_ROMS=str(tmp_path / "nowhere"), **home)
    assert out.endswith(f", {_downloads(tmp_path)}, {tmp_path / 'nowhere'} (not there)\n")


def _downloads(home):
    base = home / "Library" / "Application Support" if sys.platform == "darwin" else home
    return base / "pynes_ref" / "roms"


@pytest.mark.parametrize("arguments", [("list", "nosuch"), ("fetch", "nosuch"), ("fetch", "--base-url", "x")])
def test_the_command_refuses(arguments):
    status, _, err = command(*arguments)
    assert status == 2
    assert err.count("\n") == 1
    assert err.startswith("pynes-ref: ")
