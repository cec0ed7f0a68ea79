"""An explanation as text: for the terminal, and as ``explain.txt``."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.explain import KERNEL_CYCLES, Explanation
from grader.explain_guess import several
from grader.explain_pictures import close_place, frame_rgb
from grader.explain_watch import Row, Watched, collapsed
from grader.replay import BUTTONS

SHOWN_ROWS, SHOWN_STEPS = 16, 14
SHOWN_SAMPLES = 6


def headline(result: Explanation) -> list[str]:
    """The facts in a few sentences."""
    found = result.parting
    frames = several(found.frames, "frame")
    if found.equal:
        return [f"No difference: {frames}, every pixel and every one of {found.sound[0].size} samples is equal."]
    lines = []
    if found.first_frame is None:
        lines.append(f"The picture is equal in all of {frames}.")
    else:
        y, x = result.region.first
        ref, cand = (int(p.reshape(240, 256)[y, x]) for p in result.pair)
        lines.append(
            f"The picture first differs in frame {found.first_frame}, at scanline {y}, x {x}: "
            f"the reference has ${ref:02X}, the candidate ${cand:02X} "
            f"({several(found.first_pixels, 'pixel')} in that frame)."
        )
        if found.first_diverging is None:
            lines.append(f"By the grader's rule (more than 8 pixels of another colour) none of {frames} diverges.")
        elif found.first_diverging == found.first_frame:
            lines.append("By the grader's rule (more than 8 pixels of another colour) it diverges in that frame, too.")
        else:
            lines.append(
                f"By the grader's rule (more than 8 pixels of another colour) it diverges "
                f"from frame {found.first_diverging} on;"
                f" look there with --from {found.first_diverging}."
            )
        lines.append(
            f"Of {frames} compared {found.differing_frames} differ, {found.diverging_frames} by the grader's rule."
        )
        lines += filter(None, [buttons_line(result)])
    if found.first_sample is None:
        lines.append(
            f"The sound is the same: all of {min(s.size for s in found.sound)} samples"
            + (", but not call by call." if found.first_counts is not None else ".")
        )
    else:
        at = found.first_sample
        values = [f"{int(s[at])}" if at < s.size else "missing" for s in found.sound]
        lines.append(
            f"The sound first differs at sample {at}, {at / found.rates[0]:.3f} s, in call {found.sample_call}: "
            f"the reference has {values[0]}, the candidate {values[1]}; "
            + (
                "nowhere by more than 1."
                if found.only_rounding
                else f"by more than 1 from sample {found.far_sample} on, by {found.largest} at most."
            )
        )
    return lines


def buttons_line(result: Explanation) -> str:
    """What is held at the first difference, and since when."""
    keys, at = result.job.keys, result.parting.first_frame
    if at is None or not any(keys[: at + 1]):
        return ""
    since = at
    while since and keys[since - 1] == keys[at]:
        since -= 1
    names = " ".join(name for bit, name in enumerate(BUTTONS) if keys[at] >> bit & 1) or "no button"
    return f"Held in that frame: {names}, since frame {since}."


def witness_line(result: Explanation) -> str:
    """What the neighbourhood is of."""
    whose = {
        "both": "the picture of both",
        "reference": "the reference's picture",
        "candidate": "the candidate's picture",
        "neither": "neither picture: its own way may have parted from both before, so take this with care",
    }[result.witness]
    return f"As pynes_ref plays it; in frame {result.picture.frame} it shows {whose}."


def pixel_line(result: Explanation) -> str:
    """What the PPU is about to draw at the pixel in question."""
    parts = []
    tile = result.tile
    if tile is not None:
        parts.append(
            f"background tile ${tile.number:02X} of pattern table ${tile.pattern:04X}, nametable {tile.nametable} "
            f"column {tile.column} row {tile.row}, palette {tile.palette}"
        )
    if result.sprites:
        listed = ", ".join(str(n) for n in result.sprites[:8])
        parts.append(f"in the box of sprite {listed}{' ...' if len(result.sprites) > 8 else ''}")
    ppu = result.picture.console.ppu
    state = f"v ${ppu.v:04X}, t ${ppu.t:04X}, fine x {ppu.x}, PPUCTRL ${ppu.ctrl:02X}, PPUMASK ${ppu.mask:02X}"
    standing = f"at scanline {result.picture.line} dot {result.picture.dot}: {state}"
    return f"The pixel: {'; '.join(parts) or 'no rendering, or not to be told'}. The PPU stands {standing}."


def value_text(row: Row) -> str:
    """The values of a row's accesses: ``10 20 30 ... (x32)``."""
    known = ["--" if v is None else f"{v:02X}" for v in row.values]
    if row.count == 1:
        return known[0] if row.first.addr else ""
    if len(set(known)) == 1:
        return f"{known[0]} x{row.count}" if row.first.addr else f"x{row.count}"
    return " ".join(known[:8]) + (f" ... x{row.count}" if row.count > 8 else "")


