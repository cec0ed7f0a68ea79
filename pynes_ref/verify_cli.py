"""``pynes-ref verify``: run the accuracy table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def verify(
    suites: Annotated[list[str] | None, typer.Argument(help="suites or single ROMs (suite/rom); default: all",
                                                       show_default=False)] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="write all results")] = None,
    table: Annotated[Path | None, typer.Option(help="another table than tests/expectations.toml")] = None,
    page: Annotated[Path | None, typer.Option(help="where a run of the whole table writes ACCURACY.md; "
                                                   "default: beside the checkout's tests")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="processes; default: one a processor")] = None,
) -> None:
    """Run the test ROMs and compare with what a console shows; exit status 1 when something is not as expected."""
    from .files import atomic_write, check_writable
    from .verify.table import TableError, default_path, load

    try:
        loaded = load(table)
        rows = _chosen(loaded.rows, suites or [])
        for path in filter(None, (json_file, page)):
            check_writable(path)
    except (TableError, OSError) as error:
        typer.echo(f"pynes-ref: {error}", err=True)
        raise typer.Exit(2) from None
    results, seconds = _run(rows, jobs)
    _show(results, seconds)
    from .verify.report import as_json

    if json_file:
        atomic_write(json_file, (json.dumps(as_json(results, seconds), indent=1) + "\n").encode())
    if page is None and default_path().parent.name == "tests":
        page = default_path().parent.parent / "ACCURACY.md"
    if page is None:
        typer.echo("not written: ACCURACY.md (this is no checkout; --page FILE says where to)", err=True)
    elif suites or table or not all(result.outcome for result in results):
        typer.echo(f"not written: {page.name} (only by a run of the whole table with all its ROMs)", err=True)
    else:
        typer.echo(_write_page(page, results, loaded.differences))
    raise typer.Exit(1 if any(result.surprise for result in results) else 0)


def test_rows(rows, path: Path) -> int:
    """Run rows of the table with the ROM at ``path``, print a line each; exit status 0 = all as on a console."""
    from .verify.runner import run_row

    failed = False
    for row in rows:
        outcome = run_row(row, path)
        failed |= not outcome.passed
        typer.echo(outcome.shown)
        words = "passed" if outcome.passed else "FAILED"
        typer.echo(f"{words} after {outcome.frames} frames [as `pynes-ref verify {row.suite}` runs {row.name}]")
    return int(failed)


def _write_page(path, results, differences):
    from .files import atomic_write
    from .verify.page import write

    data = write(results, differences).encode()
    same = path.is_file() and path.read_bytes() == data
    atomic_write(path, data)
    return f"written: {path.name}" + (" (nothing has changed)" if same else "")


def _chosen(rows, names):
    from .verify.table import TableError

    wanted = [name.removesuffix("/").removesuffix(".nes") for name in names]
    for name in wanted:
        if not any(_matches(row, name) for row in rows):
            known = ", ".join(dict.fromkeys(row.suite for row in rows))
            raise TableError(f"no suite or ROM {name!r}; suites: {known}")
    return [row for row in rows if not wanted or any(_matches(row, name) for name in wanted)]


def _matches(row, name):
    return name in (row.suite, row.name, row.id.removesuffix(".nes"))


def _run(rows, jobs):
    import time

    from .progress import counting
    from .roms import find
    from .verify.runner import run_all
    from .warming import compile_all, warmed

    if any(find(row.rom.sha256) for row in rows):
        with warmed():
            compile_all()  # once, before several processes want it
    begun = time.perf_counter()
    with counting(len(rows), "test ROMs") as tick:
        results = run_all(rows, jobs, tick)
    return results, time.perf_counter() - begun


def _show(results, seconds):
    from rich.console import Console as Terminal

    from .verify.report import show

    terminal = Terminal(highlight=False)
    show(results, terminal)
    surprises = sum(result.surprise for result in results)
    missing = len({result.row.id for result in results if result.outcome is None})
    known = sum(result.status == "known failure" for result in results)
    words = [f"{len(results) - surprises - known} as on a console"]
    if known:
        words.append(f"{known} known to differ")
    if surprises:
        words.append(f"{surprises} not as expected")
    terminal.print(f"{len(results)} runs in {seconds:.0f} s: {', '.join(words)}", soft_wrap=True)
    if missing:
        terminal.print(f"{missing} ROMs are not here: `pynes-ref roms fetch`, or name their folder in PYNES_ROMS",
                       soft_wrap=True)
