"""``pynes-ref verify`` around the runs themselves: what counts as a surprise, what it writes, what it refuses."""

import dataclasses
import io
import json
import os
import subprocess
import sys

import pytest
from places import ROOT, rom_or_skip

from pynes_ref.verify import accuracycoin, page, protocols, report, table
from pynes_ref.verify.runner import Result, run_all, run_row

ROWS = {row.name: row for row in table.load().rows}
ROW = ROWS["instr_test-v5/12-jmp_jsr"]
COIN = ROWS["accuracycoin/AccuracyCoin"]


def result(row=ROW, passed=True, shown="said so", codes=b"", **changes):
    return Result(dataclasses.replace(row, **changes), protocols.Outcome(passed, shown, 10, codes))


@pytest.mark.parametrize(
    ("given", "status", "surprise"),
    [
        (result(), "passed", False),
        (result(passed=False), "FAILED", True),
        (result(passed=False, xfail="why"), "known failure", False),
        (result(xfail="why"), "unexpected pass", True),
        (Result(ROW, None), "missing", True),
    ],
)
def test_what_is_a_surprise(given, status, surprise):
    assert (given.status, given.surprise) == (status, surprise)
    text = shown([given])
    assert f"{'0' if surprise else '1'}/1" in text
    assert (status in text) == (status != "passed")


def shown(results):
    from rich.console import Console

    out = io.StringIO()
    report.show(results, Console(file=out, width=200, highlight=False))
    return out.getvalue()


def coin(wrong=None):
    codes = bytearray([1] * len(accuracycoin.tests()))
    if wrong is not None:
        codes[wrong] = 3 << 2 | 2
    return result(COIN, wrong is None, f"{141 - (wrong is not None)}/141", bytes(codes))


def test_the_grid_on_the_terminal():
    lines = shown([coin()]).splitlines()
    assert sum(line.count("\u00b7") for line in lines) == 141 + 1
    assert "3" in shown([coin(wrong=5)]).splitlines()[5 + 4]


def test_the_page():
    known = result(shown="a | b", passed=False, xfail="a reason", reference="something else")
    text = page.write([coin(), known], [table.Difference("A thing is so.", "hardware", "We saw it.")])
    assert "| **pynes_ref** | 141 of 141 |" in text
    assert text.index("pynes_ref** | 141") < text.index("jsnes 3 | 132") < text.index("nes-py | 16")
    assert COIN.rom.sha256 in text
    assert "2 test ROMs in 2 runs" in text
    assert "1 known to differ" in text
    assert "- A thing is so. We saw it." in text
    assert "a \\| b" in text
    assert "*Reference:* Something else." in text
    assert text == page.write([coin(), known], [table.Difference("A thing is so.", "hardware", "We saw it.")])


def test_every_kind_of_difference_has_its_place_on_the_page(tmp_path):
    differences = [table.Difference(f"About {kind}.", kind, "Seen.") for kind in table.DIFFERS]
    text = page.write([coin()], differences)
    assert all(f"- About {kind}. Seen." in text for kind in table.DIFFERS)
    wrong = tmp_path / "table.toml"
    wrong.write_text('rom = []\n[[difference]]\ndiffers = "hardwear"\nwhat = "A."\nevidence = "B."\n')
    with pytest.raises(table.TableError, match=r"none\.toml: No such file or directory$"):
        table.load(tmp_path / "none.toml")
    with pytest.raises(table.TableError, match="a difference from 'hardwear'; there are hardware"):
        table.load(wrong)


def test_the_page_names_failures():
    text = page.write([coin(wrong=5)], [])
    assert "140 of 141" in text
    test = accuracycoin.tests()[5]
    assert f"- page {test.page}, {test.suite}, {test.name}: error 3" in text
    assert "**1 not as expected**" in text


def test_json():
    data = report.as_json([coin(), result(passed=False)], 1.25)
    assert data["surprises"] == 1
    assert len(data["results"][0]["tests"]) == 141
    assert json.loads(json.dumps(data)) == data


def test_a_fault_of_the_console_is_a_result(tmp_path):
    (tmp_path / "x.nes").write_bytes(b"NES\x1a")
    outcome = run_row(ROW, tmp_path / "x.nes")
    assert not outcome.passed
    assert outcome.shown.startswith("RomError: ")


def test_processes_give_the_same_results_in_the_same_order():
    rows = [ROWS[name] for name in ("instr_test-v5/12-jmp_jsr", "instr_misc/01-abs_x_wrap", "mmc3_test/1-clocking")]
    for row in rows:
        rom_or_skip(row.rom.sha256, row.id)
    seen = []
    several = run_all(rows, jobs=2, done=seen.append)
    assert several == run_all(rows, jobs=1)
    assert [r.row for r in several] == rows
    assert sorted(seen) == [0, 1, 2]


def verify(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "pynes_ref.cli", "verify", *arguments], cwd=ROOT, capture_output=True, text=True,
        timeout=300, env={**os.environ, **environment},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_the_command_runs_a_suite_and_writes_json(tmp_path):
    rom_or_skip(ROWS["oam_read/oam_read"].rom.sha256, "oam_read")
    out = tmp_path / "out.json"
    status, text, err = verify("oam_read", "instr_misc/01-abs_x_wrap.nes", "--json", str(out), "--page",
                               str(tmp_path / "page.md"))
    assert status == 0, text + err
    assert "2 runs in" in text
    assert [r["status"] for r in json.loads(out.read_text())["results"]] == ["passed", "passed"]
    assert not (tmp_path / "page.md").exists()
    assert "not written: page.md (only by a run of the whole table" in err


def test_the_command_says_what_it_wrote(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from pynes_ref import verify_cli
    from pynes_ref.cli import app

    path = tmp_path / "page.md"
    monkeypatch.setattr(verify_cli, "_run", lambda rows, jobs: ([coin()], 1.0))
    arguments = ["verify", "--page", str(path)]
    assert "written: page.md\n" in CliRunner().invoke(app, arguments).output
    first = path.read_bytes()
    assert "written: page.md (nothing has changed)\n" in CliRunner().invoke(app, arguments).output
    assert path.read_bytes() == first
    monkeypatch.setattr(verify_cli, "_run", lambda rows, jobs: ([Result(ROW, None)], 1.0))
    assert "not written: page.md (only by" in CliRunner().invoke(app, arguments).output
    monkeypatch.setattr(table, "default_path", lambda: tmp_path / "share" / "expectations.toml")
    monkeypatch.setattr(table, "load", lambda path=None: table.Table([ROW], []))
    assert "not written: ACCURACY.md (this is no checkout" in CliRunner().invoke(app, ["verify"]).output


def test_a_missing_rom_is_not_passed_over(tmp_path):
    home = {"XDG_DATA_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path), "HOME": str(tmp_path), "PYNES_ROMS": "",
            "PYNES_REF_CACHE": os.environ.get("PYNES_REF_CACHE") or str(_cache())}  # fmt: skip
    status, text, _ = verify("oam_read", **home)
    assert status == 1
    assert "missing" in text
    assert "pynes-ref roms fetch" in text


def _cache():
    from pynes_ref.jitcache import cache_root

    return cache_root()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nosuch"], "no suite or ROM 'nosuch'"),
        (["--table", "nosuch.toml"], "nosuch.toml"),
        (["oam_read", "--json", "/nosuch/folder/x.json"], "nosuch"),
    ],
)
def test_the_command_refuses(arguments, words):
    status, _, err = verify(*arguments)
    assert status == 2
    assert words in err
    assert err.count("\n") == 1
