"""What came of a run of the table: on a terminal and as JSON."""

from __future__ import annotations

from . import accuracycoin

PASS, VARIANT, FAIL = "green", "cyan", "red"
GOOD = "\u00b7"
NAMED_MISSING = 5  # so many missing ROMs are named


def by_suite(results):
    """{suite: [result]} in the order of the table."""
    suites: dict[str, list] = {}
    for result in results:
        suites.setdefault(result.row.suite, []).append(result)
    return suites


def as_json(results, seconds) -> dict:
    """Everything for other programs."""
    from .. import __version__
    from ..jitcache import source_hash

    rows = []
    for result in results:
        row, outcome = result.row, result.outcome
        entry = {
            "id": row.id,
            "variant": row.variant,
            "sha256": row.rom.sha256,
            "protocol": row.protocol,
            "submapper": row.submapper,
            "status": result.status,
            "surprise": result.surprise,
            "shown": outcome.shown if outcome else None,
            "frames": outcome.frames if outcome else None,
            "expected": row.expected,
            "evidence": row.evidence,
        }
        if outcome and outcome.codes:
            entry["tests"] = [
                {"page": r.test.page, "name": r.test.name, "byte": r.byte, "result": r.word}
                for r in accuracycoin.results(outcome.codes)
            ]
        rows.append(entry)
    return {
        "version": __version__,
        "core": source_hash(),
        "seconds": round(seconds, 1),
        "surprises": sum(result.surprise for result in results),
        "results": rows,
    }


def show(results, terminal) -> None:
    """A line a suite, AccuracyCoin's grid, and everything that is not as expected."""
    from rich.markup import escape

    suites = by_suite(results)
    width = max(map(len, suites), default=0)
    for suite, members in suites.items():
        good = sum(not r.surprise for r in members)
        marks = "".join(_mark(r) for r in members)
        colour = PASS if good == len(members) else FAIL
        terminal.print(f"{suite:{width}}  [{colour}]{good:3}/{len(members):<3}[/]  {marks}", soft_wrap=True)
    for result in results:
        if result.outcome and result.outcome.codes:
            terminal.print()
            _show_grid(result.outcome.codes, terminal)
    missing = 0
    for result in results:
        missing += result.outcome is None
        if result.status != "passed" and (result.outcome or missing <= NAMED_MISSING):
            colour = FAIL if result.surprise else VARIANT
            text = result.outcome.shown if result.outcome else f"SHA-256 {result.row.rom.sha256}"
            reason = f" (known: {result.row.xfail})" if result.row.xfail else ""
            terminal.print(f"[{colour}]{result.status}[/] {escape(f'{result.row.name}: {text}{reason}')}",
                           soft_wrap=True)
    if missing > NAMED_MISSING:
        terminal.print(f"[{FAIL}]missing[/] {missing - NAMED_MISSING} more", soft_wrap=True)


def _mark(result):
    marks = {"passed": f"[{PASS}]{GOOD}[/]", "known failure": "[cyan]x[/]", "missing": "[dim]?[/]"}
    return marks.get(result.status, "[red]F[/]")


def _show_grid(codes, terminal):
    terminal.print("AccuracyCoin, a column a page; a number is one of several right behaviours, "
                   "red the code of an error", soft_wrap=True)
    grid = accuracycoin.grid(codes)
    terminal.print("  " + " ".join(f"{next(r.test.page for r in column if r):2}" for column in zip(*grid)))
    for row in grid:
        terminal.print("  " + " ".join(_cell(r) for r in row))


def _cell(result):
    if result is None:
        return "  "
    if result.passed:
        return f"[{VARIANT if result.code else PASS}]{result.code or GOOD:>2}[/]"
    word = {0: "?", 0xFF: "-"}.get(result.byte, result.code or "F")
    return f"[{FAIL}]{word:>2}[/]"
