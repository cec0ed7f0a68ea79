"""The ``grader`` command. Nothing heavy is imported before it is needed: ``--help`` answers at once."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Compare NES emulators frame by frame and score them from 0 to 1.\n\n"
    "grader [--reference EMU] CANDIDATE [CORPUS] [OUT] grades; the commands below do the rest.\n\n"
    "An emulator is pynes_ref, pynes_ref:BUG, a .wasm module, a native library (.so .dylib .dll) or a folder of "
    ".refcache recordings.",
)

Reference = Annotated[str, typer.Option("--reference", "-r", metavar="EMU", help="The emulator to be compared with.")]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", min=0, metavar="N", help="Processes; 0 = in this one. Default: all cores.")
]
Trust = Annotated[bool, typer.Option("--trust-native", help="Run native libraries, which can do anything you can.")]
Only = Annotated[list[str] | None, typer.Option("--only", metavar="ID", help="Only this testcase (may be repeated).")]
Cache = Annotated[Path | None, typer.Option("--cache", metavar="DIR", help="Where reference recordings are kept.")]
EmptyWeights = Annotated[
    bool, typer.Option("--allow-empty-weights", help="Accept weights without a testcase (they count as 0).")
]
CorpusArg = Annotated[
    Path | None, typer.Argument(metavar="[CORPUS]", show_default=False, help="A folder. Default: builtin, our own.")
]


@contextlib.contextmanager
def _plain_errors() -> Iterator[None]:
    """Expected faults as one line (a corpus: one list) and exit code 2; Ctrl-C as 130."""
    from abi.candidate import CandidateError, EmulatorError
    from grader.manifest import CorpusError
    from pynes_ref.movie import MovieError

    try:
        yield
    except (EmulatorError, CandidateError, CorpusError, MovieError) as error:
        typer.echo(f"grader: {error}", err=True)
        raise typer.Exit(2) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        typer.echo(f"grader: {where}{error.strerror or error}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _corpus(folder: Path | None, only: list[str] | None = None, allow_empty: bool = False, show: bool = True):
    from grader import builtin
    from grader.manifest import load_corpus

    if folder is None or (str(folder) == builtin.NAME and not folder.exists()):
        folder = builtin.folder()
    corpus = load_corpus(folder, allow_empty_weights=allow_empty)
    if show:
        for note in corpus.notes:
            typer.echo(f"note: {note}", err=True)
    return corpus.only(only) if only else corpus


def _jobs(jobs: int | None, *emulators: str) -> int:
    """The number of processes; they begin to load what these emulators need."""
    from grader import parallel

    jobs = parallel.default_jobs() if jobs is None else jobs
    if jobs:
        parallel.start_early(core=any(name.split(":")[0] == "pynes_ref" for name in emulators))
    return jobs


@app.command()
def grade(
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="The emulator to be graded.")],
    corpus: CorpusArg = None,
    out: Annotated[
        Path | None,
        typer.Argument(metavar="[OUT]", show_default=False, help="Folder for results. Default: out/NAME."),
    ] = None,
    reference: Reference = "pynes_ref",
    jobs: Jobs = None,
    only: Only = None,
    resume: Annotated[bool, typer.Option("--resume", help="Keep testcases finished by an earlier run in OUT.")] = False,
    trust_native: Trust = False,
    cache: Cache = None,
    emit_video: Annotated[bool, typer.Option("--emit-video", help="Also write MP4 films (needs PyAV).")] = False,
    allow_empty_weights: EmptyWeights = False,
    strict: Annotated[bool, typer.Option("--strict", help="Also a score that hears loudness.")] = False,
    also: Annotated[
        str | None, typer.Option("--also", metavar="EMU", help="A second reference: where the two differ is told.")
    ] = None,
    hints: Annotated[bool, typer.Option("--hints", help="Also say in plain words what may be wrong.")] = False,
    executor: Annotated[
        str, typer.Option(metavar="WHERE", help="local, or dask://HOST:PORT for a Dask cluster.")
    ] = "local",
) -> None:
    """Grade a candidate over a corpus (the default command)."""
    with _plain_errors():
        jobs = _jobs(jobs if executor == "local" else 0, candidate)
        from abi.loader import resolve
        from grader import run, terminal
        from grader.parallel import choose

        what = _corpus(corpus, only, allow_empty_weights)
        cand = resolve(candidate, trust_native=trust_native)
        ref = resolve(reference, trust_native=trust_native)
        folder = out or Path("out") / cand.label
        options = run.Options(
            jobs=jobs,
            resume=resume,
            cache=cache,
            emit_video=emit_video,
            partial=bool(only),
            strict=strict,
            hints=hints,
            also=resolve(also, trust_native=trust_native) if also is not None else None,
        )
        with terminal.Live(f"grading {cand.title}") as live:
            try:
                graded = run.grade(what, cand, ref, folder, options, live, choose(executor))
            except KeyboardInterrupt:
                live.__exit__()
                typer.echo(f"interrupted; finished testcases are in {folder} (--resume continues)", err=True)
                raise
        terminal.summary_table(terminal.out(), graded.summary, graded.rows)
        typer.echo(f"results in {folder}: summary.json, report.html, one set of files a testcase", err=True)


@app.command()
def precompute(
    corpus: CorpusArg = None,
    reference: Reference = "pynes_ref",
    into: Annotated[
        Path | None,
        typer.Option("--into", metavar="DIR", help="Write DIR/ID.refcache: a folder usable as an emulator."),
    ] = None,
    jobs: Jobs = None,
    only: Only = None,
    trust_native: Trust = False,
    cache: Cache = None,
) -> None:
    """Record the reference over a corpus, so that grading need not run it."""
    with _plain_errors():
        from abi.loader import resolve
        from grader import precompute as module
        from grader import terminal

        what = _corpus(corpus, only, True)
        ref = resolve(reference, trust_native=trust_native)
        with terminal.Live(f"recording {ref.title}") as live:
            made, kept = module.precompute(what, ref, into, cache, _jobs(jobs, reference), live)
        typer.echo(f"{made} recorded, {kept} already there")


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="OUT...", help="Folders of finished runs.")],
    everything: Annotated[bool, typer.Option("--all", help="Every testcase, not only those that moved.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """Set finished runs side by side: a leaderboard and the testcases that moved."""
    with _plain_errors():
        from grader.compare import show

        show(runs, everything, as_json)


@app.command()
def check(
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="The emulator to be checked.")],
    rom: Annotated[Path | None, typer.Option("--rom", metavar="ROM", help="A ROM to check it with.")] = None,
    reference: Annotated[
        str | None, typer.Option("--reference", "-r", metavar="EMU", help="Compare timing with this one.")
    ] = None,
    trust_native: Trust = False,
) -> None:
    """Does an emulator keep the ABI? Exports, buffers, reset, draining, determinism, call 0, frame timing."""
    with _plain_errors():
        from abi import conformance

        findings = conformance.check(candidate, rom=rom, reference=reference, trust_native=trust_native)
        for finding in findings:
            typer.echo(f"{'ok  ' if finding.ok else 'FAIL' if finding.fatal else 'odd '} {finding.text}")
        if any(finding.fatal and not finding.ok for finding in findings):
            raise typer.Exit(1)


@app.command()
def explain(
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="The emulator to be explained.")],
    reference: Reference = "pynes_ref",
    case: Annotated[str | None, typer.Option("--case", metavar="ID", help="A testcase of the corpus.")] = None,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", metavar="DIR", show_default=False, help="Default: built in.")
    ] = None,
    rom: Annotated[Path | None, typer.Option("--rom", metavar="ROM", help="A ROM, in place of a testcase.")] = None,
    replay: Annotated[Path | None, typer.Option("--replay", metavar="FILE", help="Its input.")] = None,
    frames: Annotated[int | None, typer.Option("--frames", min=1, metavar="N", help="Frames to compare.")] = None,
    begin: Annotated[int, typer.Option("--from", min=0, metavar="N", help="Overlook what differs before frame N.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write explain.html, explain.txt, pictures, the trace.")
    ] = None,
    trust_native: Trust = False,
) -> None:
    """Where do two emulators first differ, and what led to it? Exit code 1 when they do."""
    with _plain_errors():
        from abi.loader import resolve
        from grader import explain as module
        from grader import explain_text, terminal

        if (case is None) == (rom is None) or (replay is not None and rom is None):
            typer.echo("grader: give --case ID, or --rom ROM with or without --replay FILE", err=True)
            raise typer.Exit(2)
        cand = resolve(candidate, trust_native=trust_native)
        ref = resolve(reference, trust_native=trust_native)
        if case is not None:
            what = _corpus(corpus, [case], True, show=False)
            job = module.job_of_case(what.cases[0], what.config.candidate_boot_frames, frames)
        else:
            job = module.job_of_rom(rom, replay, frames, ref, cand)
        with terminal.err().status("starting") as status:
            result = module.explain(
                job, cand, ref, begin, progress=lambda what, n, of: status.update(f"{what} {n}/{of}" if of else what)
            )
        explain_text.show(result, terminal.out())
        if out is not None:
            typer.echo(f"written: {', '.join(str(out / name) for name in module.write(result, out))}", err=True)
        if not result.equal:
            raise typer.Exit(1)


@app.command()
def gate(
    candidate: Annotated[str, typer.Argument(metavar="[CANDIDATE]")] = "",
    corpus: CorpusArg = None,
    reference: Reference = "pynes_ref",
    jobs: Jobs = None,
    only: Only = None,
    trust_native: Trust = False,
) -> None:
    """The determinism gate: record everything twice and grade twice; every byte must agree."""
    with _plain_errors():
        from abi.loader import resolve
        from grader.determinism import gate as run_gate

        what = _corpus(corpus, only, True)
        ref = resolve(reference, trust_native=trust_native)
        cand = resolve(candidate, trust_native=trust_native) if candidate else ref
        jobs = _jobs(jobs, reference, candidate)
        differences = run_gate(what, cand, ref, jobs, lambda text: typer.echo(text, err=True))
        for line in differences:
            typer.echo(f"differs: {line}")
        typer.echo("not deterministic" if differences else "deterministic: every byte agrees")
        if differences:
            raise typer.Exit(1)


@app.command()
def sensitivity(
    corpus: CorpusArg = None,
    reference: Reference = "pynes_ref",
    base: Annotated[str, typer.Option("--base", metavar="EMU", help="The emulator that gets the bugs.")] = "",
    bug: Annotated[
        list[str] | None, typer.Option("--bug", metavar="BUG", help="Only this bug (may be repeated).")
    ] = None,
    jobs: Jobs = None,
    only: Only = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
    allow_empty_weights: EmptyWeights = False,
    trust_native: Trust = False,
    cache: Cache = None,
) -> None:
    """Inject every known bug and see what the corpus makes of it."""
    with _plain_errors():
        from abi.loader import resolve
        from grader import sensitivity as module

        what = _corpus(corpus, only, allow_empty_weights)
        ref = resolve(reference, trust_native=trust_native)
        jobs = _jobs(jobs, base or "pynes_ref")
        module.show(what, ref, base or "pynes_ref", bug, jobs, cache, as_json, trust_native, bool(only))


def main() -> None:
    """Entry point. Whatever does not begin with a command's name is the default command's."""
    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    arguments = sys.argv[1:]
    if arguments and arguments[0] not in known and arguments[0] not in ("--help", "-h", "--version"):
        arguments = ["grade", *arguments]
    if arguments[:1] == ["--version"]:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"grader (pynes-ref) {version('pynes-ref')}")
        except PackageNotFoundError:
            typer.echo("grader (pynes-ref), not installed")
        return
    if arguments[:1] == ["-h"]:
        arguments = ["--help"]
    app(arguments, prog_name="grader")


if __name__ == "__main__":
    main()
