"""``oracle serve``: the oracle over HTTP (FastAPI on uvicorn).

Addresses and fields are NES Eval's; what is added is optional: ROMs in the request, ``keys`` in run-frame, a tar of
files as the answer of a run. No answer says what the reference is: its messages never pass, only ours do.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

from abi.loader import Emulator
from grader.oracle import argv, asked, served
from grader.oracle import machine as formats
from grader.oracle.answers import (
    Problem,
    coded,
    decoded,
    gather,
    on_bug,
    on_http,
    on_invalid,
    on_problem,
    problems,
    tar,
)
from grader.oracle.client import Fault
from grader.oracle.gate import Gate
from grader.oracle.limits import Limits, Tokens, Usage
from grader.oracle.machine import Stopped
from grader.oracle.oneshot import Run, read_replay
from grader.oracle.sessions import Busy, Sessions

TAR = "application/x-tar"
BYTES = "application/octet-stream"


@dataclass(frozen=True)
class Config:
    """What a server is made of. ``folder``: where named ROMs are; None: only uploads."""

    emulator: Emulator
    tokens: tuple[str, ...]
    folder: Path | None = None
    limits: Limits = field(default_factory=Limits)
    usage: Path | None = None
    workers: int | None = None


def build(config: Config) -> Any:
    """The ASGI application."""
    server = _Server(config)
    described = {code: {"model": asked.Error, "description": text} for code, text in _STATUSES.items()}
    app = FastAPI(
        title="NES oracle",
        version="1",
        description="What the reference NES shows and plays, for any ROM and any input.",
        docs_url=None,
        redoc_url=None,
        lifespan=server.lifespan,
        responses=described,
    )
    app.add_exception_handler(Problem, on_problem)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(Exception, on_bug)
    server.routes(app)
    app.state.sessions = server.sessions
    app.add_middleware(Gate, tokens=Tokens(config.tokens), limits=config.limits)
    return app


_STATUSES = {
    400: "malformed",
    401: "no token, or a wrong one",
    403: "over the budget",
    404: "not there",
    405: "not a method of this address",
    408: "the request took too long to arrive",
    409: "busy",
    413: "too large",
    422: "not valid",
    429: "too many requests or sessions",
    500: "a fault of the server",
    503: "not now",
    504: "it took too long",
}
BINARY: dict[str, Any] = {
    "response_class": Response,
    "responses": {
        200: {"description": "bytes", "content": {BYTES: {"schema": {"type": "string", "format": "binary"}}}}
    },
}


class _Server:
    """The endpoints."""

    def __init__(self, config: Config) -> None:
        self.config, self.limits = config, config.limits
        self.usage = Usage(config.usage, config.limits.budget)
        self.sessions = Sessions(config.emulator, config.limits, self.usage, config.workers)

    @contextlib.asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(self._housekeeping())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.to_thread(self.sessions.close)
            self.usage.save()

    async def _housekeeping(self) -> None:
        said = ""
        while True:
            await asyncio.sleep(min(1.0, self.limits.idle / 4))
            self.sessions.reap()
            try:
                await asyncio.to_thread(self.usage.save)
            except OSError as error:  # said once, tried again every second
                if str(error) != said:
                    said = str(error)
                    print(f"oracle: usage is not recorded: {error.strerror or error}", file=sys.stderr, flush=True)

    def routes(self, app: FastAPI) -> None:
        app.get("/health")(self.health)
        guarded: dict[str, Any] = {"dependencies": [Security(HTTPBearer(auto_error=False))]}
        at = "/oracle/session"
        app.get("/oracle/info", **guarded)(self.info)
        told: dict[int | str, dict[str, Any]] = {
            200: {"description": "a summary; or a tar of files, summary.json last", "content": {TAR: {}}}
        }
        app.post("/oracle", response_model=asked.Summary | asked.Printed, responses=told, **guarded)(self.oracle)
        named = {
            "set_keys": (app.post, "/set-keys", guarded),
            "run_frame": (app.post, "/run-frame", guarded),
            "framebuffer": (app.get, "/framebuffer", {**BINARY, **guarded}),
            "framebuffer_rgba": (app.get, "/framebuffer-rgba", {**BINARY, **guarded}),
            "audio": (app.get, "/audio", {**BINARY, **guarded}),
            "session_info": (app.get, "/info", guarded),
            "end": (app.delete, "", guarded),
        }
        link = {"parameters": {"session": "$response.body#/id"}}
        links = {name: {"operationId": name, **link} for name in named}
        started: dict[int | str, dict[str, Any]] = {200: {"description": "a new session", "links": links}}
        app.post(at, responses=started, **guarded)(self.start)
        for name, (method, path, more) in named.items():
            method(f"{at}/{{session}}{path}", operation_id=name, **more)(getattr(self, name))

    # ---- endpoints ---------------------------------------------------------------------------------------------------

    async def health(self) -> asked.Health:
        """It answers."""
        return asked.Health(ok=True, service="oracle")

    async def info(self, request: Request) -> asked.Info:
        """Formats, limits and frames used so far."""
        return self._info(request.state.caller)

    def _info(self, caller: str) -> asked.Info:
        limits = self.limits
        return asked.Info(
            **asked.FORMATS,
            frames_used=self.usage.frames(caller),
            budget=limits.budget,
            max_frames=limits.frames,
            max_sessions=limits.sessions,
            sessions=self.sessions.owned(caller),
            rom_bytes=limits.rom_bytes,
            idle_seconds=limits.idle,
            timeout_seconds=limits.timeout,
        )

    async def oracle(self, request: Request, body: asked.Ask) -> Any:
        """Run a ROM from power-on. With ``Accept: application/x-tar`` the answer is a tar of the files."""
        if body.args is not None:
            return await self._command_line(request.state.caller, body)
        rom = await self._rom(body)
        run = _run_of(body)
        self._check_frames(run.frames)
        parts = self.sessions.run_files(request.state.caller, rom, run)
        as_tar = TAR in request.headers.get("accept", "")
        if not as_tar and run.dumped > self.limits.json_frames:
            raise Problem(413, f"a JSON answer holds {self.limits.json_frames} frames; accept {TAR} for more")
        with problems():
            await anext(parts)
        if as_tar:
            return StreamingResponse(tar(parts), media_type=TAR)
        made = await gather(parts)
        summary = json.loads(made.pop()[1])
        return asked.Summary(**summary, files={name: coded(data) for name, data in made})

    async def start(self, request: Request, body: asked.Rom) -> asked.Started:
        """Power on with a ROM."""
        rom = await self._rom(body)
        with problems():
            session = await self.sessions.start(request.state.caller, rom, body.rom or "upload")
        return asked.Started(id=session.id, rom=session.rom, info=asked.formats())

    async def set_keys(self, request: Request, session: str, body: asked.SetKeys) -> asked.KeysSet:
        """Hold these keys from the next frame on."""
        with problems():
            found = self.sessions.get(request.state.caller, session)
            if found.busy:
                raise Busy
        found.hold(asked.keys_of(body.keys))
        return asked.KeysSet(ok=True, cur_frame=found.frame)

    async def run_frame(self, request: Request, session: str, body: asked.RunFrame | None = None) -> asked.Ran:
        """Run frames (1)."""
        body = body or asked.RunFrame()
        with problems():
            found = self.sessions.get(request.state.caller, session)
            if found.busy:
                raise Busy
            self._check_frames(body.count)
            if body.keys is not None:
                found.hold(asked.keys_of(body.keys))
            try:
                await self.sessions.run(found, body.count, request.is_disconnected)
            except Stopped:
                self.sessions.end(found)
                raise
        return asked.Ran(**found.ran())

    async def framebuffer(self, request: Request, session: str) -> Response:
        """The last picture: 61 440 u16 little-endian."""
        return Response(formats.idx(self._get(request, session).picture), media_type=BYTES)

    async def framebuffer_rgba(self, request: Request, session: str) -> Response:
        """The last picture, R G B 255."""
        return Response(formats.rgba(self._get(request, session).picture), media_type=BYTES)

    async def audio(self, request: Request, session: str) -> Response:
        """The samples since the last time, i16 little-endian."""
        return Response(await self.sessions.sound(self._get(request, session)), media_type=BYTES)

    async def session_info(self, request: Request, session: str) -> asked.State:
        """A session's state."""
        return asked.State(**self._get(request, session).state())

    async def end(self, request: Request, session: str) -> asked.Done:
        """End a session."""
        self.sessions.end(self._get(request, session))
        return asked.Done(ok=True)

    # ---- parts -------------------------------------------------------------------------------------------------------

    def _get(self, request: Request, session: str) -> Any:
        with problems():
            return self.sessions.get(request.state.caller, session)

    def _check_frames(self, frames: int) -> None:
        if frames > self.limits.frames:
            raise Problem(422, f"no more than {self.limits.frames} frames a call")

    async def _rom(self, body: asked.Rom) -> bytes:
        if (body.rom is None) == (body.rom_base64 is None):
            raise Problem(422, "give either rom, a name, or rom_base64, a ROM's bytes")
        if body.rom is not None:
            return await self._named_file(body.rom)
        return await asyncio.to_thread(decoded, body.rom_base64 or "", self.limits.rom_bytes)

    async def _named_file(self, name: str) -> bytes:
        try:
            if self.config.folder is None:
                served.parts_of(name)
                raise served.NoSuchRom
            return await asyncio.to_thread(served.read_rom, self.config.folder, name, self.limits.rom_bytes)
        except served.BadName:
            raise Problem(400, "rom: a plain relative name inside the served folder") from None
        except served.NoSuchRom:
            raise Problem(404, "there is no ROM of that name here") from None
        except served.TooLarge:
            raise Problem(413, f"a ROM may have {self.limits.rom_bytes} bytes") from None

    async def _command_line(self, caller: str, body: asked.Ask) -> asked.Printed:
        begun = time.monotonic()

        def printed(out: str = "", err: str = "", code: int = 0, files: dict[str, bytes] | None = None) -> Any:
            given = {name: coded(data) for name, data in (files or {}).items()}
            taken = round(time.monotonic() - begun, 3)
            return asked.Printed(stdout=out, stderr=err, returncode=code, duration_s=taken, files=given)

        try:
            parsed = argv.parse(body.args or [])
            if parsed.command == "info":
                return printed(self._info(caller).model_dump_json() + "\n")
            given = body.files or {}
            rom = await self._given(parsed.rom, given)
            replay = ""
            if parsed.replay:
                replay = (await self._given(parsed.replay, given)).decode("utf-8-sig", "replace")
            run = _run_of(asked.Ask(**argv.wanted(parsed), replay=replay))
            self._check_frames(run.frames)
            if run.dumped > self.limits.json_frames:
                raise Problem(413, f"this answer holds {self.limits.json_frames} frames; use --from, or accept a tar")
            parts = self.sessions.run_files(caller, rom, run)
            with problems():
                await anext(parts)
            made = await gather(parts)
        except argv.Said as said:
            return printed(said.text) if said.code == 0 else printed(err=said.text, code=said.code)
        except Problem as problem:
            if problem.status in (403, 429, 503):
                raise
            return printed(err=f"oracle: {problem.message}\n", code=2)
        summary = made.pop()[1].decode()
        return printed(summary, files=argv.named(parsed, made))

    async def _given(self, name: str, given: dict[str, str]) -> bytes:
        if name in given:
            return await asyncio.to_thread(decoded, given[name], self.limits.rom_bytes)
        return await self._named_file(name)


