"""The whole mutable console as one NumPy record.

``NES`` nests one section a chip. A console owns one contiguous ``uint8``
buffer, ``mem``: the record's bytes first, then PRG ROM, then CHR ROM. ``nes``
is a view of the first ``NES.itemsize`` bytes, so RAM, cartridge RAM and ROM
are all reached as ``mem[offset]`` through page tables of offsets, and a save
state is a copy of the first ``STATE_BYTES`` bytes (working memory follows).

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
        "ppu_due",      # first cycle at whose end the PPU's or the board's lines may have moved
        "int_at",       # the boundary check runs when clk > int_at
        "nmi_at",       # cycle at whose end the NMI edge was seen, or NEVER
        "nmi_prev",     # NMI level at the last sample
        "irq_at",       # cycle at whose end the present assertion of IRQ was first seen, or NEVER
        "irq_from",     # the assertion before it: first and
        "irq_last",     # last cycle at whose end it was seen
        "nmi_poll", "irq_poll", "early_poll", "masked",  # what the last instruction before a stop polled
        "stop_always",  # 1 = the boundary check runs after every instruction
        "status_read",  # cycle of the last read of $4015, which leaves the external bus alone
        "open_bus",     # external data bus
        "int_bus",      # internal data bus (DMC DMA does not drive it)
    )
)

# ppu.py and its siblings write it.
PPU = _section(
    *_ints(
        "dots",         # dots run since power-on
        "scanline", "dot",  # of the last dot run
        "v", "t", "x", "w",
        "ctrl", "mask", "status",
        "nmi_line", "frame_done", "render",
        "whole_lines",      # 0: every line dot by dot, nothing put off by a bound, as the definition has it
        "odd_frame",
        "vbl_suppressed",   # $2002 was read one dot before VBL
        "oam_addr",
        "open_bus",         # its bits 0-4, 5 and 6-7 fade on their own: open_bus_until
        "writable_at",      # CPU cycle of the first accepted write of $2000, $2001, $2005, $2006
        # Changes on their way; unsettled = 1 while there may be any.
        "unsettled",
        "rendered",         # the last dot found rendering on
        "load_on", "load_delay",    # do the background shifters load; dots the mask's change takes to reach that
        "copy_delay",       # dots until a $2006 write copies t to v
        "data_before", "data_at",  # what the buffer held before its last load without rendering, and when that was
        "data_buffer", "read_delay", "read_step",  # $2007: buffer, dots until it loads, does v step then
        "mask_before", "mask_dots",  # the mask before the last write, and when that was
        "corrupt_armed", "corrupt_pending", "corrupt_row",
        # The memory bus and what came over it.
        "data_bus", "octal_latch", "ale", "latch_stale", "a12",
        "fetch_nt", "fetch_at", "fetch_lo", "fetch_hi", "spr_nt_addr", "spr_addr",
        "bg",               # background shift registers: ppu_render.py
        # Sprite evaluation (eval_), the model of the OAM data bus (bus_), the line-up of the line.
        "eval_dot", "eval_n", "eval_m", "eval_found", "eval_room", "eval_copying", "eval_full", "eval_done",
        "eval_byte", "eval_zero", "eval_first", "eval_start",
        "oam_bus", "bus_n", "bus_m", "bus_room", "bus_done", "bus_inside", "bus_after",
        "bus_late",         # 1 + the line that the bus machine still has to follow, or 0
        "spr_count", "spr_zero",
    ),
    ("open_bus_until", I8, (3,)),
    ("spr_counter", I8, (8,)),
    ("spr_pixels", I8, (8,)),
    ("spr_lo", "u1", (8,)),
    ("spr_hi", "u1", (8,)),
    ("oam2", "u1", (32,)),
    ("bus_oam2", "u1", (32,)),
    ("oam", "u1", (256,)),
    ("palette", "u1", (32,)),
    ("frame", "u2", (240 * 256,)),
)

# apu.py, apu_channels.py and dmc.py write it. "_at": the CPU cycle in which it happens, or NEVER.
APU = _section(
    *_ints(
        "cycle",        # last CPU cycle begun
        "due",          # the next cycle in which anything happens
        "control_at",   # the next cycle with work for the frame counter or after a register write
        "touched_at",   # the cycle after a register write
        "irq_line",     # frame counter or DMC
        "mute",         # channels kept from the mixer: 1 and 2 pulses, 4 triangle, 8 noise, 16 DMC
        "hardware",     # the sound of a console where the recorded reference has another
        # Frame counter.
        "fc_mode", "fc_inhibit", "fc_step",
        "fc_zero",      # the cycle from which the sequence counts
        "fc_at",        # the next step
        "fc_reset_at", "fc_next_mode", "fc_written",  # a $4017 write on its way; the last value written
        "fc_flag", "fc_clear_at",   # $4015 bit 6; when a read of $4015 takes it away
        "fc_irq",
        # Triangle.
        "tri_period", "tri_step",
        "tri_at",       # next clock of its sequencer; while the period is below 2, how far off that stood
        "lin_count", "lin_reload_value", "lin_control", "lin_reload",
        # Noise.
        "noise_shift", "noise_mode", "noise_rate", "noise_at",
        # DMC; what it does at the end of a cycle has that cycle's number.
        "dmc_irq", "dmc_irq_enable", "dmc_loop", "dmc_rate",
        "dmc_start", "dmc_length",      # $4012, $4013
        "dmc_addr", "dmc_left",         # memory reader
        "dmc_buffer", "dmc_full",
        "dmc_shift", "dmc_bits", "dmc_silent", "dmc_level",
        "dmc_enabled", "dmc_target",    # $4015 bit 4 as the DMA sees it and as last written
        "dmc_request",                  # a byte is wanted: read by dma.py;
        "dmc_load",                     # by a sample that $4015 has just started in silence
        "dmc_stop_armed",               # the aborted DMA of a one-byte sample: due at the byte's end;
        "dmc_stopping",                 # the one cycle it has to start, or 0
        "dmc_got",                      # cycle of the last fetch
        "dmc_clock_at", "dmc_load_at", "dmc_apply_at", "dmc_stop_at",
        "dmc_at",                       # the first of these four
    ),
    # Pulse 1, pulse 2, triangle, noise. A halt flag or a count loaded by a write waits for the next cycle.
    ("len_enabled", I8, (4,)),
    ("len_count", I8, (4,)),
    ("len_halt", I8, (4,)),
    ("len_next_halt", I8, (4,)),
    ("len_load", I8, (4,)),
    ("len_before", I8, (4,)),
    # Pulse 1, pulse 2, (unused), noise.
    ("env_start", I8, (4,)),
    ("env_loop", I8, (4,)),
    ("env_constant", I8, (4,)),
    ("env_period", I8, (4,)),
    ("env_divider", I8, (4,)),
    ("env_decay", I8, (4,)),
    # Pulse 1, pulse 2.
    ("pulse_duty", I8, (2,)),
    ("pulse_step", I8, (2,)),
    ("pulse_period", I8, (2,)),
    ("pulse_at", I8, (2,)),     # next clock of the sequencer
    ("sweep_enabled", I8, (2,)),
    ("sweep_period", I8, (2,)),
    ("sweep_negate", I8, (2,)),
    ("sweep_shift", I8, (2,)),
    ("sweep_reload", I8, (2,)),
    ("sweep_divider", I8, (2,)),
)

# audio.py writes it, except ``enabled`` (0: no sample is stored, everything else is the same).
AUDIO = _section(
    *_ints(
        "count",        # samples in ``out`` that nobody has taken yet
        "enabled",
        "sample_at",    # the CPU cycle that completes the present output sample
        "first",        # the sample's first cycle,
        "pattern",      # and which row of audio.PHASE it follows
        "ring_at", "dropped",
    ),
    ("phase", "f8"),    # of the sample's first cycle
    ("held", "f4"),     # the mixer's level
    ("integrator", "f4"),
    ("input", "f4"), ("high1", "f4"), ("high2", "f4"), ("low", "f4"),   # filters
    ("ring", "f4", (288,)),
    ("out", "i2", (4096,)),
)

# dma.py writes it; a write of $4014 sets oam_page and oam_pending.
DMA = _section(
    *_ints(
        "oam_page", "oam_pending",
        "oam_active", "oam_halt", "oam_aligned", "oam_index", "oam_byte",
        "dmc_active", "dmc_halt",
        "in_dmc",       # 1 = the internal data bus does not follow the external one
    ),
)

# pads.py writes it.
PADS = _section(
    *_ints(
        "every_read",       # 1: each read cycle clocks a port, as on the first Famicoms
        "strobe",           # level of OUT0 as the pads see it
        "write_value",      # value written to $4016, not yet at the pads
        "write_pending",    # cycle at whose start it arrives, or NEVER
    ),
    ("buttons", I8, (2,)),
    ("shift", I8, (2,)),
    ("read_at", I8, (2,)),      # cycle of the last read of the port
    ("bit", I8, (2,)),          # what it returned
)

# mappers/ write it. Page tables hold offsets into ``mem`` that are added to the full address.
CART = _section(
    *_ints(
        "board", "submapper",
        "prg_off", "prg_size", "chr_off", "chr_size", "chr_is_ram",
        "prg_ram_off", "prg_ram_size",
        "irq_line",
        "a12_watch",    # the board counts rises of PPU A12: 1 filtered, 2 all
        "has_audio",
        "revision",     # of the mapper chip: boards.py
        "bus_conflict",  # 1 = a register write is ANDed with the ROM byte under it
        "mirroring",    # soldered or power-on nametable layout: banking.py
        "a12_low_at",   # M2 falling edges passed when PPU A12 last fell
    ),
    ("reg", I8, (32,)),
    ("cpu_page", I8, (32,)),
    ("cpu_wpage", I8, (32,)),
    ("ppu_page", I8, (16,)),
    ("ppu_wok", "u1", (16,)),
)

# Working memory of functions that leave nothing in it; not part of a state. ppu_line.py and ppu_next.py use it.
SCRATCH = _section(
    ("rows", I8, (36,)),
    ("over", "u1", (272,)),
    ("colours", "u2", (32,)),
    # For each byte, two pixels of the background, their colours, the left one in the low half.
    ("pairs", "u4", (256,)),
    # What colours and pairs were made for: palette RAM, and the mask plus 1.
    ("made_palette", "u1", (32,)),
    ("made_mask", I8),
    # For each line, with this OAM and this height of sprites: twice the number found (and 1 if
    # the last one's tile is odd), and how often they raise A12 if they are tall; ppu_next.py.
    ("found", "u1", (240,)),
    ("rises", "u1", (240,)),
    ("found_oam", "u1", (256,)),
    ("found_height", I8),
    ("status_quiet", I8),   # dot count before which reads of $2002 need not run the PPU
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
    ("scratch", SCRATCH),
)

NEVER = 1 << 62

# A state is the record up to here.
STATE_BYTES = NES.fields["scratch"][1]


def offset_of(field):
    """Offset in bytes of a top-level array field of ``NES`` (``ram``, ``prg_ram`` ...)."""
    return NES.fields[field][1]
