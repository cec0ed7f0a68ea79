"""The whole mutable console as one NumPy record.

``NES`` nests one section a chip. A console owns one contiguous ``uint8``
buffer, ``mem``: the record's bytes first, then PRG ROM, then CHR ROM. ``nes``
is a view of the first ``NES.itemsize`` bytes, so RAM, cartridge RAM and ROM
are all reached as ``mem[offset]`` through page tables of offsets, and a save
state is a copy of the first ``NES.itemsize`` bytes.

Scalars are ``int64`` (Numba mixes narrow unsigned types badly); arrays are as
narrow as the hardware. Only the module named beside a section writes it.
"""

import numpy as np

PRG_RAM_MAX = 32 * 1024
CHR_RAM_MAX = 32 * 1024

I8 = "i8"


def _section(*fields):
    return np.dtype(list(fields), align=True)


def _ints(*names):
    return [(name, I8) for name in names]


# cpu.py writes it; the clock fields are clock.py's.
CPU = _section(
    *_ints(
        "a", "x", "y", "s", "p", "pc",
        "jammed",       # 1 after a JAM opcode: no cycle passes any more
        "clk",          # CPU bus cycles since power-on; a cycle counts from its start
        "next_event",   # clock.py runs before the access of this cycle
        "int_at",       # the boundary check runs when clk > int_at
        "nmi_at",       # cycle at whose end the NMI edge was seen, or NEVER
        "nmi_prev",     # NMI level at the last sample
        "irq_at",       # cycle at whose end the IRQ line was first seen low, or NEVER
        "irq_end",      # last cycle at whose end it was still seen low
        "open_bus",     # external data bus
        "int_bus",      # internal data bus (not driven by DMC DMA)
        "sampled",      # last cycle whose end has been sampled
        "frame_start",  # clk when the present frame began
        "frames",       # calls of run-frame finished
    )
)

# ppu.py and its siblings write it.
PPU = _section(
    *_ints(
        "dots",         # dots run since power-on
        "scanline", "dot",
        "v", "t", "x", "w",
        "ctrl", "mask", "status",
        "nmi_line", "frame_done", "render",
    ),
    ("oam", "u1", (256,)),
    ("palette", "u1", (32,)),
    ("frame", "u2", (240 * 256,)),
)

# apu.py, apu_channels.py and dmc.py write it.
APU = _section(
    *_ints("cycle", "irq_line"),
)

# audio.py writes it.
AUDIO = _section(
    *_ints("count", "enabled"),
    ("out", "i2", (4096,)),
)

# dma.py writes it; a write of $4014 sets oam_page and oam_pending.
DMA = _section(
    *_ints("oam_page", "oam_pending", "in_dmc"),
)

# pads.py writes it.
PADS = _section(
    *_ints(
        "strobe",           # level of OUT0 as the pads see it
        "write_value",      # value written to $4016, not yet at the pads
        "write_pending",    # cycle at whose start it arrives, or NEVER
    ),
    ("buttons", I8, (2,)),
    ("shift", I8, (2,)),
)

# mappers/ write it. Page tables hold offsets into ``mem`` that are added to the full address.
CART = _section(
    *_ints(
        "board", "submapper",
        "prg_off", "prg_size", "chr_off", "chr_size", "chr_is_ram",
        "prg_ram_off", "prg_ram_size",
        "irq_line", "a12_watch", "has_audio",
    ),
    ("reg", I8, (32,)),
    ("cpu_page", I8, (32,)),
    ("cpu_wpage", I8, (32,)),
    ("ppu_page", I8, (16,)),
    ("ppu_wok", "u1", (16,)),
)

NES = _section(
    ("cpu", CPU),
    ("ppu", PPU),
    ("apu", APU),
    ("audio", AUDIO),
    ("dma", DMA),
    ("pads", PADS),
    ("cart", CART),
    ("ram", "u1", (2048,)),
    ("vram", "u1", (4096,)),
    ("prg_ram", "u1", (PRG_RAM_MAX,)),
    ("chr_ram", "u1", (CHR_RAM_MAX,)),
)

NEVER = 1 << 62


def offset_of(field):
    """Offset in bytes of a top-level array field of ``NES`` (``ram``, ``prg_ram`` ...)."""
    return NES.fields[field][1]