def _run_of(body: asked.Ask) -> Run:
    try:
        movie = read_replay(body.replay)
    except Fault as fault:
        raise Problem(422, str(fault)) from None
    return Run(body.frames, movie, body.start, body.dump, body.image, body.audio)


def warm(emulator: Emulator) -> None:
    """Run the reference for a moment, so that the first caller does not wait for it to be compiled."""
    from abi import probe_rom

    machine = formats.open_machine(emulator, probe_rom.rom())
    machine.advance(3)
    machine.close()


def serve(config: Config, host: str, port: int) -> None:
    """Listen until told to stop; says where on stdout as soon as it does."""
    import uvicorn

    app = build(config)

    class Stoppable(uvicorn.Server):
        def handle_exit(self, sig: int, frame: Any) -> None:
            app.state.sessions.closing = True
            super().handle_exit(sig, frame)

    settings = uvicorn.Config(
        app, host=host, port=port, log_level="warning", access_log=False, server_header=False, ws="none",
        http="h11", timeout_keep_alive=60, timeout_graceful_shutdown=5, limit_concurrency=2048,
    )  # fmt: skip
    listener = _listen(host, port)
    where = listener.getsockname()
    shown = f"[{where[0]}]" if ":" in where[0] else where[0]
    print(f"oracle: listening on http://{shown}:{where[1]}", flush=True)
    with listener:
        Stoppable(settings).run(sockets=[listener])


def _listen(host: str, port: int) -> Any:
    import socket

    # The protocol is named because asyncio looks at it before it sets TCP_NODELAY; without, an answer may take 40 ms.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)  # from here on callers may come; the first ones wait a moment
    except OSError as error:
        raise Fault(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None
    return listener


__all__ = ["Config", "build", "serve", "warm"]
