"""``pynes-ref info``, ``trace``, ``test``, ``warm``, ``version``, and usage."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from commands import PINEWOOD, environment, refused
from places import rom_or_skip
from small_rom import JAM, OWN, own, rom

from pynes_ref.verify import table


@pytest.mark.parametrize(("name", "facts"), [
    ("pinewood", ["iNES", "NROM", "32 KiB", "8 KiB", "vertical"]),
    ("kittiwake", ["1, submapper 0", "SxROM", "64 KiB", "CHR ROM    none", "battery    yes, 8 KiB"]),
    ("undertow", ["4, submapper 0", "MMC3", "mapper-controlled"]),
])  # fmt: skip
def test_info(run, name, facts):
    result = run("info", OWN / f"{name}.nes")
    assert (result.code, result.err) == (0, "")
    assert hashlib.sha256(own(name)).hexdigest() in result.out
    assert "supported  yes" in result.out
    for fact in facts:
        assert fact in result.out


def test_info_says_what_is_unsupported(run, tmp_path):
    path = tmp_path / "a.nes"
    path.write_bytes(rom(mapper=90))
    result = run("info", path)
    assert (result.code, result.err) == (0, "")
    assert "UNSUPPORTED" in result.out
    assert "mapper 90" in result.out
    refused(run("run", path, "--frames", 1), "mapper 90", "supported: 0 (NROM)")


def test_trace(run):
    result = run("trace", PINEWOOD, "--instructions", 50)
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert len(lines) == 50
    assert lines[0].startswith("8000  78        SEI")
    assert lines[0].endswith("A:00 X:00 Y:00 P:24 SP:FD PPU:  0, 21 CYC:7")
    for pc in ("8003", "$8003", "0x8003"):
        assert run("trace", PINEWOOD, "--instructions", 1, "--pc", pc).out.startswith("8003  ")
    assert run("trace", PINEWOOD, "--instructions", 0).out == ""
    later = run("trace", PINEWOOD, "--instructions", 1, "--skip", 20).out
    assert int(later.rsplit("CYC:", 1)[1]) > 19 * 29_780
    for pc in ("10000", "-1", "here"):
        refused(run("trace", PINEWOOD, "--pc", pc), "0 to FFFF")


def test_trace_ends_at_a_jam(run, tmp_path):
    (tmp_path / "a.nes").write_bytes(rom(JAM))
    lines = run("trace", tmp_path / "a.nes").out.splitlines()
    assert [line[16:19] for line in lines] == ["LDA", "STA", "JAM"]


def verdict_rom(status, text=b"", again=b""):
    """Writes the $6000 protocol's signature, a text and a status, then waits."""
    code = b""
    signature = [(0x6001, 0xDE), (0x6002, 0xB0), (0x6003, 0x61)]
    for at, value in [*signature, *enumerate(text + b"\0", 0x6004), (0x6000, status)]:
        code += bytes([0xA9, value, 0x8D]) + at.to_bytes(2, "little")
    code = again + code
    end = 0xC000 + len(code)
    return rom(code + b"\x4c" + end.to_bytes(2, "little"))


def test_test_passes_and_fails(run, tmp_path):
    for name in ("selftest_cpu", "selftest_mmc3"):
        result = run("test", OWN / f"{name}.nes")
        assert (result.code, result.err) == (0, "")
        assert "passed after" in result.out
        assert "[6000]" in result.out
    path = tmp_path / "fail.nes"
    path.write_bytes(verdict_rom(3, b"too bad"))
    result = run("test", path)
    assert (result.code, result.err) == (1, "")
    assert result.out.splitlines()[0] == "too bad"
    assert "FAILED (code 3)" in result.out


def test_test_presses_reset_when_asked(run, tmp_path):
    # After a reset RAM at $0700 is still $A5: then passed; before, ask for it.
    # LDA $0700, CMP #$A5, BNE +19 -> ask; else write 0 to $6000 and wait.
    passed = bytes.fromhex("a900 8d0060 4c")
    again = bytes.fromhex("ad0007 c9a5 d008") + passed + (0xC000 + 7 + 5).to_bytes(2, "little")
    again += bytes.fromhex("a9a5 8d0007")
    path = tmp_path / "reset.nes"
    path.write_bytes(verdict_rom(0x81, b"press reset", again))
    result = run("test", path)
    assert "passed" in result.out
    assert result.code == 0


def test_test_without_a_verdict(run, tmp_path):
    path = tmp_path / "a.nes"
    path.write_bytes(rom())
    result = run("test", path, "--frames", 100)
    assert result.code == 1
    assert "no verdict after 100 frames [screen]" in result.out
    refused(run("test", path, "--protocol", "morse"), "auto, 6000 and screen")


@pytest.mark.parametrize("name", ["accuracycoin/AccuracyCoin", "nestest/nestest"])
def test_test_runs_a_known_rom_as_the_table_says(run, name):
    rows = [row for row in table.load().rows if row.id == f"{name}.nes"]
    result = run("test", rom_or_skip(rows[0].rom.sha256, name))
    assert (result.code, result.err) == (0, "")
    assert result.out.count("passed after") == len(rows)
    assert f"verify {rows[0].suite}`" in result.out
    short = run("test", rom_or_skip(rows[0].rom.sha256, name), "--frames", 100)
    assert short.code == 1
    assert "no verdict after 100 frames [screen]\n" in short.out
    assert short.out.endswith(f"`pynes-ref verify {rows[0].suite}` knows how to run it\n")


def test_a_screen_that_is_no_text_is_not_shown(run):
    result = run("test", OWN / "undertow.nes", "--frames", 200)
    assert (result.code, result.out) == (1, "no verdict after 200 frames [screen]\n")


def test_warm_and_version(run):
    result = run("warm")
    assert result.code == 0
    assert "compiled; kept in " in result.out
    assert Path(result.out.split("kept in ")[1].strip()).is_dir()
    result = run("version")
    assert result.code == 0
    assert result.out.startswith("pynes-ref ")
    assert run("--version") == result


def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "pynes_ref", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True)
    assert done.stdout.startswith("pynes-ref ")


def test_usage(run):
    assert run("--help").code == 0
    for command in ("run", "info", "trace", "test", "warm", "version"):
        result = run(command, "--help")
        assert result.code == 0
        assert f"pynes-ref {command}" in result.out
    headless = ["run", PINEWOOD, "--frames"]
    for wrong in (["fly"], ["info"], [*headless, 1, "--nothing"], [*headless, "-1"], [*headless, "many"],
                  [*headless, 1, "--submapper", 16]):  # fmt: skip
        result = run(*wrong)
        assert result.code == 2
        assert result.out == ""
        assert "Traceback" not in result.err
    refused(run("run", PINEWOOD, "--png", "a.png"), "--frames N")
    refused(run("run", PINEWOOD, "--frames", 1, "--record", "a.txt"), "--record")


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom pynes_ref.cli import main\nsys.argv[1:] = sys.argv[1:] or ['--help']\n"
        "try: main()\nfinally: print([m for m in sys.modules if m.split('.')[0] in "
        "('numba', 'llvmlite', 'numpy', 'scipy', 'skimage', 'av', 'pygame', 'PIL', 'zstandard', 'wasmtime')])"
    )
    for arguments in (["--help"], ["run", "--help"], ["version"], ["--version"], ["info", str(PINEWOOD)]):
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment())
        assert done.stdout.splitlines()[-1] == "[]", arguments
