"""A console from a cartridge: the buffer, the cartridge section and its page tables.

Plain NumPy, once per console. ``mem`` is one uint8 buffer: the record, then PRG
ROM, then CHR ROM; ``nes`` is the record viewed in it.
"""

import numpy as np

from .apu import power_on_apu
from .mappers.banking import CHR_RAM_OFF, NAMETABLES, NO_PAGE, PRG_RAM_OFF, RAM_OFF, SINGLE_A, VRAM_OFF
from .mappers.boards import AXROM, MMC1, MMC1_FIXED_PRG, MMC3, MMC3_MC_ACC, MMC6, UXROM
from .mappers.m001_mmc1 import CONTROL, EMPTY, LAST_WRITE, LONG_AGO, SHIFT
from .mappers.m004_mmc3 import PROTECT
from .ppu import power_on_ppu
from .state import NES, NEVER

RECORD = NES.itemsize
TRAINER_AT = 0x1000  # $7000 in the PRG RAM window


def make_console(cart):
    """(mem, nes) for a supported ``ines.Cartridge``: all memory zero, the board at power-on.

    ``mem`` owns the bytes; keep it as long as ``nes`` lives.
    """
    row = cart.row
    if row is None or cart.unsupported:
        raise ValueError(cart.unsupported[0])
    mem = np.zeros(RECORD + cart.prg_size + cart.chr_size, np.uint8)
    nes = mem[:RECORD].view(NES)[0]
    prg_end = RECORD + cart.prg_size
    mem[RECORD:prg_end] = np.frombuffer(cart.prg, np.uint8)
    if cart.chr_size:
        mem[prg_end:] = np.frombuffer(cart.chr, np.uint8)
    if len(cart.trainer):
        nes["prg_ram"][TRAINER_AT:TRAINER_AT + len(cart.trainer)] = np.frombuffer(cart.trainer, np.uint8)

    slot = nes["cart"]
    slot["board"] = row.chip
    slot["submapper"] = cart.submapper
    slot["revision"] = row.revision
    slot["bus_conflict"] = row.bus_conflict
    slot["mirroring"] = cart.header_mirroring
    slot["prg_off"] = RECORD
    slot["prg_size"] = cart.prg_size
    slot["chr_is_ram"] = cart.chr_size == 0
    slot["chr_off"] = prg_end if cart.chr_size else CHR_RAM_OFF
    slot["chr_size"] = cart.chr_size or cart.chr_ram_size
    slot["prg_ram_off"] = PRG_RAM_OFF
    slot["prg_ram_size"] = cart.prg_ram_size
    _power_on(slot)
    _power_on_cpu(nes)
    power_on_ppu(nes["ppu"])
    power_on_apu(nes)
    return mem, nes


def _power_on_cpu(nes):
    """Registers before the reset sequence, nothing pending. https://www.nesdev.org/wiki/CPU_power_up_state"""
    cpu = nes["cpu"]
    cpu["s"] = 0xFD
    cpu["p"] = 0x24
    nes["pads"]["write_pending"] = NEVER


def _power_on(slot):
    """The page tables and registers that ``dispatch.mapper_reset(nes, mem, 1)`` gives too (a test compares them)."""
    chip = int(slot["board"])
    cpu_page, cpu_wpage, ppu_page = slot["cpu_page"], slot["cpu_wpage"], slot["ppu_page"]
    cpu_page[:] = cpu_wpage[:] = NO_PAGE
    for window in range(4):
        cpu_page[window] = cpu_wpage[window] = RAM_OFF - window * 2048

    ram_size = int(slot["prg_ram_size"])
    if ram_size and not (chip == MMC3 and slot["revision"] == MMC6):
        for i in range(4):
            cpu_page[12 + i] = cpu_wpage[12 + i] = slot["prg_ram_off"] + i * 2048 % ram_size - (12 + i) * 2048

    banks = int(slot["prg_size"]) // 8192
    shown = [0, 1, 2, 3]
    if chip in (MMC1, UXROM) and not (chip == MMC1 and slot["revision"] == MMC1_FIXED_PRG):
        last = max(banks // 2, 1) - 1
        if chip == MMC1:
            last = min(last, 15)
        shown[2:] = last * 2, last * 2 + 1
    elif chip == MMC3:
        shown = [0, 0, banks - 2, banks - 1]
    for i, bank in enumerate(shown):
        cpu_page[16 + i * 4:20 + i * 4] = slot["prg_off"] + bank % banks * 8192 - (0x8000 + i * 8192)

    chr_banks = int(slot["chr_size"]) // 1024
    for i, bank in enumerate([0, 1, 0, 1, 0, 0, 0, 0] if chip == MMC3 else range(8)):
        ppu_page[i] = slot["chr_off"] + bank % chr_banks * 1024 - i * 1024
    slot["ppu_wok"][:8] = slot["chr_is_ram"]
    layout = int(slot["mirroring"])
    if chip == AXROM:
        layout = SINGLE_A
    for i in range(8):
        ppu_page[8 + i] = VRAM_OFF + NAMETABLES[layout, i & 3] * 1024 - (8 + i) * 1024
    slot["ppu_wok"][8:] = 1

    if chip == MMC1:
        slot["reg"][CONTROL] = 0x0E if layout else 0x0F
        slot["reg"][SHIFT] = EMPTY
        slot["reg"][LAST_WRITE] = LONG_AGO
    elif chip == MMC3:
        slot["a12_watch"] = 2 if slot["revision"] == MMC3_MC_ACC else 1
        if slot["revision"] != MMC6:
            slot["reg"][PROTECT] = 0x80
