"""Whether compiled code can run a record that came from outside.

``Console.load_state`` asks, because anybody can make a save state with right
checksums. The compiled core checks no index: a field that indexes memory or
bounds a loop must be in the range that it has in every true state. A jump in
time would make a chip catch up for ever, so times must agree with each other.
Fields that can only give a wrong picture or sound are not looked at further.

Every integer of the record is in exactly one table here (a test counts them).
A console rests at the end of a CPU cycle, with everything brought up to it.
"""

import numpy as np

from .core.apu import FC_CYCLES
from .core.audio import DROPPED, OUT, PHASE_CYCLES, RING
from .core.dmc import RATES
from .core.mappers.banking import CHR_UNIT, CPU_WINDOW, NO_PAGE, PRG_RAM_OFF, VRAM_OFF
from .core.mappers.boards import MMC1
from .core.mappers.m001_mmc1 import LAST_WRITE, LONG_AGO
from .core.state import NES, NEVER, PRG_RAM_MAX, STATE_BYTES

MOST_CYCLES = 1 << 50
"""Twenty years; three times as many dots are far from NEVER."""
LONGEST = 40_000  # CPU cycles: no counter takes longer, and a silent channel is not left alone for as long

STATE = np.dtype({
    "names": [name for name in NES.names if NES.fields[name][1] < STATE_BYTES],
    "formats": [NES.fields[name][0] for name in NES.names if NES.fields[name][1] < STATE_BYTES],
    "offsets": [NES.fields[name][1] for name in NES.names if NES.fields[name][1] < STATE_BYTES],
    "itemsize": STATE_BYTES,
})  # fmt: skip
"""The record without its working memory."""

# (low, high, fields).
RANGES = [
    (0, 1, """cpu.jammed cpu.nmi_prev cpu.stop_always
        ppu.w ppu.nmi_line ppu.frame_done ppu.render ppu.whole_lines ppu.odd_frame ppu.vbl_suppressed ppu.unsettled
        ppu.rendered ppu.load_on ppu.read_step ppu.corrupt_armed ppu.corrupt_pending ppu.ale ppu.latch_stale ppu.a12
        ppu.eval_copying ppu.eval_full ppu.eval_done ppu.eval_zero ppu.eval_first ppu.bus_done ppu.bus_inside
        ppu.spr_zero
        apu.irq_line apu.hardware apu.fc_mode apu.fc_inhibit apu.fc_next_mode apu.fc_flag apu.fc_irq apu.lin_control
        apu.lin_reload apu.noise_mode apu.dmc_irq apu.dmc_irq_enable apu.dmc_loop apu.dmc_full apu.dmc_silent
        apu.dmc_enabled apu.dmc_target apu.dmc_request apu.dmc_load apu.dmc_stop_armed apu.len_enabled apu.len_halt
        apu.len_next_halt apu.env_start apu.env_loop apu.env_constant apu.sweep_enabled apu.sweep_negate
        apu.sweep_reload
        audio.enabled
        dma.oam_pending dma.oam_halt dma.oam_aligned dma.dmc_active dma.dmc_halt
        pads.every_read pads.strobe pads.bit
        cart.irq_line"""),
    (0, 0, "dma.oam_active dma.in_dmc"),  # a DMA ends within the instruction that it halts
    (0, 3, "ppu.fetch_at ppu.eval_m ppu.bus_m ppu.bus_after apu.pulse_duty"),
    (0, 4, "cpu.masked ppu.load_delay ppu.copy_delay"),
    (0, 5, "ppu.read_delay apu.fc_step"),
    (0, 7, "ppu.x apu.pulse_step apu.sweep_period apu.sweep_shift apu.sweep_divider"),
    (0, 8, "ppu.eval_found ppu.spr_count"),
    (1, 8, "apu.dmc_bits"),
    (0, 15, "apu.noise_rate apu.env_period apu.env_divider apu.env_decay"),
    (0, 31, "ppu.corrupt_row apu.mute apu.tri_step"),
    (0, 63, "ppu.eval_n ppu.eval_room ppu.bus_n ppu.bus_room"),
    (0, 127, "apu.lin_count apu.lin_reload_value apu.dmc_level"),
    (0, 240, "ppu.bus_late"),
    (0, 0xFF, """cpu.a cpu.x cpu.y cpu.s cpu.p cpu.open_bus cpu.int_bus
        ppu.ctrl ppu.mask ppu.status ppu.oam_addr ppu.open_bus ppu.data_before ppu.data_buffer ppu.mask_before
        ppu.data_bus ppu.octal_latch ppu.fetch_nt ppu.fetch_lo ppu.fetch_hi ppu.eval_byte ppu.eval_start ppu.oam_bus
        apu.fc_written apu.dmc_buffer apu.dmc_shift apu.len_count apu.len_load apu.len_before
        dma.oam_page dma.oam_byte pads.write_value pads.buttons pads.shift"""),
    (0, 0x100, "dma.oam_index"),
    (0, 0x1FF, "ppu.spr_counter"),
    (0, 0x7FF, "apu.tri_period apu.pulse_period"),
    (0, 0xFF1, "apu.dmc_length apu.dmc_left"),
    (0, 0x1FFF, "ppu.spr_addr"),
    (0x2000, 0x2FFF, "ppu.spr_nt_addr"),
    (0, 0x7FFF, "ppu.v ppu.t apu.noise_shift"),
    (0xC000, 0xFFFF, "apu.dmc_start"),
    (0x8000, 0xFFFF, "apu.dmc_addr"),
    (0, 0xFFFF, "cpu.pc"),
    (0, 261, "ppu.scanline"),
    (-1, 340, "ppu.dot ppu.eval_dot"),
    (min(RATES), max(RATES), "apu.dmc_rate"),
    (0, OUT, "audio.count"),
    (0, RING - 1, "audio.ring_at"),
    (0, DROPPED, "audio.dropped"),
    (0, len(PHASE_CYCLES) - 1, "audio.pattern"),
    (0, MOST_CYCLES, "cpu.clk"),
    # Times that are only compared with others, and times worked out anew before they are used.
    (-1, NEVER, """cpu.next_event cpu.ppu_due cpu.int_at cpu.nmi_at cpu.irq_at cpu.irq_from cpu.irq_last cpu.nmi_poll
        cpu.irq_poll cpu.early_poll cpu.status_read ppu.writable_at ppu.data_at ppu.mask_dots ppu.open_bus_until
        apu.dmc_got pads.write_pending pads.read_at cart.a12_low_at"""),
]

