"""An explanation as one self-contained page."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from grader import explain_pictures as pictures
from grader.explain import KERNEL_CYCLES, Explanation
from grader.explain_text import headline, pixel_line, value_text, witness_line
from grader.explain_watch import Watched, collapsed
from grader.pictures import palette

SHOWN_STEPS = 400
WAVE = 220
"""Samples drawn on either side of the first that differs; more on the other side where one side has fewer."""
PLOT = (60, 880, 10, 210)
"""Left, right, top and bottom of the waves in their picture."""


def _image(png: bytes, caption: str, alt: str) -> str:
    data = b64encode(png).decode()
    source = f"data:image/png;base64,{data}"
    return f'<figure><img src="{source}" alt="{escape(alt)}"><figcaption>{escape(caption)}</figcaption></figure>'


def page(result: Explanation) -> str:
    """The page. The same explanation gives the same bytes."""
    parts = [
        f"<h1>{escape(result.job.name)}</h1>",
        f'<p><b class="ref">reference</b> {escape(result.reference)}, '
        f'<b class="cand">candidate</b> {escape(result.candidate)}</p>',
        *(f"<p>{escape(line)}</p>" for line in headline(result)),
        *(f'<p class="soft">{escape(note)}</p>' for note in result.notes),
    ]
    if result.guesses:
        items = "".join(f'<li class="{"sure" if g.sure else ""}">{escape(g.text)}</li>' for g in result.guesses)
        parts.append(f"<h2>What it may be</h2><ul class=guesses>{items}</ul>")
    if result.pair is not None:
        parts += _pictures(result)
    if result.parting.first_sample is not None:
        parts += _sound(result)
    if result.picture is not None:
        parts.append(
            f'<h2>What leads up to the first differing pixel</h2><p class="soft">{escape(witness_line(result))}</p>'
        )
        parts.append(f"<p>{escape(pixel_line(result))}</p>")
        parts += _neighbourhood(result.picture, None) + _state(result)
    if result.sound is not None:
        parts.append(
            "<h2>What leads up to the first differing sample</h2>"
            f'<p class="soft">It is complete in CPU cycle {result.sound.cycle} or a little later; what makes it differ '
            f"may lie up to {KERNEL_CYCLES} cycles before.</p>"
        )
        parts += _neighbourhood(result.sound, frozenset({"apu"}))
    style = files("grader.report").joinpath("explain.css").read_text("utf-8")
    title = f"{result.job.name}: {result.candidate} against {result.reference}"
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{escape(title)}</title><style>{style}</style><body>{''.join(parts)}</body></html>\n"
    )


def _pictures(result: Explanation) -> list[str]:
    ref, cand = result.pair
    first = result.region.first
    frame = result.parting.first_frame
    top, left = pictures.close_place(first)
    return [
        f"<h2>Frame {frame}</h2>",
        _image(
            pictures.frames(ref, cand, first),
            "Reference, candidate, and where they differ (red). "
            "The ticks at the edges point at the first differing pixel.",
            f"frame {frame} of the reference, of the candidate, and the differing pixels",
        ),
        _image(
            pictures.close_look(ref, cand, first),
            f"Scanlines {top} to {top + pictures.CLOSE_HEIGHT - 1}, x {left} to {left + pictures.CLOSE_WIDTH - 1}: "
            "reference and candidate; a dot marks a pixel that differs, the box the first.",
            "the pixels around the first that differs",
        ),
    ]


def _sound(result: Explanation) -> list[str]:
    found = result.parting
    middle = found.far_sample if found.far_sample is not None else found.first_sample
    end = min(max(middle - WAVE, 0) + 2 * WAVE, max(s.size for s in found.sound))
    start = max(end - 2 * WAVE, 0)
    return [
        "<h2>The sound</h2>",
        wave_plot([s[start:end].astype(np.float64) for s in found.sound], start, middle),
        f'<p class="soft">Samples {start} to {end - 1}, '
        '<b class="ref">reference</b> and <b class="cand">candidate</b>; '
        f"the dashed line is sample {middle}.</p>",
    ]


def wave_plot(waves: list[NDArray[np.float64]], start: int, middle: int) -> str:
    """Both waves as SVG over the whole width, from sample ``start`` on, with axes; ``middle`` is marked."""
    left, right, top, bottom = PLOT
    values = np.concatenate(waves)
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    span = max(high - low, 16.0)
    count = max(max(wave.size for wave in waves), 2)

    def x(sample: float) -> float:
        return round(left + (right - left) * (sample - start) / (count - 1), 1)

    def y(value: float) -> float:
        return round(top + (bottom - top) * (high - value) / span, 1)

    up, along = [], []
    for value in sorted({high, low, 0.0} if low < 0.1 * -span and high > 0.1 * span else {high, low}):
        up.append(f'<path d="M{left} {y(value)}H{right}"/><text x={left - 6} y={y(value) + 4}>{value:.0f}</text>')
    for sample in range(-(-start // 100) * 100, start + count, 100):
        along.append(f'<path d="M{x(sample)} {bottom}v5"/><text x={x(sample)} y={bottom + 18}>{sample}</text>')
    lines = "".join(
        f'<polyline class="{name}" fill=none stroke=currentColor stroke-width=1.5 points="'
        + " ".join(f"{x(start + i)},{y(value)}" for i, value in enumerate(wave))
        + '"/>'
        for name, wave in zip(("ref", "cand"), waves)
    )
    return (
        f'<svg viewBox="0 0 {right + 16} {bottom + 24}" role=img aria-label="both waves around sample {middle}">'
        f'<g class="axis up">{"".join(up)}</g><g class=axis>{"".join(along)}</g>'
        f'<path d="M{x(middle)} {top}V{bottom}" stroke="var(--mark)" stroke-dasharray="4 3"/>{lines}</svg>'
    )


def _neighbourhood(watched: Watched, subjects: frozenset[str] | None) -> list[str]:
    rows = []
    for row in watched.rows():
        e = row.first
        if subjects is not None and e.subject not in subjects and e.subject:
            continue
        kind = "write" if e.writes else "dummy" if e.what.startswith("dummy") else ""
        numbers = "".join(f"<td class=n>{n}</td>" for n in (e.frame, e.line, e.dot, e.cycle))
        rows.append(
            f'<tr class="{kind}">{numbers}<td>{e.pc:04X}</td><td>{e.what}</td><td>{escape(e.name)}</td>'
            f"<td>{value_text(row)}</td><td>{escape(row.text)}</td></tr>"
        )
    steps = collapsed(watched.steps)[-SHOWN_STEPS:]
    lines = [f'<span class="note">{escape(s.text)}</span>' if s.note else escape(s.text) for s in steps]
    if lines:
        lines[-1] = f'<span class="moment">{lines[-1]}</span>'
    head = "".join(
        f"<th>{n}</th>" for n in ["frame", "line", "dot", "cycle", "PC", "what", "register", "value", "meaning"]
    )
    return [
        "<h3>Registers, newest last</h3>",
        f'<div class="scroll end" tabindex=0><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>",
        "<h3>CPU, newest last; the last instruction contains the moment</h3>",
        f'<div class="scroll end" tabindex=0><pre>{chr(10).join(lines)}</pre></div>',
        "<script>for (const e of document.querySelectorAll('.end')) e.scrollTop = e.scrollHeight;</script>",
    ]


def _state(result: Explanation) -> list[str]:
    console = result.picture.console
    colours = palette().rgb
    groups = []
    for group in range(8):
        cells = []
        for value in console.palette_ram[4 * group : 4 * group + 4]:
            r, g, b = (int(c) for c in colours[int(value) & 0x3F])
            ink = "#000" if 3 * r + 6 * g + b > 1300 else "#fff"
            cells.append(f'<i style="background:rgb({r},{g},{b});color:{ink}">{int(value):02X}</i>')
        groups.append(f"<span>{''.join(cells)}</span>")
    oam = []
    for n in range(64):
        y, tile, attributes, x = (int(v) for v in console.oam[4 * n : 4 * n + 4])
        words = [f"palette {attributes & 3}"]
        words += [
            word
            for bit, word in ((5, "behind"), (6, "flipped left-right"), (7, "upside down"))
            if attributes >> bit & 1
        ]
        mark = ' class="write"' if n in result.sprites else ""
        hidden = " (hidden)" if y >= 239 else ""
        oam.append(
            f"<tr{mark}><td class=n>{n}</td><td class=n>{x}</td><td class=n>{y}</td>"
            f"<td>{tile:02X}</td><td>{', '.join(words)}{hidden}</td></tr>"
        )
    return [
        f"<h2>The PPU at scanline {result.picture.line} dot {result.picture.dot}</h2>",
        f"<h3>Palettes: background 0 to 3, sprites 0 to 3</h3><div class=swatches>{''.join(groups)}</div>",
        "<div class=cols>",
        _image(
            pictures.nametables(console, result.tile),
            "The four nametables in the present banks and colours; the box is the tile in question.",
            "nametables",
        ),
        _image(pictures.pattern_tables(console), "Pattern tables $0000 and $1000.", "pattern tables"),
        "</div><h3>OAM (y is the line before the sprite's first)</h3><div class=scroll tabindex=0><table><thead><tr>"
        f"<th>sprite<th>x<th>y<th>tile<th>attributes</tr></thead><tbody>{''.join(oam)}</tbody></table></div>",
    ]
