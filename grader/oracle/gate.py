"""The ASGI layer in front of the server's endpoints: who asks, how often, and how much.

All of it happens before a body is parsed: without a token nothing but the 401 can be had from any address but
``/health`` and ``/openapi.json``, and a body that is too large or too slow never reaches the framework.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from typing import Any

from grader.oracle.limits import Buckets, Limits, Tokens

OPEN = frozenset({"/health", "/openapi.json"})


def line(message: str) -> bytes:
    """An error's body: one line of ASCII JSON, whatever is in the message."""
    return json.dumps({"error": " ".join(message.split())[:500]}).encode() + b"\n"


class Gate:
    """Middleware: token, rate, size and time of the body. The caller's name goes into ``scope["state"]``."""

    def __init__(self, app: Any, tokens: Tokens, limits: Limits) -> None:
        self._app, self._tokens, self._limits = app, tokens, limits
        self._buckets = Buckets(limits.rate, limits.burst)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if scope["path"] not in OPEN:
            caller = self._tokens.name_of(headers.get(b"authorization", ""))
            if caller is None:
                return await refuse(send, 401, "a bearer token is needed", {"www-authenticate": "Bearer"})
            wait = self._buckets.take(caller)
            if wait:
                return await refuse(send, 429, "too many requests", {"retry-after": str(math.ceil(wait))})
            scope.setdefault("state", {})["caller"] = caller
        limit = self._limits.body_bytes
        length = headers.get(b"content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length[:20]) > limit:
            return await refuse(send, 413, f"a request may have {limit} bytes", {})
        try:
            async with asyncio.timeout(self._limits.upload_seconds):
                body = await _read(receive, limit)
        except TimeoutError:
            return await refuse(send, 408, "the request takes too long to arrive", {"connection": "close"})
        except OverflowError:
            return await refuse(send, 413, f"a request may have {limit} bytes", {})
        if body is None:
            return None  # hung up
        return await self._app(scope, _Replayed(body, receive), send)


class _Replayed:
    """The body once more; after that, what the connection has to say."""

    def __init__(self, body: bytes, receive: Any) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Any:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        return await self._receive()


async def _read(receive: Any, limit: int) -> bytes | None:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise OverflowError
        if not message.get("more_body", False):
            return b"".join(parts)


async def refuse(send: Any, status: int, message: str, headers: Mapping[str, str]) -> None:
    """Answer without the framework."""
    body = line(message)
    fields = {"content-type": "application/json", "content-length": str(len(body)), **headers}
    pairs = [(name.encode(), value.encode()) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
