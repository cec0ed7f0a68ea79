"""``pynes-ref export-wasm``."""

import hashlib
import shutil
import sys

import pytest

from pynes_ref import wasm_export


def command(*arguments):
    from typer.testing import CliRunner

    from pynes_ref.cli import app

    return CliRunner().invoke(app, ["export-wasm", *map(str, arguments)])


def test_the_command_writes_the_module(modules, tmp_path, monkeypatch):
    monkeypatch.setattr(wasm_export, "export", lambda bug, waiting: modules[bug].read_bytes())
    out = tmp_path / "nes.wasm"
    done = command(out, "--bug", "scanline")
    assert done.exit_code == 0
    assert out.read_bytes() == modules["scanline"].read_bytes()
    assert hashlib.sha256(out.read_bytes()).hexdigest() in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere/nes.wasm"], "nowhere is not a folder"),
        (["nes.wasm", "--bug", "none"], "choose from scanline, ab-swap"),
    ],
)
def test_the_command_finds_faults_before_it_builds(arguments, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = command(*arguments)
    assert done.exit_code == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_the_command_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr("pynes_ref.wasm_export.parent.find_spec", lambda name: None)
    done = command(tmp_path / "nes.wasm")
    assert done.exit_code == 2
    assert "pip install 'pynes-ref[wasm-build]'" in done.stderr


def test_a_build_that_fails_says_why(monkeypatch):
    monkeypatch.setattr("pynes_ref.wasm_export.parent.find_spec", lambda name: True)
    monkeypatch.setattr("pynes_ref.wasm_export.parent.sys.executable", shutil.which("false") or sys.executable)
    with pytest.raises(wasm_export.ExportError, match="the build failed: exit status 1"):
        wasm_export.export()
