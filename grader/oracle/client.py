#!/usr/bin/env python3
"""The oracle's commands ``run``, ``info`` and ``session``, and the client that gives them to a server.

Standard library only: this file also is a command of its own, where the reference must not be.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import json
import os
import re
import sys
import tarfile
from collections.abc import Iterator, Sequence
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

TIMEOUT = 620.0
"""Seconds without a byte from the server; a little more than the server takes for a request."""
MAX_FILE = 2**31
_FRAME_FILE = re.compile(r"frame_\d{5,10}\.(idx|ppm|png)")

EPILOG = """\
Frame N is what the (N+1)-th emu_run_frame after emu_load_rom shows; its keys are set before that call.
frame_NNNNN.idx: 61440 little-endian u16, row by row, (emphasis << 6) | colour, as emu_framebuffer has them.
frame_NNNNN.ppm or .png: the same in RGB through nes_palette.pal. Sound: mono, signed 16 bit, 44100 Hz.
Replay: one change a line, "<frame> <keys in hex>", held until the next; bits 0 to 7 = A B Select Start Up Down Left
Right; '#' begins a comment. With ORACLE_URL (and ORACLE_TOKEN) set, a server answers instead of this machine."""


class Fault(Exception):
    """What is wrong, in one line."""


class Backend(Protocol):
    """Where the answers come from."""

    def run(self, rom: str, options: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
        """Files of a run from power-on as they are made, ``summary.json`` last."""
        ...

    def info(self) -> dict[str, Any]: ...

    def start(self, rom: str) -> dict[str, Any]: ...

    def set_keys(self, session: str, keys: int) -> dict[str, Any]: ...

    def run_frame(self, session: str, count: int = 1, keys: int | None = None) -> dict[str, Any]: ...

    def raw(self, session: str, what: str) -> bytes:
        """``framebuffer``, ``framebuffer-rgba`` or ``audio``."""
        ...

    def session_info(self, session: str) -> dict[str, Any]: ...

    def end(self, session: str) -> dict[str, Any]: ...


class Client:
    """A server's oracle. One connection, kept open; not for use from several threads."""

    def __init__(self, url: str, token: str = "", timeout: float = TIMEOUT) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Fault(f"ORACLE_URL {url!r} is not an http:// or https:// address")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        # http.client follows neither proxies nor redirects: the token goes to this address and no other.
        self._connection = kind(parts.hostname, parts.port, timeout=timeout)
        self._prefix = parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        if not token.isascii() or any(c.isspace() for c in token):
            raise Fault("ORACLE_TOKEN: a token is plain ASCII without spaces")

    def close(self) -> None:
        """Close the connection; sessions stay."""
        self._connection.close()

    def _ask(self, method: str, path: str, body: Any = None, accept: str = "") -> http.client.HTTPResponse:
        headers = dict(self._headers)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if accept:
            headers["Accept"] = accept
        for last in (False, True):
            fresh = self._connection.sock is None
            try:
                self._connection.request(method, self._prefix + path, data, headers)
                answer = self._connection.getresponse()
                break
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
                self._connection.close()
                # An idle connection may have been closed by the server; nothing was run then, and asking again is safe.
                if last or fresh:
                    raise Fault(f"the server closed the connection ({type(error).__name__})") from None
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                raise Fault(f"no answer from the server ({getattr(error, 'strerror', None) or error})") from None
        if answer.status != 200:
            raise Fault(self._reason(answer))
        return answer

    def _reason(self, answer: http.client.HTTPResponse) -> str:
        text = self._read(answer, 65536)
        try:
            said = json.loads(text)["error"]
        except (ValueError, KeyError, TypeError):
            said = answer.reason
        return f"the server answers {answer.status}: {said}"

    def _read(self, answer: http.client.HTTPResponse, limit: int | None = None) -> bytes:
        try:
            return answer.read() if limit is None else answer.read(limit)
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise Fault(f"the answer broke off ({type(error).__name__})") from None

    def _json(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        data = self._read(self._ask(method, path, body))
        try:
            return json.loads(data)
        except ValueError:
            raise Fault("the server's answer is not JSON; is ORACLE_URL an oracle?") from None

    def run(self, rom: str, options: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
        """Files of a run, as the server makes them."""
        answer = self._ask("POST", "/oracle", {**_rom_fields(rom), **options}, "application/x-tar")
        ended = False
        try:
            with tarfile.open(fileobj=answer, mode="r|") as tar:
                for member in tar:
                    file = tar.extractfile(member) if member.isreg() and member.size < MAX_FILE else None
                    if file is None:
                        continue
                    data = file.read()
                    if member.name == "error.json":
                        raise Fault(str(json.loads(data)["error"]))
                    ended = member.name == "summary.json"
                    yield member.name, data
            self._read(answer)
        except (tarfile.TarError, OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise Fault(f"the answer broke off ({type(error).__name__})") from None
        if not ended:
            self._connection.close()
            raise Fault("the answer broke off")

    def info(self) -> dict[str, Any]:
        """Formats, limits and frames used."""
        return self._json("GET", "/oracle/info")

    def start(self, rom: str) -> dict[str, Any]:
        """A session with a ROM: a file here, or else a name in the server's folder."""
        return self._json("POST", "/oracle/session", _rom_fields(rom))

    def start_image(self, image: bytes) -> dict[str, Any]:
        """A session with a ROM's bytes."""
        return self._json("POST", "/oracle/session", {"rom_base64": base64.b64encode(image).decode()})

    def set_keys(self, session: str, keys: int) -> dict[str, Any]:
        """Keys held from the next frame on."""
        return self._json("POST", f"{_at(session)}/set-keys", {"keys": keys})

    def run_frame(self, session: str, count: int = 1, keys: int | None = None) -> dict[str, Any]:
        """Run frames."""
        held = {} if keys is None else {"keys": keys}
        return self._json("POST", f"{_at(session)}/run-frame", {"count": count, **held})

    def raw(self, session: str, what: str) -> bytes:
        """The last picture, or the sound since it was last asked for."""
        return self._read(self._ask("GET", f"{_at(session)}/{what}"))

    def session_info(self, session: str) -> dict[str, Any]:
        """A session's state."""
        return self._json("GET", f"{_at(session)}/info")

    def end(self, session: str) -> dict[str, Any]:
        """End a session."""
        return self._json("DELETE", _at(session))


def _at(session: str) -> str:
    return "/oracle/session/" + quote(session, safe="")


def _rom_fields(rom: str) -> dict[str, str]:
    if os.path.exists(rom):
        return {"rom_base64": base64.b64encode(read_file(rom, 16 * 2**20)).decode()}
    return {"rom": rom}


def read_file(path: str, limit: int) -> bytes:
    """A file's bytes; Fault when it cannot be read or has more than ``limit``."""
    try:
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise Fault(f"{path}: {error.strerror or error}") from None
    if len(data) > limit:
        raise Fault(f"{path} is larger than {limit} bytes")
    return data


# ---- the commands ----------------------------------------------------------------------------------------------------


def parser(kind: type[argparse.ArgumentParser] = argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The grammar of ``run``, ``info`` and ``session``."""
    shown = argparse.RawDescriptionHelpFormatter
    top = kind(
        "oracle", description="What the reference NES shows and plays, for any ROM and any input.", epilog=EPILOG,
        formatter_class=shown, allow_abbrev=False,
    )  # fmt: skip
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    run = commands.add_parser("run", help="run a ROM from power-on", epilog=EPILOG, formatter_class=shown,
                              allow_abbrev=False)  # fmt: skip
    run.add_argument("rom", metavar="ROM", help="a file, or a name in the server's folder")
    run.add_argument("frames", metavar="FRAMES", type=_count, nargs="?", default=60, help="how many (60)")
    run.add_argument("--replay", metavar="FILE", help="input to play")
    run.add_argument("--from", metavar="N", dest="start", type=_count, default=0,
                     help="dump frames and sound from frame N on")  # fmt: skip
    run.add_argument("--dump-frames", metavar="DIR", help="write every frame")
    run.add_argument("--dump-final", metavar="DIR", help="write the last frame")
    run.add_argument("--dump-audio", metavar="FILE", help="write the sound as WAV")
    run.add_argument("--image", choices=("ppm", "png", "none"), default="ppm", help="beside the .idx (ppm)")
    commands.add_parser("info", help="formats, limits and frames used so far")
    session = commands.add_parser("session", help="frame by frame: start, set-keys, run-frame, framebuffer, ...")
    actions = session.add_subparsers(dest="action", metavar="ACTION", required=True)
    start = actions.add_parser("start", help="power on with a ROM; prints the session's id")
    start.add_argument("rom", metavar="ROM")
    keys = actions.add_parser("set-keys", help="keys (hex) held from the next frame on")
    keys.add_argument("id", metavar="ID")
    keys.add_argument("keys", metavar="KEYS", type=_keys)
    frame = actions.add_parser("run-frame", help="run frames (1)")
    frame.add_argument("id", metavar="ID")
    frame.add_argument("count", metavar="COUNT", type=_count, nargs="?", default=1)
    for name, text in (
        ("framebuffer", "the last picture: 122880 bytes, u16 little-endian"),
        ("framebuffer-rgba", "the last picture: 245760 bytes, RGBA"),
        ("audio", "the samples since the last time, i16 little-endian"),
    ):
        raw = actions.add_parser(name, help=text)
        raw.add_argument("id", metavar="ID")
        raw.add_argument("-o", "--output", metavar="FILE", help="write to a file instead of stdout")
    for name, text in (("info", "the session's state"), ("end", "end it")):
        actions.add_parser(name, help=text).add_argument("id", metavar="ID")
    return top


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number")
    return int(text)


def _keys(text: str) -> int:
    digits = text.lower().removeprefix("0x")
    if not digits or len(digits) > 2 or any(c not in "0123456789abcdef" for c in digits):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not from 00 to ff")
    return int(digits, 16)


def run_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The body of a run from parsed arguments, the ROM left out."""
    replay = ""
    if arguments.replay:
        try:
            replay = read_file(arguments.replay, 8 * 2**20).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Fault(f"{arguments.replay}: not text") from None
    frames = "all" if arguments.dump_frames else "final" if arguments.dump_final else "none"
    return {
        "frames": arguments.frames,
        "from": arguments.start,
        "replay": replay,
        "dump": frames,
        "image": arguments.image,
        "audio": bool(arguments.dump_audio),
    }


def _run(backend: Backend, arguments: argparse.Namespace) -> None:
    options = run_options(arguments)
    last = f"frame_{arguments.frames - 1:05d}."
    try:
        for folder in filter(None, (arguments.dump_frames, arguments.dump_final)):
            os.makedirs(folder, exist_ok=True)
        for name, data in backend.run(arguments.rom, options):
            if name == "summary.json":
                print(data.decode().strip())
            elif name == "audio.wav" and arguments.dump_audio:
                write_whole(arguments.dump_audio, data)
            elif _FRAME_FILE.fullmatch(name):
                if arguments.dump_frames:
                    write_whole(os.path.join(arguments.dump_frames, name), data)
                if arguments.dump_final and name.startswith(last):
                    write_whole(os.path.join(arguments.dump_final, name), data)
    except OSError as error:
        raise Fault(f"{error.filename or 'writing'}: {error.strerror or error}") from None


def write_whole(path: str, data: bytes) -> None:
    """Write a file so that a reader finds it whole or not at all."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _session(backend: Backend, arguments: argparse.Namespace) -> None:
    action = arguments.action
    if action in ("framebuffer", "framebuffer-rgba", "audio"):
        data = backend.raw(arguments.id, action)
        if arguments.output:
            try:
                write_whole(arguments.output, data)
            except OSError as error:
                raise Fault(f"{arguments.output}: {error.strerror or error}") from None
        else:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        return
    if action == "start":
        answer = backend.start(arguments.rom)
    elif action == "set-keys":
        answer = backend.set_keys(arguments.id, arguments.keys)
    elif action == "run-frame":
        answer = backend.run_frame(arguments.id, arguments.count)
    elif action == "info":
        answer = backend.session_info(arguments.id)
    else:
        answer = backend.end(arguments.id)
    print(json.dumps(answer))


def perform(backend: Backend, arguments: argparse.Namespace) -> int:
    """Do what was asked; the exit status."""
    try:
        if arguments.command == "run":
            _run(backend, arguments)
        elif arguments.command == "info":
            print(json.dumps(backend.info()))
        else:
            _session(backend, arguments)
        sys.stdout.flush()
    except Fault as fault:
        print(f"oracle: {fault}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `oracle session audio ID | head`: the reader had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """The command where there is no reference: everything goes to ``ORACLE_URL``."""
    arguments = parser().parse_args(argv)
    url = os.environ.get("ORACLE_URL", "")
    if not url:
        print("oracle: set ORACLE_URL to the oracle's address and ORACLE_TOKEN to your token", file=sys.stderr)
        return 2
    try:
        client = Client(url, os.environ.get("ORACLE_TOKEN", ""))
    except (Fault, ValueError) as fault:
        print(f"oracle: {fault}", file=sys.stderr)
        return 2
    return perform(client, arguments)


if __name__ == "__main__":
    sys.exit(main())
