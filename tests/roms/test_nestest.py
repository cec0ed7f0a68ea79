"""nestest's golden log, line by line: registers, PPU position and cycle of 8 991 instructions."""

import pytest
from places import SHARED

GOLDEN = SHARED / "test_roms" / "nestest" / "nestest.log"


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden log nestest.log is not here")
def test_trace_equals_the_golden_log(rom):
    from pynes_ref import Console
    from pynes_ref.trace import trace

    golden = GOLDEN.read_text().splitlines()
    console = Console(rom("nestest/nestest.nes"))
    ours = trace(console, len(golden), pc=0xC000)
    for number, (expected, line) in enumerate(zip(golden, ours, strict=True), 1):
        assert line == expected, f"line {number}"
