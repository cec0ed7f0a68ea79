"""Drives the APU with registers and no CPU: a script of accesses, a DMA unit reduced to the DMC's fetches."""

import numpy as np

from pynes_ref.core.apu import apu_end, apu_read_status, apu_run, apu_write, power_on_apu
from pynes_ref.core.dmc import dmc_deliver
from pynes_ref.core.jit import entry
from pynes_ref.core.state import NES

READ, WRITE = 1, 2
STATUS, FETCH, HALT, IRQ = range(4)


def new_console():
    """(nes, mem) after power-on, with sound."""
    mem = np.zeros(NES.itemsize, np.uint8)
    nes = mem.view(NES)[0]
    power_on_apu(nes)
    return nes, mem


@entry
def _play(nes, mem, first, last, kind, addr, value, stops, log):
    """Cycles ``first`` to ``last``. In cycle n: apu_end(n) where stops[n] & 1, apu_run(n) where stops[n] & 2.

    The end of a cycle is always run where a DMC fetch may follow.
    """
    apu = nes.apu
    count = 0
    active = False
    halted = False
    for n in range(first, last + 1):
        if stops[n] & 2:
            apu_run(nes, mem, n)
        wanted = apu.dmc_request != 0 and (apu.dmc_enabled != 0 or apu.dmc_stopping != 0)
        if kind[n] == WRITE:
            apu_run(nes, mem, n)
            apu_write(nes, mem, addr[n], value[n], n)
        elif kind[n] == READ:
            apu_run(nes, mem, n)
            log[count] = (n, STATUS, apu_read_status(nes, mem))
            count += 1
        elif wanted:
            apu_run(nes, mem, n)
            if not active:
                active = True
                halted = True
            if n & 1 == 0 and not halted:
                active = False
                log[count] = (n, FETCH, apu.dmc_addr)
                dmc_deliver(nes, n, (apu.dmc_addr * 167 >> 3) & 0xFF)
            else:
                log[count] = (n, HALT, 0)
                halted = halted and n & 1 == 1
            count += 1
        if not wanted:
            active = False
        if stops[n] & 1 or apu.dmc_at <= n:
            apu_end(nes, mem, n)
    apu_run(nes, mem, last)
    return count


class Player:
    """A console's APU and a script: ``at[cycle] = (register, value)`` writes, ``at[cycle] = None`` reads $4015."""

    def __init__(self, last):
        self.nes, self.mem = new_console()
        self.at = {}
        self.last = last
        self.stops = np.zeros(last + 1, np.int64)

    def play(self, upto=None):
        """Run to a cycle (the last one); returns [(cycle, what, value)]."""
        upto = self.last if upto is None else upto
        kind, addr, value = (np.zeros(self.last + 1, np.int64) for _ in range(3))
        for cycle, access in self.at.items():
            kind[cycle] = READ if access is None else WRITE
            if access is not None:
                addr[cycle], value[cycle] = access
        log = np.zeros((2 * self.last, 3), np.int64)
        count = _play(self.nes, self.mem, int(self.nes["apu"]["cycle"]) + 1, upto, kind, addr, value, self.stops, log)
        return [tuple(int(x) for x in row) for row in log[:count]]

    def samples(self):
        audio = self.nes["audio"]
        return audio["out"][: int(audio["count"])].copy()