def _register_table(watched: Watched, limit: int | None, subjects: frozenset[str] | None = None) -> Table:
    rows = [r for r in watched.rows() if subjects is None or r.first.subject in subjects or not r.first.subject]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, side in (("frame", "right"), ("line", "right"), ("dot", "right"), ("cycle", "right")):
        table.add_column(name, justify=side, no_wrap=True)
    for name in ("PC", "what", "register", "value"):
        table.add_column(name, no_wrap=True)
    table.add_column("meaning", overflow="fold")
    for row in rows if limit is None else rows[-limit:]:
        e = row.first
        style = "bold" if e.writes else "dim" if e.what.startswith("dummy") else ""
        table.add_row(
            str(e.frame), str(e.line), str(e.dot), str(e.cycle), f"{e.pc:04X}", e.what, e.name, value_text(row),
            Text(row.text), style=style,
        )  # fmt: skip
    return table


def _close(result: Explanation, console: Console) -> None:
    """A few pixels around the first that differs, two rows of pixels a line of text."""
    top, left = close_place(result.region.first)
    images = [frame_rgb(picture) for picture in result.pair]
    console.print(f"Scanlines {top} to {top + 23}, x {left} to {left + 31}: reference and candidate", style="dim")
    for y in range(top, top + 24, 2):
        line = Text()
        for image in images:
            for x in range(left, left + 32):
                upper, lower = ("#" + image[y + i, x].tobytes().hex() for i in (0, 1))
                line.append("\u2580", style=f"{upper} on {lower}")
            line.append("  ")
        console.print(line)


def _samples(result: Explanation, console: Console) -> None:
    found = result.parting
    at = found.first_sample
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("sample", "reference", "candidate", "off by"):
        table.add_column(name, justify="right")
    for n in range(max(at - 2, 0), at + SHOWN_SAMPLES):
        ref, cand = (int(s[n]) if n < s.size else None for s in found.sound)
        off = "" if ref is None or cand is None else str(cand - ref)
        table.add_row(str(n), "-" if ref is None else str(ref), "-" if cand is None else str(cand), off)
    console.print(table)


def show(result: Explanation, console: Console, full: bool = False) -> None:
    """Print an explanation; ``full``: every register access and the whole (collapsed) trace."""
    rows = None if full else SHOWN_ROWS
    console.print(
        f"[bold]{result.job.name}[/bold]: reference {result.reference}, candidate {result.candidate}", soft_wrap=True
    )
    for line in headline(result):
        console.print(line, markup=False, soft_wrap=True)
    for note in result.notes:
        console.print(f"note: {note}", markup=False, soft_wrap=True)
    if result.guesses:
        console.print()
        for guess in result.guesses:
            console.print(
                Text.assemble(("=> " if guess.sure else "-> ", "bold green" if guess.sure else "bold"), guess.text),
                soft_wrap=True,
            )
    if result.picture is not None:
        console.print()
        if console.is_terminal and console.color_system in ("truecolor", "256"):
            _close(result, console)
        _section(console, "What leads up to the first differing pixel", witness_line(result))
        console.print(pixel_line(result), markup=False, soft_wrap=True)
        _tables(console, result.picture, rows, full, None if full else frozenset({"ppu", "board", "dma"}))
    if result.sound is not None:
        _section(
            console,
            "What leads up to the first differing sample",
            f"It is complete in CPU cycle {result.sound.cycle} or a little later; what makes it differ may lie "
            f"up to {KERNEL_CYCLES} cycles before.",
        )
        _samples(result, console)
        _tables(console, result.sound, rows, full and result.picture is None, frozenset({"apu"}))


def _section(console: Console, title: str, text: str) -> None:
    console.print()
    console.print(title, style="bold underline")
    console.print(text, markup=False, soft_wrap=True)


def _tables(console: Console, watched: Watched, limit, full: bool, subjects: frozenset[str] | None = None) -> None:
    console.print()
    console.print(_register_table(watched, limit, subjects))
    console.print()
    steps = collapsed(watched.steps)
    for step in steps if full else steps[-SHOWN_STEPS:]:
        console.print(step.text, style="dim" if step.note else "", markup=False, highlight=False, soft_wrap=True)
    console.print("the last instruction contains the moment", style="dim")
