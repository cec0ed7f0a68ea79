"""The ``pynes-ref`` command. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from . import roms_cli, verify_cli, wasm_cli
from .warming import warmed

app = typer.Typer(
    name="pynes-ref",
    help="A cycle-accurate NES: play, run without a window, trace and test ROMs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

RomArgument = Annotated[Path, typer.Argument(help="an iNES or NES 2.0 file", show_default=False)]
SubmapperOption = Annotated[int | None, typer.Option(min=0, max=15, help="the board's revision (NES 2.0 submapper) "
                                                                         "instead of the header's")]


def fail(message) -> None:
    """One line on stderr and exit status 2."""
    typer.echo(f"pynes-ref: {message}", err=True)
    raise typer.Exit(2)


def open_console(
    path: Path, submapper: int | None = None, state: Path | None = None, hardware_sound: bool = False
):
    """A console with the ROM at ``path``, in the state kept in the file ``state``.

    Any fault ends the command with one line, and before anything is compiled.
    """
    from .ines import RomError, load_rom

    try:
        cartridge = load_rom(path, submapper)
    except RomError as error:
        fail(error)
    data = _read_state(state, cartridge) if state else None
    with warmed():
        from .console import Console

        console = Console(cartridge, hardware_sound=hardware_sound)
    if data is not None:
        from .savestate import StateError

        try:
            console.load_state(data)
        except StateError as error:
            fail(f"{state}: {error}")
    return console


def _read_state(path, cartridge):
    from .savestate import MAX_BYTES, StateError, unpack

    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES)
        unpack(data, cartridge.sha256)
        return data
    except (OSError, StateError) as error:
        fail(f"{path}: {getattr(error, 'strerror', None) or error}")


@app.command()
def run(
    rom: Annotated[Path | None, typer.Argument(help="an iNES or NES 2.0 file; default: the game that comes with us",
                                               show_default=False)] = None,
    frames: Annotated[int | None, typer.Option(min=0, help="run this many frames without a window")] = None,
    replay: Annotated[Path | None, typer.Option(help="input to play: text or JSON")] = None,
    start: Annotated[int, typer.Option("--from", min=0, help="first frame that goes into the outputs")] = 0,
    png: Annotated[Path | None, typer.Option(help="write the last frame")] = None,
    wav: Annotated[Path | None, typer.Option(help="write the sound")] = None,
    npz: Annotated[Path | None, typer.Option(help="write frames, audio and samples_per_frame as arrays")] = None,
    video: Annotated[Path | None, typer.Option(help="write a video with sound (.mp4, .mkv)")] = None,
    hashes: Annotated[Path | None, typer.Option(help="write one SHA-256 a frame")] = None,
    save_state: Annotated[Path | None, typer.Option(help="write the state after the last frame")] = None,
    load_state: Annotated[Path | None, typer.Option(help="begin from this state")] = None,
    scale: Annotated[int, typer.Option(min=1, max=8, help="size of a pixel in the window")] = 3,
    record: Annotated[Path | None, typer.Option(help="record the input of the window as a replay")] = None,
    submapper: SubmapperOption = None,
    hardware_sound: Annotated[
        bool | None,
        typer.Option("--hardware-sound/--recorded-sound", show_default=False,
                     help="where the recorded reference and a console differ, sound like the console (default in the "
                          "window) or like the reference (default without one)"),
    ] = None,
) -> None:
    """Play a ROM in a window or, with --frames, run it without one."""
    from . import bundled
    from .headless import Outputs, check_writable
    from .movie import Movie, MovieError, load

    outputs = Outputs(png, wav, npz, video, hashes, save_state)
    if frames is None and (outputs.paths() or replay):
        fail("--replay and the outputs are for runs without a window; say how long with --frames N")
    if frames is not None and record:
        fail("--record is for the window; leave out --frames")
    try:
        movie = load(replay) if replay else Movie()
        path = rom or bundled.rom()
        check_writable(outputs, [path, replay] if replay else [path], load_state)
    except (MovieError, OSError) as error:
        fail(error)
    if frames is None:
        _open_window()
    if hardware_sound is None:
        hardware_sound = frames is None
    console = open_console(path, submapper, load_state, hardware_sound)
    if frames is None:
        _play(console, path, scale, record)
    else:
        _headless(console, path, frames, movie, start, outputs)


def _open_window():
    from .player import PlayerError, open_pygame

    # Before the console compiles: whoever has no display need not wait for that.
    try:
        open_pygame()
    except PlayerError as error:
        fail(error)


def _play(console, path, scale, record):
    from .player import PlayerError, play

    try:
        play(console, path, scale=scale, record=record)
    except (PlayerError, OSError) as error:
        fail(error)


def _headless(console, path, frames, movie, start, outputs):
    from .headless import frame_sha256
    from .headless import run as run_headless
    from .progress import counting

    try:
        with counting(frames, "frames") as tick:
            result = run_headless(console, frames, movie, outputs, start=start, tick=tick)
    except OSError as error:
        fail(error)
    typer.echo(json.dumps(_summary(console, path, result, frame_sha256)))


def _summary(console, path, result, frame_sha256):
    cart = console.cartridge
    seconds = result.seconds
    return {
        "rom": str(path),
        "sha256": cart.sha256,
        "mapper": cart.mapper,
        "board": cart.board,
        "frames": result.frames,
        "cpu_cycles": console.cycles,
        "seconds": round(seconds, 3),
        "fps": round(result.frames / seconds, 1) if seconds else 0.0,
        "last_frame_sha256": frame_sha256(console.frame),
        "audio_sha256": result.audio_sha256.hexdigest(),
        "jammed": console.jammed,
    }


@app.command()
def info(rom: RomArgument) -> None:
    """Show what a ROM file holds: header, board, sizes, hash, and what is not supported."""
    from .describe import describe
    from .ines import RomError, inspect_rom

    try:
        typer.echo(describe(inspect_rom(rom)))
    except RomError as error:
        fail(error)


@app.command()
def trace(
    rom: RomArgument,
    pc: Annotated[str | None, typer.Option(help="begin at this address (hex) instead of the reset vector")] = None,
    instructions: Annotated[int, typer.Option(min=0, help="how many instructions")] = 10_000,
    skip: Annotated[int, typer.Option(min=0, help="run this many frames first")] = 0,
    submapper: SubmapperOption = None,
) -> None:
    """Print a CPU log in Nintendulator's format."""
    begin = None
    if pc is not None:
        try:
            begin = int(pc.removeprefix("$").removeprefix("0x"), 16)
        except ValueError:
            begin = -1
        if not 0 <= begin <= 0xFFFF:
            fail(f"--pc {pc}: an address is hexadecimal, 0 to FFFF")
    console = open_console(rom, submapper)
    from .trace import trace as lines

    for _ in range(skip):
        console.run_frame()
    for line in lines(console, instructions, begin):
        sys.stdout.write(line + "\n")


