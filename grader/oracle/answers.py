"""Answers: our exceptions as statuses and one line each, files as base64 or as a tar."""

from __future__ import annotations

import base64
import binascii
import contextlib
import sys
import tarfile
from collections.abc import AsyncIterator, Iterator
from typing import Any

from fastapi import Request, Response

from grader.oracle.client import Fault
from grader.oracle.gate import line
from grader.oracle.limits import OverBudget
from grader.oracle.machine import Refused, Stopped
from grader.oracle.sessions import Busy, Closing, NoSession, TooMany, TooSlow


class Problem(Exception):
    """An answer with this status and line."""

    def __init__(self, status: int, message: str, retry: int | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.retry = status, message, retry


def coded(data: bytes) -> str:
    """Base64."""
    return base64.b64encode(data).decode()


def decoded(text: str, limit: int) -> bytes:
    """Bytes from base64, no more than ``limit``."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Problem(422, "not base64") from None
    if len(data) > limit:
        raise Problem(413, f"a ROM may have {limit} bytes")
    return data


@contextlib.contextmanager
def problems() -> Iterator[None]:
    """Our exceptions as answers. Only texts that are ours come through."""
    try:
        yield
    except NoSession:
        raise Problem(404, "there is no such session") from None
    except Busy:
        raise Problem(409, "this session is running frames") from None
    except TooMany as error:
        raise Problem(429, str(error), retry=1) from None
    except OverBudget as error:
        raise Problem(403, str(error)) from None
    except TooSlow as error:
        raise Problem(504, f"it took too long; {error.done} frames were run") from None
    except Closing:
        raise Problem(503, "the server is being stopped") from None
    except Refused as error:
        raise Problem(422, str(error)) from None
    except Stopped:
        raise Problem(503, "the reference has stopped; start a new session") from None
    except Fault as error:
        print(f"oracle: {error}", file=sys.stderr, flush=True)
        raise Problem(503, "the reference cannot be started") from None


async def gather(parts: AsyncIterator[list[tuple[str, bytes]]]) -> list[tuple[str, bytes]]:
    """All files of a run."""
    made: list[tuple[str, bytes]] = []
    with problems():
        async with contextlib.aclosing(parts):  # type: ignore[type-var]
            async for part in parts:
                made += part
    return made


async def tar(parts: AsyncIterator[list[tuple[str, bytes]]]) -> AsyncIterator[bytes]:
    """A tar as it comes; a fault in the middle is its last member, error.json."""
    try:
        with problems():
            async with contextlib.aclosing(parts):  # type: ignore[type-var]
                async for part in parts:
                    yield b"".join(_member(name, data) for name, data in part)
    except Problem as problem:
        yield _member("error.json", line(problem.message))
    yield bytes(2 * tarfile.BLOCKSIZE)


def _member(name: str, data: bytes) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    return entry.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % tarfile.BLOCKSIZE)


def _answer(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return Response(line(message), status, headers, "application/json")


async def on_problem(request: Request, problem: Any) -> Response:
    """A problem."""
    return _answer(problem.status, problem.message, {"retry-after": str(problem.retry)} if problem.retry else None)


async def on_invalid(request: Request, error: Any) -> Response:
    """A body that is no JSON, or not what the description says."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return _answer(400, "the body is not JSON")
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    return _answer(422, f"{where[:100]}: {first['msg']}" if where else first["msg"])


async def on_http(request: Request, error: Any) -> Response:
    """What the framework refuses."""
    return _answer(error.status_code, str(error.detail), dict(error.headers or {}))


async def on_bug(request: Request, error: Exception) -> Response:
    """Our own fault; the reason goes to the log and nowhere else."""
    return _answer(500, "a fault of the server")