# The same for times, counted from ``cpu.clk``.
TIMES = [
    (0, 0, "apu.cycle"),
    (1, LONGEST, "apu.due apu.control_at apu.fc_at apu.dmc_clock_at apu.dmc_at audio.sample_at"),
    (-LONGEST, 1, "apu.fc_zero audio.first"),
    (-LONGEST, LONGEST, "apu.pulse_at apu.noise_at"),
]
TIMES_OR_NEVER = [
    (1, LONGEST, """apu.touched_at apu.fc_reset_at apu.fc_clear_at apu.dmc_load_at apu.dmc_apply_at
        apu.dmc_stop_at"""),
]

# What power-on decides for good.
SAME = """board submapper prg_off prg_size chr_off chr_size chr_is_ram prg_ram_off prg_ram_size a12_watch has_audio
    revision bus_conflict mirroring ppu_wok""".split()

# Any value is right, or a rule of its own below says which.
OTHERS = """ppu.bg ppu.spr_pixels ppu.dots apu.tri_at apu.dmc_stopping cart.reg cart.cpu_page cart.cpu_wpage
    cart.ppu_page""".split()


def _words(name):
    """Which words of eight bytes a field is, as a list."""
    section, field = name.split(".")
    kind, at = STATE.fields[section]
    inner, within = kind.fields[field][:2]
    first = (at + within) // 8
    return list(range(first, first + inner.itemsize // 8))


def _table(rows):
    """(words, lows, highs, names) of rows (low, high, fields)."""
    found = [(word, low, high, name) for low, high, names in rows for name in names.split() for word in _words(name)]
    words, lows, highs, names = zip(*found, strict=True)
    return np.array(words), np.array(lows), np.array(highs), names


_RANGES, _TIMES, _OR_NEVER = _table(RANGES), _table(TIMES), _table(TIMES_OR_NEVER)


def fault(raw: bytes, cart: np.void) -> str | None:
    """What is wrong with a record in a few words, or None.

    raw: ``STATE_BYTES`` bytes. cart: the section ``cart`` of a console with the same cartridge.
    """
    words = np.frombuffer(raw, np.int64, STATE_BYTES // 8)
    nes = np.frombuffer(raw, STATE)[0]
    wrong = _outside(words, *_RANGES)
    if wrong:
        return wrong
    clk = int(nes["cpu"]["clk"])
    return (
        _outside(words, *_TIMES, since=clk)
        or _outside(words, *_OR_NEVER, since=clk, never=True)
        or _wrong_cartridge(nes["cart"], cart)
        or _wrong_clock(clk, nes["ppu"], nes["apu"], nes["audio"])
        or _wrong_sound(nes["audio"])
        or ("ppu.frame has no such colours" if nes["ppu"]["frame"].max() > 0x1FF else None)
    )


def _outside(words, index, low, high, names, since=0, never=False):
    values = words[index]
    right = (values >= low + since) & (values <= high + since)
    if never:
        right |= values == NEVER
    if right.all():
        return None
    first = int(right.argmin())
    return f"{names[first]} is {values[first]}"


def _wrong_cartridge(slot, cart):
    for name in SAME:
        if not np.array_equal(slot[name], cart[name]):
            return f"cart.{name} is not this cartridge's"
    ram, prg = slice(12, 16), slice(16, 32)
    prg_off, prg_size, chr_off, chr_size = (int(cart[n]) for n in ("prg_off", "prg_size", "chr_off", "chr_size"))
    in_ram = PRG_RAM_OFF, PRG_RAM_MAX
    for name, width, windows, (start, size), may_lack in (
        ("cpu_page", CPU_WINDOW, ram, in_ram, True),
        ("cpu_wpage", CPU_WINDOW, ram, in_ram, True),
        ("cpu_page", CPU_WINDOW, prg, (prg_off, prg_size), False),
        ("ppu_page", CHR_UNIT, slice(0, 8), (chr_off, chr_size), False),
        ("ppu_page", CHR_UNIT, slice(8, 16), (VRAM_OFF, 4 * CHR_UNIT), False),
    ):
        page = slot[name][windows]
        # Compared without adding, which a made-up page could carry over the end of int64.
        low = start - np.arange(windows.start, windows.stop) * width
        right = (page >= low) & (page <= low + size - width)
        if may_lack:
            right |= page == NO_PAGE
        if not right.all():
            return f"cart.{name} leads out of the cartridge"
    for name, windows in (("cpu_page", slice(0, 12)), ("cpu_wpage", slice(0, 12)), ("cpu_wpage", prg)):
        if not np.array_equal(slot[name][windows], cart[name][windows]):
            return f"cart.{name} leads elsewhere"
    reg = slot["reg"].copy()
    if slot["board"] == MMC1:
        if not LONG_AGO <= reg[LAST_WRITE] <= NEVER:
            return f"cart.reg has {reg[LAST_WRITE]}"
        reg[LAST_WRITE] = 0
    return None if reg.min() >= 0 and reg.max() <= 0xFF else "cart.reg holds no bytes"


def _wrong_clock(clk, ppu, apu, audio):
    """Times in which something happens: what looks only at the next one must not find another before it."""
    number = {name: int(apu[name]) for name in _CLOCK}
    step = number["fc_step"]
    due, control = number["due"], number["control_at"]
    sample_at = int(audio["sample_at"])
    rules = (
        ("ppu.dots", 1 <= int(ppu["dots"]) - 3 * clk <= 2),
        ("apu.fc_step", number["fc_mode"] == 0 or step <= 4),
        ("apu.fc_at", number["fc_at"] == number["fc_zero"] + FC_CYCLES[6 * number["fc_mode"] + step]),
        ("apu.control_at", control == min(number[n] for n in ("fc_at", "fc_reset_at", "fc_clear_at", "touched_at"))),
        ("apu.dmc_rate", number["dmc_rate"] in RATES),
        ("apu.dmc_stopping", number["dmc_stop_at"] == (number["dmc_stopping"] or NEVER)),
        ("apu.dmc_at",
         number["dmc_at"] == min(number[n] for n in ("dmc_clock_at", "dmc_load_at", "dmc_apply_at", "dmc_stop_at"))),
        ("audio.sample_at", sample_at == int(audio["first"]) + PHASE_CYCLES[audio["pattern"]] - 1),
        ("apu.due", due <= min(control, sample_at, number["dmc_at"] + 1)),
        ("apu.tri_at", _near(number["tri_at"], clk if number["tri_period"] >= 2 else 0)),
    )
    for name, right in rules:
        if not right:
            return f"{name} does not fit the rest"
    if control > clk + 1:  # before anything else it brings the channels up to date
        for name, at in _audible(apu):
            if at < due:
                return f"{name} does not fit the rest"
    return None


_CLOCK = """due control_at touched_at fc_mode fc_step fc_zero fc_at fc_reset_at fc_clear_at dmc_rate dmc_stopping
    dmc_clock_at dmc_load_at dmc_apply_at dmc_stop_at dmc_at tri_period tri_at""".split()


def _near(at, clk):
    return clk - LONGEST <= at <= clk + LONGEST


def _audible(apu):
    """(field, cycle of its next clock) of each channel whose sequencer is followed clock by clock."""
    length, constant, level, decay = (apu[n].tolist() for n in ("len_count", "env_constant", "env_period", "env_decay"))
    for i, at in enumerate(apu["pulse_at"].tolist()):
        period = int(apu["pulse_period"][i])
        change = period >> int(apu["sweep_shift"][i])
        target = period - change - (1 - i) if apu["sweep_negate"][i] else period + change
        muted = period < 8 or target > 0x7FF or (target < 0 and not apu["hardware"])
        if length[i] and not muted and (level[i] if constant[i] else decay[i]):
            yield "apu.pulse_at", at
    if apu["tri_period"] >= 2 and length[2] and apu["lin_count"]:
        yield "apu.tri_at", int(apu["tri_at"])
    if length[3] and (level[3] if constant[3] else decay[3]):
        yield "apu.noise_at", int(apu["noise_at"])


def _wrong_sound(audio):
    if not 0 <= audio["phase"] < 1:
        return "audio.phase is no phase"
    for name in ("held", "integrator", "input", "high1", "high2", "low", "ring"):
        if not np.isfinite(audio[name]).all():
            return f"audio.{name} is no number"
    return None