@app.command("test")
def check(
    rom: RomArgument,
    frames: Annotated[int | None, typer.Option(min=1, help="give up after this many frames; default: 3600")] = None,
    protocol: Annotated[str, typer.Option(help="auto, 6000 or screen")] = "auto",
    submapper: SubmapperOption = None,
) -> None:
    """Run a self-checking ROM; prints its own message; exit status 0 = passed, 1 = failed or no verdict.

    Without options, a known ROM that wants buttons or is read otherwise is run as `pynes-ref verify` runs it.
    """
    if protocol not in ("auto", "6000", "screen"):
        fail(f"--protocol {protocol}: there are auto, 6000 and screen")
    console = open_console(rom, submapper)
    from .romtest import run as run_test
    from .verify.table import rows_of

    rows = rows_of(console.cartridge.sha256)
    if protocol == "auto" and submapper is None and frames is None and any(not row.speaks for row in rows):
        raise typer.Exit(verify_cli.test_rows(rows, rom))
    verdict = run_test(console, frames or 3600, protocol)
    if verdict.text:
        typer.echo(verdict.text)
    word = {True: "passed", False: "FAILED", None: "no verdict"}[verdict.passed]
    code = "" if verdict.code in (None, 0) else f" (code {verdict.code})"
    typer.echo(f"{word}{code} after {verdict.frames} frames [{verdict.protocol}]")
    if verdict.passed is None and rows:
        typer.echo(f"`pynes-ref verify {rows[0].suite}` knows how to run it")
    raise typer.Exit(0 if verdict.passed else 1)


@app.command()
def warm() -> None:
    """Compile the console now and say where the compiled code is kept."""
    from .jitcache import cache_folder
    from .warming import compile_all

    with warmed():
        compile_all()
    folder = cache_folder()
    typer.echo(f"compiled; kept in {folder}" if folder else "compiled, but no cache folder can be written")


app.command()(verify_cli.verify)
app.command("export-wasm")(wasm_cli.export_wasm)
app.add_typer(roms_cli.app, name="roms")


@app.command()
def version() -> None:
    """Show the version and the identity of the core's sources."""
    typer.echo(_version())


def _version():
    from . import __version__
    from .jitcache import source_hash

    return f"pynes-ref {__version__}, core {source_hash()[:16]}"


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(_version())
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True,
                                          help="Show the version and exit.")] = False,
) -> None:
    pass


def main() -> None:
    """Entry point of the ``pynes-ref`` command."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        # Nobody can take the output. Python would try again at exit and complain.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # a reader that has seen enough is no fault
            print(f"pynes-ref: cannot write the output: {error.strerror or error}", file=sys.stderr)
            sys.exit(2)
        sys.exit(1)


if __name__ == "__main__":
    main()
