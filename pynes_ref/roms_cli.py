"""``pynes-ref roms``: which test ROMs are known, which are here, and getting the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Test ROMs: list the known ones, download the missing ones.", no_args_is_help=True,
                  rich_markup_mode=None)

Suites = Annotated[list[str] | None, typer.Argument(help="suites or single ROMs (suite/rom); default: all",
                                                    show_default=False)]


def _fail(message):
    typer.echo(f"pynes-ref: {message}", err=True)
    raise typer.Exit(2)


def _chosen(names):
    from .roms import known

    rows = known()
    wanted = [name.removesuffix("/").removesuffix(".nes") for name in names or []]
    for name in wanted:
        if not any(name in (row.suite, row.name) for row in rows):
            _fail(f"no suite or ROM {name!r}; suites: {', '.join(dict.fromkeys(row.suite for row in rows))}")
    return [row for row in rows if not wanted or row.suite in wanted or row.name in wanted]


@app.command("list")
def list_roms(
    suites: Suites = None,
    missing: Annotated[bool, typer.Option("--missing", help="only those that are not here")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="as JSON, with hashes and where the file is")] = False,
) -> None:
    """List the known test ROMs: present or missing, licence, source."""
    from .fetching import url_of
    from .roms import find, search_places

    rows = [(row, find(row.sha256)) for row in _chosen(suites)]
    known, present = len(rows), sum(path is not None for _, path in rows)
    if missing:
        rows = [(row, path) for row, path in rows if path is None]
    if as_json:
        entries = [
            {"path": row.path, "sha256": row.sha256, "size": row.size, "mapper": row.mapper, "licence": row.licence,
             "source": row.archive or url_of(row), "found": str(path) if path else None}
            for row, path in rows
        ]
        typer.echo(json.dumps(entries, indent=1))
        return
    width = max((len(row.path) for row, _ in rows), default=0)
    licences = max((len(row.licence) for row, _ in rows), default=0)
    for row, path in rows:
        place = "in " + row.archive.rsplit("/", 1)[-1] if row.archive else row.source
        source = f"{row.repository} {row.commit[:10]} {place}"
        typer.echo(f"{'present' if path else 'missing'}  {row.path:{width}}  {row.licence:{licences}}  {source}")
    searched = ", ".join(f"{place}" if place.is_dir() else f"{place} (not there)" for place in search_places())
    typer.echo(f"{present} of {known} present; searched: {searched}")


@app.command()
def fetch(
    suites: Suites = None,
    folder: Annotated[Path | None, typer.Option(help="where to; default: the folder that is always searched")] = None,
    base_url: Annotated[str | None, typer.Option(help="another server with the same repository/commit/path below it",
                                                 show_default=False)] = None,
) -> None:
    """Download the missing test ROMs from where they are pinned.

    Exit status 1 when some could not be had, 2 when the server cannot be reached.
    """
    from . import fetching
    from .roms import download_folder, find

    base_url = base_url or fetching.BASE_URL
    try:
        fetching.check_base_url(base_url)
    except fetching.FetchError as error:
        _fail(error)
    folder = folder or download_folder()
    wanted = [row for row in _chosen(suites) if find(row.sha256) is None]
    direct = [row for row in wanted if not row.archive]
    archived = [row for row in wanted if row.archive]
    failed = _fetch_all(direct, folder, base_url)
    if direct:
        typer.echo(f"{len(direct) - failed} of {len(direct)} files downloaded to {folder}")
    for archive in dict.fromkeys(row.archive for row in archived):
        names = [row.source for row in archived if row.archive == archive]
        typer.echo(f"{len(names)} more are published only in an archive: get {archive} and unpack "
                   f"{', '.join(names)} anywhere below {folder}")
    if not wanted:
        typer.echo("nothing is missing")
    raise typer.Exit(1 if failed or archived else 0)


def _fetch_all(rows, folder, base_url):
    """Number of files that could not be had; says why for each."""
    from . import fetching

    failed = 0
    with fetching.client() as http, _progress(sum(row.size for row in rows)) as tick:
        for at, row in enumerate(rows):
            try:
                fetching.fetch(row, folder, http, base_url, tick)
            except fetching.Unreachable as error:
                _fail(f"{error}; {at - failed} of {len(rows)} files downloaded: check the network, then fetch again")
            except fetching.FetchError as error:
                failed += 1
                typer.echo(f"pynes-ref: {error}", err=True)
            except OSError as error:
                _fail(f"cannot write to {folder}: {error.strerror or error}")
    return failed


def _progress(total):
    from .progress import loading

    return loading(total, "test ROMs")
