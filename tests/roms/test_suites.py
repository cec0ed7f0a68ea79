"""Every row of tests/expectations.toml, and that the table is whole."""

import tomllib
from pathlib import Path

import pytest
from places import ROOT, rom_or_skip

from pynes_ref import roms
from pynes_ref.verify import protocols, table

TABLE = table.load()


def _parameter(row):
    marks = [pytest.mark.xfail(reason=row.xfail, strict=True)] if row.xfail else []
    return pytest.param(row, id=row.name, marks=marks)


# AccuracyCoin has a test a test: test_accuracycoin.py.
ROWS = [row for row in TABLE.rows if row.protocol != "accuracycoin"]


@pytest.mark.parametrize("row", [_parameter(row) for row in ROWS])
def test_rom(row):
    outcome = protocols.run(row, rom_or_skip(row.rom.sha256, row.id))
    assert outcome.passed, f"{row.name}: {outcome.shown}\nexpected: {row.expected}\nevidence: {row.evidence}"


def test_every_known_rom_has_a_row():
    assert {row.id for row in TABLE.rows} == {rom.path for rom in roms.known()}


def test_the_committed_page_lists_every_run():
    page = (ROOT / "ACCURACY.md").read_text(encoding="utf-8")
    assert "| **pynes_ref** | 141 of 141 |" in page
    for row in TABLE.rows:
        assert f"### {row.suite}\n" in page
        assert f"| {row.name.split('/', 1)[1]} | " in page, f"{row.name} is not in ACCURACY.md: run `pynes-ref verify`"
    assert "FAILED" not in page.replace("FAILED #", "")
    assert "unexpected pass" not in page


def _table(tmp_path, text):
    path = tmp_path / "table.toml"
    path.write_text(text, encoding="utf-8")
    return path


GOOD = """
[[rom]]
id = "nestest/nestest.nes"
protocol = "screen"
frames = 10
expected = 'x'
evidence = "y"
"""


def test_a_good_table(tmp_path):
    rows = table.load(_table(tmp_path, GOOD + GOOD.replace("frames", 'variant = "again"\nframes'))).rows
    assert [row.name for row in rows] == ["nestest/nestest", "nestest/nestest [again]"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD + GOOD, "two rows"),
        (GOOD.replace("nestest.nes", "other.nes"), "no ROM of"),
        (GOOD.replace('"screen"', '"smell"'), "protocol"),
        (GOOD.replace('"y"', '""'), "evidence"),
        (GOOD.replace("10", "0"), "frames"),
        (GOOD.replace("frames", "letters = 'runes'\nframes"), "letters"),
        (GOOD.replace("frames", "colour = 'blue'\nframes"), "colour"),
        (GOOD.replace("[[rom]]", "[[rom"), "table.toml"),
        ("", "rom"),
    ],
)
def test_a_bad_table_is_refused(tmp_path, text, words):
    with pytest.raises(table.TableError, match=words):
        table.load(_table(tmp_path, text))


def test_a_missing_table_is_refused(tmp_path):
    with pytest.raises(table.TableError, match="No such file"):
        table.load(tmp_path / "none.toml")


def test_the_names_of_accuracycoin_are_distinct():
    path = Path(table.__file__).parents[1] / "data" / "accuracycoin.toml"
    pages = tomllib.loads(path.read_text(encoding="utf-8"))["page"]
    tests = [tuple(test) for page in pages for test in page["tests"]]
    assert len(tests) == len({name for name, _ in tests}) == len({address for _, address in tests}) == 141
