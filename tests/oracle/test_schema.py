"""A generic tester of HTTP descriptions (schemathesis) against the server.

``ORACLE_FUZZ`` = requests at least (default 600, some 15 s; 5000 take a minute and a half).
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys

import pytest
from oracle_server import TOKEN, Server, environment, put_roms

WANTED = int(os.environ.get("ORACLE_FUZZ", "600"))


def test_no_server_error(tmp_path, toy_reference):
    """All of schemathesis' checks but one: what a schema allows may still be no ROM (positive_data_acceptance)."""
    pytest.importorskip("schemathesis")
    server = Server(
        tmp_path / "s", "--rate", "100000", "--burst", "100000", "--sessions", "60", "--idle", "5", "--max-frames",
        "200", "--timeout", "10", reference=toy_reference,
    )  # fmt: skip
    put_roms(server.roms)
    examples = str(max(20, math.ceil(WANTED * 0.085)))
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json",
        "--header", f"Authorization: Bearer {TOKEN}", "--max-examples", examples, "--seed", "1", "--workers", "1",
        "--exclude-checks", "positive_data_acceptance", "--request-timeout", "30", "--generation-database", "none",
        "--continue-on-failure", "--no-color",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=120 + WANTED / 10
        )
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        generated = int(re.search(r"([0-9]+) generated", done.stdout)[1])
        assert generated >= WANTED, done.stdout[-1500:]
        assert server.json("GET", "/health")[0] == 200
    finally:
        said = server.stop()
    assert "Traceback" not in said, said
