"""The page "Run a benchmark", followed literally: its commands, with a small corpus and another port."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys

import corpus_maker
import pytest
from oracle_server import ROOT, environment

PAGE = ROOT / "grader" / "oracle" / "README.md"


@pytest.mark.skipif(os.name != "posix", reason="sh")
def test_the_page_works(tmp_path):
    pytest.importorskip("fastapi")
    pytest.importorskip("ziglang", reason="PyPI's ziglang is not installed")
    blocks = re.findall(r"<!-- followed by a test -->\n```sh\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    assert len(blocks) == 3
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        script = "\n".join(blocks).replace("8001", str(free.getsockname()[1]))
    corpus = corpus_maker.make(tmp_path / "corpus")
    cases = corpus_maker.entries()
    for case, name in zip(cases, ("pinewood", "kittiwake", "pinewood")):
        rom = (ROOT / "test_roms" / f"{name}.nes").read_bytes()
        (corpus / "roms" / f"{name}.nes").write_bytes(rom)
        case["rom_sha256"] = hashlib.sha256(rom).hexdigest()
    (corpus / "testcases.json").write_text(json.dumps({"testcases": cases}))
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, what in (("python3", ""), ("oracle", "-m grader.oracle.cli")):
        (commands / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {what} "$@"\n')
        (commands / name).chmod(0o755)
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.Popen(
        ["sh", "-e", "-c", script], cwd=tmp_path, env=environment(PATH=path, CORPUS=str(corpus)), text=True,
        stdin=subprocess.DEVNULL, stdout=(tmp_path / "out").open("w"), stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        status = process.wait(240)
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # the server in the background
    said = (tmp_path / "out").read_text()
    assert status == 0, said
    history = json.loads((tmp_path / "dry-run" / "history.json").read_text())
    final = history["checkpoints"][-1]
    assert (final["name"], final["build"]) == ("final", 0), said
    assert final["overall"] < 0.2  # a blank screen
    assert (tmp_path / "dry-run" / "final" / "grade" / "report.html").is_file()
    assert {start["why"] for start in history["starts"]} <= {"it ended", "time is over"}
    assert '"frames_used": 0' in said


def test_links_lead_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)", PAGE.read_text("utf-8")):
        assert (PAGE.parent / target).exists(), target
