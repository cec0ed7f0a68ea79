"""Fixtures: a server of the toy emulator and one of the real reference."""

from __future__ import annotations

import pytest
from oracle_server import ROOT, SLOW, Server, put_roms


@pytest.fixture(scope="session")
def toy_reference(tmp_path_factory) -> str:
    """The toy emulator as a reference: byte 17 of a ROM says how slow a frame is."""
    import toy_emulator as toy

    path = tmp_path_factory.mktemp("reference") / "secret.wasm"
    path.write_bytes(toy.module(emu_run_frame=SLOW))
    return str(path)


@pytest.fixture(scope="session")
def toy_server(tmp_path_factory, toy_reference):
    """A server of the toy emulator with ``game.nes`` (fast) and ``slow.nes``."""
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    options = ("--rate", "100000", "--burst", "100000", "--sessions", "40")
    usage = str(tmp_path_factory.mktemp("usage") / "usage.json")
    server = Server(tmp_path_factory.mktemp("toy"), *options, "--usage", usage, reference=toy_reference)
    put_roms(server.roms)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A server of the real reference with our own ROMs."""
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    server = Server(tmp_path_factory.mktemp("real"), "--rate", "100000", "--burst", "100000")
    for path in (ROOT / "test_roms").glob("*.nes"):
        (server.roms / path.name).write_bytes(path.read_bytes())
    yield server
    server.stop()
