"""``POST /oracle`` with a command line, as NES Eval's client sends it: ``{"args": ["run", "game.nes", "60"]}``.

Files come with the request and go with the answer (base64, by the names the arguments use); nothing is read from
or written to the server's disk but named ROMs. The answer is what the command would have printed.
"""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from grader.oracle import client


class Said(Exception):
    """The command line has been answered: help, or an error."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


class _Parser(argparse.ArgumentParser):
    """Prints nothing and exits nothing."""

    def error(self, message: str) -> NoReturn:
        raise Said(2, f"{self.format_usage()}{self.prog}: error: {message}\n")

    def print_help(self, file: Any = None) -> NoReturn:
        raise Said(0, self.format_help())

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise Said(status, message or "")


def parse(arguments: list[str]) -> argparse.Namespace:
    """The parsed command line; Said when that already is the answer."""
    if arguments[:1] in (["help"], []):
        arguments = ["--help"]
    parsed = client.parser(_Parser).parse_args(arguments)
    if parsed.command == "session":
        raise Said(2, "oracle: sessions have addresses of their own: POST /oracle/session\n")
    return parsed


def wanted(parsed: argparse.Namespace) -> dict[str, Any]:
    """The fields of a run; the replay is still a file's name."""
    return {
        "frames": parsed.frames,
        "from": parsed.start,
        "dump": "all" if parsed.dump_frames else "final" if parsed.dump_final else "none",
        "image": parsed.image,
        "audio": bool(parsed.dump_audio),
    }


def named(parsed: argparse.Namespace, made: list[tuple[str, bytes]]) -> dict[str, bytes]:
    """A run's files under the names that the arguments gave them."""
    last = f"frame_{parsed.frames - 1:05d}."
    out = {}
    for name, data in made:
        if name == "audio.wav":
            out[parsed.dump_audio] = data
            continue
        if parsed.dump_frames:
            out[f"{parsed.dump_frames}/{name}"] = data
        if parsed.dump_final and name.startswith(last):
            out[f"{parsed.dump_final}/{name}"] = data
    return out
