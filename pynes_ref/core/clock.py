"""Time: how far PPU, APU and board must have run, and when interrupts are seen.

One clock, the CPU bus cycle number. In cycle ``n`` the CPU's access finds
3n + 1 PPU dots done and the APU's cycle ``n`` begun; at the cycle's end, with
3n + 2 dots and the DMC's half done, NMI and IRQ are sampled (abi/ABI.md,
"Clock"). Nothing runs before it can be seen: events.py
works out which cycle must not pass unnoticed.
https://www.nesdev.org/wiki/CPU_interrupts
"""

from .apu import apu_end, apu_run
from .jit import outline
from .ppu import ppu_run
from .state import NEVER


@outline
def sample(nes, n):
    """Sample NMI and IRQ at the end of cycle ``n``."""
    cpu = nes.cpu
    level = nes.ppu.nmi_line
    if level and not cpu.nmi_prev and n < cpu.nmi_at:
        cpu.nmi_at = n
    cpu.nmi_prev = level
    if nes.apu.irq_line | nes.cart.irq_line:
        if cpu.irq_at == NEVER:
            cpu.irq_at = n
    elif cpu.irq_at != NEVER:
        # An instruction that ends with the access that dropped the line has
        # already polled it one cycle earlier.
        if cpu.irq_at < n:
            cpu.irq_from = cpu.irq_at
            cpu.irq_last = n - 1
        cpu.irq_at = NEVER


@outline
def settle(nes, mem, n):
    """Like ``cycle_end`` for a cycle without access: the PPU runs only if its lines can have moved (``ppu_due``)."""
    if n >= nes.cpu.ppu_due:
        ppu_run(nes, mem, 3 * n + 2)
    apu_end(nes, mem, n)
    sample(nes, n)


@outline
def cycle_begin(nes, mem, n):
    """Bring everything to the access point of cycle ``n``."""
    nes.cpu.clk = n
    ppu_run(nes, mem, 3 * n + 1)
    apu_run(nes, mem, n)


@outline
def cycle_end(nes, mem, n):
    """Bring everything to the end of cycle ``n`` and sample the interrupt lines."""
    ppu_run(nes, mem, 3 * n + 2)
    apu_run(nes, mem, n)
    apu_end(nes, mem, n)
    sample(nes, n)
