"""``pynes-ref export-wasm``: the console as a WebAssembly module."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from pathlib import Path
from typing import Annotated

import typer

QUIET = 2.0


def export_wasm(
    out: Annotated[Path, typer.Argument(help="the module to write", show_default=False)],
    bug: Annotated[str, typer.Option(help="build in a bug: scanline, ab-swap, no-tri-noise, broken, early or "
                                          "blank")] = "",
) -> None:
    """Write the console as a WebAssembly module with the ABI's ten functions and no imports (needs ziglang)."""
    from .files import atomic_write, check_writable, is_special
    from .wasm_export import ExportError, export

    try:
        check_writable(out)
        with _reported() as waiting:
            module = export(bug, waiting)
        atomic_write(out, module)
    except (ExportError, OSError) as error:
        typer.echo(f"pynes-ref: {error}", err=True)
        raise typer.Exit(2) from None
    typer.echo(f"{out}: {len(module)} bytes, SHA-256 {hashlib.sha256(module).hexdigest()}", err=is_special(out))


@contextlib.contextmanager
def _reported():
    """Yield a function that tells stderr the seconds passed: in place on a terminal, else a line every ten seconds."""
    live = sys.stderr.isatty()
    told = []

    def waiting(seconds):
        if seconds >= (told[-1] + (1 if live else 10) if told else QUIET):
            told.append(seconds)
            text = f"building the module: {seconds:.0f} s"
            print(("\r" if live else "") + text, end="" if live else "\n", file=sys.stderr, flush=True)

    try:
        yield waiting
    finally:
        if live and told:
            print(file=sys.stderr)
