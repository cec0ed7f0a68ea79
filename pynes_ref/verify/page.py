"""ACCURACY.md: the table as a page of the project. Generated; nothing in it depends on when or where it ran."""

from __future__ import annotations

from . import accuracycoin
from .report import by_suite

# Measured with the same ROM; the hash is what makes the numbers comparable: older copies have fewer tests.
OTHERS = (
    ("RustyNES 2.4.2, which made the recordings", 141),
    ("jsnes 3", 132),
    ("tetanes-py", 103),
    ("Nestopia", 100),
    ("cynes", 98),
    ("Mednafen", 89),
    ("FCEUX", 88),
    ("FCEUmm (stable-retro)", 86),
    ("nes-py", 16),
)


def write(results, differences) -> str:
    """The page."""
    parts = [_head(results), _coin(results), _differences(results, differences), _suites(results)]
    return "\n".join(parts).rstrip() + "\n"


def _head(results):
    roms = {r.row.id for r in results}
    good = sum(r.status == "passed" for r in results)
    known = sum(r.status == "known failure" for r in results)
    bad = sum(r.surprise for r in results)
    lines = [
        "# Accuracy",
        "",
        "<!-- Written by `pynes-ref verify`; edit tests/expectations.toml instead. -->",
        "",
        f"{len(roms)} test ROMs in {len(results)} runs (some ROMs test chip revisions that exclude each other, "
        f"or have a choice of tests): {good} as on a console"
        + (f", {known} known to differ" if known else "")
        + (f", **{bad} not as expected**" if bad else "")
        + ".",
        "",
        "`pynes-ref verify` repeats this; `pynes-ref roms fetch` gets the ROMs. What each must show, and how that is",
        "known, stands in `tests/expectations.toml`.",
        "",
    ]
    return "\n".join(lines)


def _coin(results):
    coin = next((r for r in results if r.outcome and r.outcome.codes), None)
    if coin is None:
        return ""
    tests = accuracycoin.results(coin.outcome.codes)
    passed = sum(t.passed for t in tests)
    lines = [
        "## AccuracyCoin",
        "",
        f"SHA-256 of the ROM: `{coin.row.rom.sha256}` (older copies have fewer tests)",
        "",
        "| emulator | tests passed |",
        "|---|---|",
    ]
    table = [("**pynes_ref**", passed), *OTHERS]
    table.sort(key=lambda entry: -entry[1])
    lines += [f"| {name} | {score} of {len(tests)} |" for name, score in table]
    lines += ["", "Its result table, a column a page: `·` = passed, a digit or letter = passed in one of several right",
              "ways, `!` = failed.", "", "```"]
    grid = accuracycoin.grid(coin.outcome.codes)
    lines.append(" ".join(f"{next(t.test.page for t in column if t):2}" for column in zip(*grid)))
    lines += [" ".join(f"{_cell(t):>2}" for t in row).rstrip() for row in grid]
    lines += ["```", ""]
    wrong = [t for t in tests if not t.passed]
    if wrong:
        lines += [f"- page {t.test.page}, {t.test.suite}, {t.test.name}: {t.word}" for t in wrong] + [""]
    return "\n".join(lines)


def _cell(result):
    if result is None:
        return ""
    return (result.code or "·") if result.passed else "!" + result.code


def _differences(results, differences):
    lines = ["## Where this is not a console", ""]
    for result in results:
        if result.row.xfail:
            shown = f" Shown: `{_code(result.outcome.shown)}`." if result.outcome else ""
            evidence = _sentence(result.row.evidence)
            lines.append(f"- `{result.row.name}` ({result.status}): {result.row.xfail}.{shown} {evidence}")
    lines += [f"- {d.what} {d.evidence}" for d in differences if d.differs == "hardware"]
    lines += ["", "## Where this is not the recorded reference", "",
              "A test of hardware decides, and the recorded reference fails it.", ""]
    lines += [f"- {d.what} {d.evidence}" for d in differences if d.differs == "recordings"]
    lines += ["", "Where no recording and no test ROM tells, but its program, run beside ours, does otherwise:", ""]
    lines += [f"- {d.what} {d.evidence}" for d in differences if d.differs == "reference"]
    lines.append("")
    return "\n".join(lines)


def _suites(results):
    lines = ["## All ROMs", "",
             "*Evidence*: how it is known that the result is right. *Reference*: what the recorded reference (RustyNES",
             "2.4.2) shows where that is something else.", ""]
    for suite, members in by_suite(results).items():
        lines += [f"### {suite}", "", "| ROM | result | evidence |", "|---|---|---|"]
        for result in members:
            row, outcome = result.row, result.outcome
            name = row.name.split("/", 1)[1]
            shown = f": `{_code(outcome.shown)}`" if outcome else ""
            evidence = _sentence(row.evidence)
            if row.reference:
                evidence += f" *Reference:* {_sentence(row.reference)}"
            lines.append(f"| {_cell_text(name)} | {result.status}{shown} | {_cell_text(evidence)} |")
        lines.append("")
    return "\n".join(lines)


def _sentence(text):
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _code(text):
    return _cell_text(text.replace("`", "'"))


def _cell_text(text):
    return text.replace("|", "\\|").replace("*)", "\\*)")
