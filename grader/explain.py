"""``grader explain``: the first moment at which two emulators differ, and what leads up to it.

Both play the same ROM with the same buttons until they part (``explain_run``). Then come guesses at the cause
(``explain_guess``; ``explain_try`` by experiment) and, if ``pynes_ref`` can play the ROM, the neighbourhood of the
first differing pixel and sample: every register access with scanline and dot, the CPU's trace, the PPU's state
(``explain_watch``). ``pynes_ref`` serves as the witness even if it is neither of the two: what it shows is said to be
the reference's or the candidate's picture, or neither.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from abi.candidate import EmulatorError, audio_rate
from abi.loader import Emulator, resolve
from grader import explain_guess, explain_pictures, explain_try
from grader.explain_guess import Guess, Region, region
from grader.explain_run import Job, Parting, Side, part, recorded_frames
from grader.explain_watch import Tile, Watched, Watcher, agrees_with, sprites_on, tile_at
from grader.lockstep import Pair
from grader.manifest import Case
from grader.replay import NO_REPLAY_SHA256, Movie, load_hashed

DEFAULT_FRAMES = 600
AFTER_THE_REPLAY = 60
CPU_RATE = 1_789_773
SAMPLES_DROPPED = 17
KERNEL_CYCLES = 650
"""A change of level reaches back 16 samples in the band-limited sound (abi/ABI.md, "Sound")."""
EVERYWHERE = frozenset({"blank", "frozen", "early", "late", "scanline", "shift", "palette", "emphasis", "grey"})
"""Faults of the whole picture: no single register access is to blame."""
BITS = ("pulse1", "pulse2", "triangle", "noise", "dmc")


@dataclass
class Explanation:
    """Everything found out. ``picture`` and ``sound``: the neighbourhoods, None when there is nothing to look at."""

    job: Job
    reference: str
    candidate: str
    parting: Parting
    guesses: list[Guess] = field(default_factory=list)
    pair: Pair | None = None
    region: Region | None = None
    picture: Watched | None = None
    witness: str = ""
    """Whose picture pynes_ref shows in the first differing frame: "both", "reference", "candidate", "neither"."""
    tile: Tile | None = None
    sprites: list[int] = field(default_factory=list)
    sound: Watched | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        return self.parting.equal


def job_of_case(case: Case, boot_frames: int = 0, frames: int | None = None) -> Job:
    """A testcase of a corpus."""
    keys = case.keys if frames is None else case.keys[:frames]
    return Job(case.id, case.rom(), keys, case.rom_sha256, case.replay_sha256, boot_frames)


def job_of_rom(rom: Path, replay: Path | None, frames: int | None, *emulators: Emulator) -> Job:
    """A ROM with or without a replay; without ``frames`` as long as a recording, or a little longer than the replay."""
    data = rom.read_bytes()
    movie, replay_sha256 = load_hashed(replay) if replay else (Movie(), NO_REPLAY_SHA256)
    job = Job(rom.stem, data, b"", hashlib.sha256(data).hexdigest(), replay_sha256)
    lengths = [n for n in (recorded_frames(e, job) for e in emulators) if n is not None]
    default = movie.last_frame + AFTER_THE_REPLAY if replay else DEFAULT_FRAMES
    count = frames or (min(lengths) if lengths else default)
    return Job(job.name, data, movie.keys(count), job.rom_sha256, replay_sha256)


def explain(
    job: Job,
    candidate: Emulator,
    reference: Emulator,
    begin: int = 0,
    after: int = 120,
    progress: Callable[[str, int, int], None] | None = None,
) -> Explanation:
    """Compare and explain. EmulatorError when one of the two cannot play the job."""
    lengths = [n for n in (recorded_frames(e, job) for e in (reference, candidate)) if n is not None]
    if lengths and min(lengths) < len(job.keys):
        job = Job(job.name, job.rom, job.keys[: min(lengths)], job.rom_sha256, job.replay_sha256, job.boot_frames)
    tell = progress or (lambda what, done, total: None)
    sides = []
    try:
        sides.append(Side(reference, Job(job.name, job.rom, job.keys, job.rom_sha256, job.replay_sha256)))
        audio_rate(sides[0].candidate)  # times are told by it; a candidate's own is only compared
        sides.append(Side(candidate, job))
        total = len(job.keys)
        found = part(job, sides[0], sides[1], begin, after, lambda n: tell("comparing", n, total))
    finally:
        for side in sides:
            side.close()
    result = Explanation(job, reference.name, candidate.name, found)
    for who, notes in zip(("reference", "candidate"), found.notes):
        result.notes += [f"{who}, {note}" for note in notes]
    if found.equal:
        return result
    tell("looking closer", 0, 0)
    watcher = _watcher(job, result)
    if found.first_frame is not None:
        _look(result, watcher)
    if found.sample_call is not None and not found.only_rounding and watcher is not None:
        _listen(result, watcher)
    tell("trying guesses", 0, 0)
    _guess(result, candidate, reference)
    return result


def _watcher(job: Job, result: Explanation) -> Watcher | None:
    try:
        return Watcher(job)
    except EmulatorError as error:
        result.notes.append(f"no trace: {error}")
        return None


def _look(result: Explanation, watcher: Watcher | None) -> None:
    found = result.parting
    result.pair = found.pairs[found.first_frame]
    result.region = region(result.pair)
    if watcher is None:
        return
    result.picture = watcher.watch(found.first_frame, pixel=result.region.first)
    result.witness = agrees_with(result.picture, *result.pair)
    result.tile = tile_at(result.picture, result.region.first[1])
    result.sprites = sprites_on(result.picture.console, *result.region.first)


def _listen(result: Explanation, watcher: Watcher) -> None:
    found = result.parting
    # Samples are the console's; the cycle in which the first differing one is complete.
    cycle = int((found.first_sample + SAMPLES_DROPPED + 1) * CPU_RATE / found.rates[0])
    result.sound = watcher.watch(found.sample_call, cycle=cycle)


def _guess(result: Explanation, candidate: Emulator, reference: Emulator) -> None:
    found, guesses = result.parting, result.guesses
    if found.first_frame is not None:
        guesses += explain_guess.of_picture(found)
        kinds = {guess.kind for guess in guesses}
        if not kinds & EVERYWHERE - {"late", "early", "frozen"}:
            tried = explain_try.of_input(result.job, reference, candidate, found)
            if tried:
                # An experiment beats what was guessed from the pictures.
                guesses[:] = [tried] + [g for g in guesses if g.kind == "extent"]
                kinds = {"input"}
        if result.picture is not None and result.witness != "neither" and not kinds & EVERYWHERE:
            guesses += _from_the_state(result)
    sound = explain_guess.of_sound(found)
    if found.first_frame is None and found.far_sample is not None:
        sound.insert(0, Guess("sound-only", "Every picture is the same: only the sound differs."))
    if found.far_sample is not None and not {g.kind for g in sound} & {"rate", "silent", "inverted", "gain", "lag"}:
        if found.first_frame is None or found.sample_call < found.first_frame:
            witness = resolve("pynes_ref") if reference.recorded else reference
            tried = explain_try.of_channels(result.job, witness, found, _sounding(result))
            if tried:
                sound.append(tried)
    guesses += sound


def _sounding(result: Explanation) -> tuple[str, ...]:
    if result.sound is None or len(result.job.keys) < 600:
        return BITS
    status = result.sound.console.peek(0x4015)
    return tuple(name for bit, name in enumerate(BITS) if status >> bit & 1) or BITS


def _from_the_state(result: Explanation) -> list[Guess]:
    """What the neighbourhood adds to the guesses."""
    watched, area = result.picture, result.region
    guesses = []
    if explain_pictures.sprites_only(*result.pair, watched.console):
        guesses.append(
            Guess("sprites", "All differing pixels lie where sprites are: OAM, sprite evaluation, priority or OAM DMA.")
        )
    writes = [e for e in watched.last_writes(400, frozenset({"ppu", "board"})) if e.frame == watched.frame]
    visible = [e for e in writes if e.line < 240 and _dots_before(e, watched) <= 2 * 341]
    if visible and area.first[0] > 0:
        last = visible[-1]
        guesses.append(
            Guess(
                "write",
                f"Just before the first differing pixel {last.name} is written: ${last.value:02X} at {last.place} "
                f"({last.text or 'no effect known'}), by the instruction at ${last.pc:04X}, "
                f"{_dots_before(last, watched)} dots earlier. Does it take effect at that dot on the candidate?",
            )
        )
    return guesses


def _dots_before(event, watched: Watched) -> int:
    line, dot = watched.target or (watched.line, watched.dot)
    return (line - event.line) * 341 + dot - event.dot


def write(result: Explanation, folder: Path) -> list[str]:
    """``explain.html`` and ``explain.txt``, the PNGs of a differing picture, ``trace.txt`` if there is one.

    Returns their names.
    """
    from io import StringIO

    from rich.console import Console

    from grader.explain_html import page
    from grader.explain_text import show
    from grader.run import write_file

    text = StringIO()
    show(result, Console(file=text, width=140, highlight=False), full=True)
    files = {"explain.html": page(result).encode(), "explain.txt": text.getvalue().encode()}
    if result.pair is not None:
        first = result.region.first
        files["frames.png"] = explain_pictures.frames(*result.pair, first)
        files["close.png"] = explain_pictures.close_look(*result.pair, first)
    if result.picture is not None:
        files["nametables.png"] = explain_pictures.nametables(result.picture.console, result.tile)
    watched = result.picture or result.sound
    if watched is not None:
        files["trace.txt"] = "".join(f"{step.text}\n" for step in watched.steps).encode()
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        write_file(folder / name, data)
    return list(files)
