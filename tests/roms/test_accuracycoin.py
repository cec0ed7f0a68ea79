"""AccuracyCoin: 141 tests from one run of its "run all tests"."""

import pytest
from places import rom_or_skip

from pynes_ref import Console
from pynes_ref.verify import accuracycoin, table

ROW = next(row for row in table.load().rows if row.protocol == "accuracycoin")


@pytest.fixture(scope="session")
def results():
    """{address: Result} of one run."""
    codes, _ = accuracycoin.run(Console(rom_or_skip(ROW.rom.sha256, ROW.id)), ROW.frames)
    return {result.test.address: result for result in accuracycoin.results(codes)}


@pytest.mark.parametrize(
    "test", [pytest.param(t, id=f"page {t.page}, {t.name}") for t in accuracycoin.tests()]
)
def test_accuracycoin(test, results):
    result = results[test.address]
    assert result.passed, (
        f"AccuracyCoin page {test.page} ({test.suite}), {test.name}: {result.word} "
        f"(byte ${result.byte:02X} at ${test.address:04X}; the ROM's README explains the code)"
    )


def test_one_case_a_test():
    assert ROW.expected == len(accuracycoin.tests()) == 141


@pytest.mark.parametrize(
    ("byte", "passed", "word"),
    [
        (0x00, False, "not run"),
        (0x01, True, "passed"),
        (0x05, True, "passed (behaviour 1)"),
        (0x41, True, "passed (behaviour G)"),
        (0x06, False, "error 1"),
        (0x2A, False, "error A"),
        (0xFF, False, "skipped"),
    ],
)
def test_result_bytes(byte, passed, word):
    result = accuracycoin.Result(accuracycoin.tests()[0], byte)
    assert (result.passed, result.word) == (passed, word)


def test_the_grid_has_a_column_a_page():
    grid = accuracycoin.grid(bytes([1] * 141))
    assert len({len(row) for row in grid}) == 1
    assert sum(cell is not None for row in grid for cell in row) == 141
    for column in zip(*grid, strict=True):
        assert len({cell.test.page for cell in column if cell}) == 1
