"""The ``oracle`` command. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="oracle",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Ask the reference NES as a black box, serve it to others, and set others a task with it.",
)
# `run`, `info` and `session` have one grammar, in client.py: it also is a command where this project must not be.
PASSED_ON = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
Passed = Annotated[list[str] | None, typer.Argument(hidden=True)]
Reference = Annotated[str, typer.Option("--reference", "-r", metavar="EMU", help="The emulator that answers.")]
Trust = Annotated[bool, typer.Option("--trust-native", help="Run native libraries, which can do anything you can.")]


def fail(message: object) -> None:
    """One line on stderr and exit status 2."""
    typer.echo(f"oracle: {message}", err=True)
    raise typer.Exit(2)


def _ask(command: str, arguments: list[str] | None) -> None:
    from grader.oracle import client

    if os.environ.get("ORACLE_URL"):
        raise typer.Exit(client.main([command, *(arguments or [])]))
    from grader.oracle import local

    grammar = client.parser()
    local.add_reference(grammar)
    parsed = grammar.parse_args([command, *(arguments or [])])

    reference = getattr(parsed, "reference", "pynes_ref")
    backend = local.Local(reference, getattr(parsed, "trust_native", False))
    raise typer.Exit(client.perform(backend, parsed))


@app.command(context_settings=PASSED_ON)
def run(arguments: Passed = None) -> None:
    """Run a ROM from power-on: frames, sound and a JSON summary (`oracle run --help`)."""
    _ask("run", arguments)


@app.command(context_settings=PASSED_ON)
def info(arguments: Passed = None) -> None:
    """Formats, limits and frames used so far."""
    _ask("info", arguments)


@app.command(context_settings=PASSED_ON)
def session(arguments: Passed = None) -> None:
    """Frame by frame: start, set-keys, run-frame, framebuffer, framebuffer-rgba, audio, info, end."""
    _ask("session", arguments)


@app.command()
def serve(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", show_default=False, help="ROMs that callers may name.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; anything but loopback is open to others.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free one.")] = 8001,
    token_file: Annotated[
        Path | None, typer.Option(help="Tokens, one a line. Default: ORACLE_TOKEN, else one is made up and shown.")
    ] = None,
    reference: Reference = "pynes_ref",
    trust_native: Trust = False,
    usage: Annotated[Path | None, typer.Option(help="Keep the numbers of frames used in this file.")] = None,
    budget: Annotated[int | None, typer.Option(min=0, help="Frames a token may run in all. Default: no limit.")] = None,
    rate: Annotated[float, typer.Option(min=0.1, help="Requests a second and token.")] = 200.0,
    burst: Annotated[int, typer.Option(min=1, help="Requests at once and token.")] = 400,
    sessions: Annotated[int, typer.Option(min=1, help="Sessions of a token at a time.")] = 8,
    idle: Annotated[float, typer.Option(min=0.1, help="Seconds until an unused session ends.")] = 1800.0,
    timeout: Annotated[float, typer.Option(min=0.01, help="Seconds for the frames of a request.")] = 600.0,
    max_frames: Annotated[int, typer.Option(min=1, help="Frames a request.")] = 100_000,
    workers: Annotated[int | None, typer.Option(min=1, help="Consoles that run at once. Default: all cores.")] = None,
) -> None:
    """Answer over HTTP."""
    import dataclasses

    from grader.oracle.client import Fault
    from grader.oracle.limits import Limits
    from pynes_ref.warming import warmed

    try:
        if folder is not None and not folder.is_dir():
            fail(f"{folder} is not a folder")
        if usage is not None and not usage.absolute().parent.is_dir():
            fail(f"{usage}: there is no such folder")
        tokens = _tokens(token_file)
        if folder is not None and next(folder.rglob("*.nes"), None) is None:
            typer.echo(f"note: no ROM (.nes) in {folder}: callers must send theirs", err=True)
        try:
            from grader.oracle import server
        except ModuleNotFoundError as error:
            fail(f"{error.name} is not installed: pip install 'pynes-ref[serve]'")
        from grader.oracle.local import find_reference

        limits = dataclasses.replace(
            Limits(), rate=rate, burst=burst, sessions=sessions, idle=idle, timeout=timeout, frames=max_frames,
            budget=budget, all_sessions=max(Limits.all_sessions, sessions),
        )  # fmt: skip
        emulator = find_reference(reference, trust_native)
        config = server.Config(emulator, tokens, folder and folder.resolve(), limits, usage, workers)
        with warmed():
            server.warm(emulator)
        if host not in ("127.0.0.1", "::1", "localhost"):
            typer.echo("oracle: open to the network, without encryption: keep it inside one you trust", err=True)
        server.serve(config, host, port)
    except Fault as error:
        fail(error)
    except OSError as error:
        fail(f"{error.filename or 'serve'}: {error.strerror or error}")
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _tokens(file: Path | None) -> tuple[str, ...]:
    from grader.oracle.client import Fault

    if file is not None:
        try:
            tokens = tuple(file.read_text("ascii").split())
        except UnicodeDecodeError:
            raise Fault(f"{file}: tokens are plain ASCII") from None
        if not tokens:
            raise Fault(f"{file}: no token in it")
        return tokens
    given = os.environ.get("ORACLE_TOKEN", "").split()
    if given:
        return tuple(given)
    import secrets

    token = secrets.token_urlsafe(24)
    typer.echo(f"oracle: ORACLE_TOKEN={token}", err=True)
    return (token,)


@app.command()
def task(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The workspace to make; new or empty.")],
    starter: Annotated[
        str | None, typer.Option(metavar="NAME", help="Begin with this one: c, zig, rust or assemblyscript.")
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option(metavar="DIR", help="What will be graded: none of its ROMs is handed out.")
    ] = None,
    roms: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="More ROMs to hand out (may be repeated).")
    ] = None,
) -> None:
    """Lay out a workspace: the task, the ABI, development ROMs, starter projects, containers."""
    from grader.oracle import task as module

    try:
        made = module.make(folder, starter, corpus, roms or [])
    except module.TaskError as error:
        fail(error)
    except OSError as error:
        fail(f"{error.filename or folder}: {error.strerror or error}")
    for note in made.notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(f"{folder}: {len(made.roms)} development ROMs, starters {', '.join(made.starters)}; read TASK.md")


@app.command()
def supervise(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The workspace.")],
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="What works in it.")],
    hours: Annotated[float, typer.Option(min=0.0, help="How long.")] = 24.0,
    silence: Annotated[
        float, typer.Option(min=0.0, help="Minutes without output or a changed file: it hangs, start it again.")
    ] = 20.0,
    commit_every: Annotated[float, typer.Option(min=0.0, help="Minutes between commits.")] = 30.0,
    grade_every: Annotated[
        float, typer.Option(min=0.0, help="Hours between graded checkpoints; 0: at the end only.")
    ] = 4.0,
    restart_delay: Annotated[float, typer.Option(min=0.0, help="Seconds before a command that failed at once.")] = 30.0,
    build: Annotated[str, typer.Option(help="What builds the candidate; '' for nothing.")] = "sh build.sh",
    candidate: Annotated[str, typer.Option(help="What is graded, in DIR.")] = "nes_emu.wasm",
    corpus: Annotated[Path | None, typer.Option(metavar="DIR", help="Default: the built-in one.")] = None,
    reference: Reference = "pynes_ref",
    trust_native: Trust = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Processes of the grader.")] = 1,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", show_default=False, help="Logs and scores go here. Default: DIR-run.")
    ] = None,
) -> None:
    """Run a command for a given time, again and again; commit and grade what it makes.

    Options come before the --. A command of one word goes to the shell. It finds its task in $ORACLE_PROMPT and the
    seconds left in $ORACLE_TIME_LEFT.
    """
    from grader.oracle import supervise as module

    plan = module.Plan(
        folder=folder, command=tuple(command), seconds=hours * 3600, silence=silence * 60,
        commit_every=commit_every * 60, grade_every=grade_every * 3600, restart_delay=restart_delay, build=build,
        candidate=candidate, corpus=corpus, reference=reference, trust_native=trust_native, jobs=jobs,
        out=out or folder.resolve().with_name(folder.resolve().name + "-run"),
    )  # fmt: skip
    try:
        history = module.Supervisor(plan, lambda text: typer.echo(text, err=True)).run()
    except module.SuperviseError as error:
        fail(error)
    except OSError as error:
        fail(f"{error.filename or folder}: {error.strerror or error}")
    typer.echo(f"{history['status']}: {plan.out / 'history.json'}")
    if history["status"] != "completed":
        raise typer.Exit(130)


def main() -> None:
    """Entry point of the ``oracle`` command."""
    try:
        app(prog_name="oracle")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
