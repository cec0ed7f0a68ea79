"""What ``pynes_ref.accesses`` says of an instruction, against what the console then does."""

from __future__ import annotations

import pytest

from pynes_ref import Console
from pynes_ref.accesses import Kind, Touch, plan_of
from pynes_ref.bundled import folder

OAM_DMA = (513, 514)


@pytest.mark.parametrize(
    "name", ["selftest_cpu.nes", "selftest_ppu.nes", "selftest_mmc3.nes", "pinewood.nes", "undertow.nes"]
)
def test_cycles_without_dma(name):
    """Every instruction and interrupt takes the cycles planned; OAM DMA takes its own, after a write of $4014."""
    nes = Console(folder("test_roms") / name)
    nes.run_frames(60)
    interrupts, stolen, transfer = 0, set(), False
    for _ in range(20_000):
        plan = plan_of(nes)
        more = nes.step_instruction() - plan.cycles(nes)
        interrupts += plan.interrupted(nes)
        assert (more in OAM_DMA) if transfer else more == 0, f"{plan.name} at ${plan.pc:04X} took {more} more"
        transfer = any(touch.addr == 0x4014 and touch.kind is Kind.WRITE for touch in plan.touches)
        stolen.add(more)
    if name in ("pinewood.nes", "undertow.nes"):
        assert interrupts
        assert len(stolen) > 1


def run(code, a=0, x=0, y=0, p=0x24, zero_page=()):
    """The plan of the first instruction of ``code`` at $0200."""
    nes = Console(folder("test_roms") / "selftest_cpu.nes")
    nes.run_frame()
    nes.ram[0x200 : 0x200 + len(code)] = list(code)
    for addr, value in zero_page:
        nes.ram[addr] = value
    nes.cpu.pc, nes.cpu.a, nes.cpu.x, nes.cpu.y, nes.cpu.p = 0x200, a, x, y, p
    return nes, plan_of(nes)


READ, WRITE, DUMMY_READ, DUMMY_WRITE = Kind.READ, Kind.WRITE, Kind.DUMMY_READ, Kind.DUMMY_WRITE


@pytest.mark.parametrize(
    ("code", "registers", "expected"),
    [
        ((0xAD, 0x02, 0x20), {}, [(0x2002, READ, 0)]),
        ((0x8D, 0x07, 0x20), {}, [(0x2007, WRITE, 0)]),
        ((0xBD, 0x00, 0x20), {"x": 2}, [(0x2002, READ, 0)]),
        ((0xBD, 0xFE, 0x20), {"x": 4}, [(0x2002, DUMMY_READ, 1), (0x2102, READ, 0)]),
        ((0x9D, 0x00, 0x20), {"x": 7}, [(0x2007, DUMMY_READ, 1), (0x2007, WRITE, 0)]),
        ((0xEE, 0x07, 0x20), {}, [(0x2007, READ, 2), (0x2007, DUMMY_WRITE, 1), (0x2007, WRITE, 0)]),
        (
            (0xFE, 0x00, 0x20),
            {"x": 7},
            [(0x2007, DUMMY_READ, 3), (0x2007, READ, 2), (0x2007, DUMMY_WRITE, 1), (0x2007, WRITE, 0)],
        ),
        ((0xA1, 0x10), {"x": 0xF1, "zero_page": [(1, 0x16), (2, 0x40)]}, [(0x4016, READ, 0)]),
        ((0xB1, 0xFF), {"y": 1, "zero_page": [(0xFF, 0x15), (0, 0x40)]}, [(0x4016, READ, 0)]),
        ((0xA9, 0x20), {}, []),
        ((0xD0, 0x02), {}, []),
    ],
)
def test_touches(code, registers, expected):
    _, plan = run(code, **registers)
    assert list(plan.touches) == [Touch(*touch) for touch in expected]


@pytest.mark.parametrize(
    ("code", "p", "cycles"),
    [
        ((0xD0, 0x02), 0x26, 2),
        ((0xD0, 0x00), 0x24, 3),  # taken, to the next instruction
        ((0xD0, 0x80), 0x24, 4),
        ((0xB0, 0x02), 0x25, 3),
        ((0x50, 0x02), 0x64, 2),
        ((0x30, 0x02), 0xA4, 3),
    ],
)
def test_branches(code, p, cycles):
    nes, plan = run(code, p=p)
    assert plan.base_cycles == cycles
    assert nes.step_instruction() == cycles


def test_a_brk_is_no_interrupt():
    nes, plan = run((0x00,))
    nes.step_instruction()
    assert not plan.interrupted(nes)
