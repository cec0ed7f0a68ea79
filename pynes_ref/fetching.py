"""Downloading test ROMs from where ``test_roms/index.toml`` pins them.

What has arrived of a file lies in ``.partial`` of the download folder under the
file's SHA-256 and is resumed there, in this run or a later one. The ROM's own
name appears only when all bytes are there and the hash is right.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx

from .files import atomic_write
from .roms import KnownRom

BASE_URL = "https://raw.githubusercontent.com"
ATTEMPTS = 3
PAUSE = 0.5  # seconds before the second attempt; doubled for the third
TIMEOUT = httpx.Timeout(30, connect=10)
PARTIAL = ".partial"


class FetchError(Exception):
    """A file that could not be had; one line saying why and what to do."""


class Unreachable(FetchError):
    """A server that no attempt could connect to: the next file will fare no better."""


class _Interrupted(Exception):
    """An attempt that may go better the next time."""


class _NoConnection(_Interrupted):
    """An attempt that did not even reach a server."""


def url_of(rom: KnownRom, base_url: str = BASE_URL) -> str:
    """Where the file lies: repository, commit and path below ``base_url``."""
    return f"{base_url.rstrip('/')}/{rom.repository}/{quote(rom.commit)}/{quote(rom.source)}"


def check_base_url(base_url: str) -> None:
    """Raise ``FetchError`` unless it is a web address."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise FetchError(f"{base_url!r} is no web address: give one like {BASE_URL}")


def client() -> httpx.Client:
    """The client for ``fetch``. Without compression, or ranges and sizes would mean other bytes."""
    return httpx.Client(timeout=TIMEOUT, follow_redirects=True, headers={"Accept-Encoding": "identity"})


def fetch(rom: KnownRom, folder: Path, http: httpx.Client, base_url: str = BASE_URL, tick=None) -> Path:
    """Download ``rom`` into ``folder``; its path there. Raises ``FetchError``, ``Unreachable`` or ``OSError``.

    ``tick(n)`` is called with the number of bytes that arrive.
    """
    if rom.archive:
        raise FetchError(f"{rom.path} is published only inside an archive: {rom.archive}")
    address = url_of(rom, base_url)
    part = folder / PARTIAL / rom.sha256
    part.parent.mkdir(parents=True, exist_ok=True)
    unconnected = 0
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE * 2 ** (attempt - 1))
        try:
            _continue(part, rom, address, http, tick)
            break
        except _Interrupted as error:
            reason = str(error)
            unconnected += isinstance(error, _NoConnection)
    else:
        if unconnected == ATTEMPTS:
            raise Unreachable(f"no connection to {urlsplit(address).netloc} in {ATTEMPTS} attempts: {reason}")
        kept = part.stat().st_size if part.exists() else 0
        hint = f"; {kept} of {rom.size} bytes are kept, fetch again to go on" if kept else "; try again later"
        raise FetchError(f"{address}: {reason}{hint}")
    data = part.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != rom.sha256:
        part.unlink()
        raise FetchError(f"{address}: not the expected file (SHA-256 {found}, not {rom.sha256}); nothing is kept")
    target = folder / rom.path
    target.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(target, data)
    part.unlink()
    with contextlib.suppress(OSError):
        part.parent.rmdir()  # when it is empty
    return target


def _continue(part, rom, address, http, tick):
    """Get the bytes that ``part`` lacks."""
    have = part.stat().st_size if part.exists() else 0
    if have > rom.size:
        part.unlink()
        have = 0
    if have == rom.size:
        return
    headers = {"Range": f"bytes={have}-"} if have else {}
    try:
        with http.stream("GET", address, headers=headers) as answer:
            resumed = _judge(answer, have, part, address)
            if not resumed and have and tick:
                tick(-have)
            with part.open("ab" if resumed else "wb") as file:
                _receive(answer, file, have if resumed else 0, rom, tick)
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
        raise _NoConnection(str(error) or type(error).__name__) from None
    except httpx.TransportError as error:
        raise _Interrupted(f"the connection failed ({error or type(error).__name__})") from None
    except httpx.HTTPError as error:
        raise FetchError(f"{address}: {error or type(error).__name__}") from None


def _judge(answer, have, part, address):
    """Whether the answer goes on at ``have``; raises for one that is no file."""
    status = answer.status_code
    if status == 206 and have and answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        return True
    if status in (206, 416):
        # Not the range asked for: begin again.
        part.unlink(missing_ok=True)
        raise _Interrupted("the server does not resume the file")
    if status == 200:
        return False
    if status == 429 or status >= 500:
        raise _Interrupted(f"the server answers {status} {answer.reason_phrase}")
    raise FetchError(f"{address}: the server answers {status} {answer.reason_phrase}; is the address right?")


def _receive(answer, file, have, rom, tick):
    for piece in answer.iter_raw():
        have += len(piece)
        if have > rom.size:
            # Whatever this is, its hash will not be right; do not fill the disk with it.
            file.truncate(0)
            raise FetchError(f"{answer.url}: more than the {rom.size} bytes of the expected file; nothing is kept")
        file.write(piece)
        if tick:
            tick(len(piece))
    if have < rom.size:
        raise _Interrupted(f"the connection ended after {have} of {rom.size} bytes")
