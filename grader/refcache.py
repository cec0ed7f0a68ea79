"""The reference cache: what a reference showed and played, once for all candidates.

Files are ``.refcache`` version 1 (``abi.recorded``). One counts only when magic, version, all three hashes and
the frame count match; anything else is recorded again. Files appear whole or not at all (temporary file, fsync,
rename), so that two graders may work on one cache; both write the same bytes. A process that is ended takes its
temporary files along (``forget_unfinished``); those of one that was killed outright go after a day.

Names carry a hash of the key: caches of several references and corpora live in one folder side by side. Each has a
seal (``abi.seal``), which makes reading it cheaper. A corpus may also bring its own under
``reference-cache/<id>.refcache``; those are read and never written here.

What reads and writes (NumPy, zstandard) is imported where that is done: the process that only hands out tasks has no
use for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from abi import seal
from abi.candidate import PIXEL_MASK, PIXELS, CandidateError, EmulatorError, audio_rate, boot, drain, load, start
from abi.loader import Case as CaseKey
from abi.loader import Emulator
from grader.manifest import Case

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from abi.candidate import Candidate
    from abi.recorded import Header, Recording

LEVEL = 11
"""zstd: twice as long to write as level 3, two thirds as long to read, a quarter of the size or less. Written once,
read by every grading. From level 13 on, writing takes three times as long.
"""
WINDOW_LOG = 19
"""Half a megabyte, four pictures, of what was unpacked is looked back at. Beside a console that runs, a larger window
does not stay in the processor's second cache, and a picture takes a third longer to unpack and compare.
Files are a tenth to a fifth larger for it.
"""
STALE_SECONDS = 24 * 3600
"""Temporary files that nobody wrote to for so long are left behind: a grader at work writes far more often, and one on
a machine that slept has its night.
"""
_unfinished: set[str] = set()


def default_folder() -> Path:
    """Where caches go: ``PYNES_REF_CACHE``, else the user's cache folder."""
    given = os.environ.get("PYNES_REF_CACHE")
    if given:
        return Path(given) / "refcache"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "pynes_ref" / "refcache"


def case_key(case: Case) -> CaseKey:
    """What a recording of this testcase has to match."""
    return CaseKey(case.id, case.rom_sha256, case.replay_sha256)


def cache_path(folder: Path, case: Case, reference: Emulator) -> Path:
    """Where the recording of a testcase belongs."""
    key = f"{reference.identity} {case.rom_sha256} {case.replay_sha256} {case.frames}"
    return folder / f"{case.id}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.refcache"


def identity(case: Case, reference: Emulator) -> str:
    """SHA-256 of the reference: for recordings, of the one that was recorded. EmulatorError when there is none."""
    if reference.recorded:
        from abi.recorded import read_header

        return read_header(reference.recording_path(case_key(case))).reference_sha256
    return reference.identity


def matches(header: Header, case: Case, reference_sha256: str | None) -> str | None:
    """Why a recording does not count for a testcase (None: it does). ``reference_sha256`` None: any reference."""
    if reference_sha256 is not None and header.reference_sha256 != reference_sha256:
        return "it is of another reference"
    if header.rom_sha256 != case.rom_sha256:
        return "it is of another ROM"
    if header.replay_sha256 != case.replay_sha256:
        return "it was made with another replay"
    if header.frame_count != case.frames:
        return f"it has {header.frame_count} frames, the testcase {case.frames}"
    return None


@dataclass(frozen=True)
class Found:
    """A recording to grade against, and what is worth telling about how it was come by."""

    recording: Recording
    note: str = ""
    made: bool = False


def ensure(
    case: Case, reference: Emulator, folder: Path, corpus_folder: Path | None = None, *, lazily: bool = False
) -> Found:
    """The reference's recording of a testcase: a given one, a cached one, or a fresh one (which is then cached).

    ``lazily``: only headers are checked; damage then shows while the recording is read. Asked once more without it,
    a damaged one is recorded again. EmulatorError when the reference is a recording that does not fit, or cannot run
    the ROM.
    """
    from abi.recorded import Recording, RecordingError

    if reference.recorded:
        recording = Recording(reference.recording_path(case_key(case)), lazily)
        why = matches(recording.header, case, None)
        if why:
            raise RecordingError(f"{recording.path} is no recording of {case.id}: {why}")
        return Found(recording)
    note = ""
    candidates = [cache_path(folder, case, reference)]
    if corpus_folder is not None:
        candidates.append(corpus_folder / "reference-cache" / f"{case.id}.refcache")
    for path in candidates:
        if not path.is_file():
            continue
        try:
            recording = Recording(path, lazily)
        except RecordingError as error:
            note = f"{error}; recorded again"
            continue
        if matches(recording.header, case, reference.identity) is None:
            return Found(recording, note)
    path = candidates[0]
    record_sealed(path, case, reference)
    return Found(Recording(path, lazily), note, made=True)


def run_reference(candidate: Candidate, case: Case) -> Iterator[tuple[NDArray[np.uint16], NDArray[np.int16]]]:
    """Picture and samples of every frame of a testcase. CandidateError when a call traps."""
    start(candidate)
    load(candidate, case.rom())
    boot(candidate, candidate.emu_boot_frames())
    for keys in case.keys:
        candidate.emu_set_keys(keys)
        candidate.emu_run_frame()
        yield candidate.emu_framebuffer().reshape(-1), drain(candidate)


def record(path: Path, case: Case, reference: Emulator, progress: Callable[[int], None] | None = None) -> bytes:
    """Run the reference over a testcase and write its cache file, whose seal is returned (``abi.seal``)."""
    from abi.recorded import Header

    try:
        candidate = reference.open(case_key(case))
        rate = audio_rate(candidate)
        header = Header(reference.identity, case.rom_sha256, case.replay_sha256, case.frames, rate)
        return write(path, header, run_reference(candidate, case), progress)
    except CandidateError as error:
        raise EmulatorError(f"the reference cannot run {case.id}: {error}") from None


def record_sealed(path: Path, case: Case, reference: Emulator, progress: Callable[[int], None] | None = None) -> None:
    """``record``, and the seal beside it; a folder that refuses the seal goes without."""
    _sweep(path.parent)
    line = record(path, case, reference, progress)
    with contextlib.suppress(OSError), _whole(seal.path_of(path)) as file:
        file.write(line)


def forget_unfinished() -> None:
    """Remove the temporary files of this process, which is about to end. Also for signal handlers."""
    for temporary in list(_unfinished):
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _sweep(folder: Path) -> None:
    """Remove what killed processes left behind in a cache folder."""
    with contextlib.suppress(OSError):
        for path in folder.glob(".*.refcache*.tmp"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > STALE_SECONDS:
                    path.unlink()


def write(
    path: Path,
    header: Header,
    frames: Iterable[tuple[NDArray[np.uint16], NDArray[np.int16]]],
    progress: Callable[[int], None] | None = None,
) -> bytes:
    """Write a recording from its frames, deriving both thresholds; the file appears whole or not at all.

    Returned is the seal of what was written: whatever becomes of it on its way to the disk, it is not of that.
    """
    import numpy as np
    import zstandard

    from abi.recorded import MAGIC, VERSION
    from grader.metrics import audio as audio_metric  # Numba
    from grader.metrics import video as video_metric
    from grader.pictures import palette

    changes: list[float] = []
    counts: list[int] = []
    sound: list[NDArray[np.int16]] = []
    before: NDArray[np.uint16] | None = None
    tables = palette()
    how = zstandard.ZstdCompressionParameters.from_level(LEVEL, window_log=WINDOW_LOG, write_checksum=True)
    compressor = zstandard.ZstdCompressor(compression_params=how)
    with _whole(path) as file, compressor.stream_writer(sealer := seal.Sealer(file), closefd=False) as out:
        out.write(MAGIC + struct.pack("<I", VERSION))
        for text in header[:3]:
            out.write(struct.pack("<Q", len(text)) + text.encode("ascii"))
        out.write(struct.pack("<IIQ", header.frame_count, header.audio_rate, header.frame_count * PIXELS))
        for frame, samples in frames:
            now = frame & PIXEL_MASK
            out.write(now.astype("<u2", copy=False).tobytes())
            if before is not None:
                changed = video_metric.change(tables, before, now)
                if changed is not None:
                    changes.append(changed)
            before = now
            counts.append(samples.size)
            sound.append(samples)
            if progress is not None and len(counts) % 32 == 0:
                progress(len(counts))
        if len(counts) != header.frame_count:
            raise ValueError(f"{len(counts)} frames instead of {header.frame_count}")
        track = np.concatenate(sound) if sound else np.zeros(0, np.int16)
        out.write(struct.pack("<Q", len(counts)) + np.asarray(counts, "<u4").tobytes())
        out.write(struct.pack("<Q", track.size) + track.astype("<i2").tobytes())
        audio_tau = audio_metric.threshold(audio_metric.spectrogram(track, header.audio_rate))
        out.write(struct.pack("<ff", video_metric.threshold(changes), audio_tau))
    return sealer.seal()


@contextlib.contextmanager
def _whole(path: Path):
    """A binary file that replaces ``path`` when the block ends well and leaves no trace when it does not.

    An OSError names ``path``, not the temporary file.
    """
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        _unfinished.add(temporary)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp's files are their owner's alone
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and (error.filename is None or error.filename.endswith(".tmp")):
            raise OSError(error.errno, error.strerror or str(error), str(path)) from None
        raise
    finally:
        _unfinished.discard(temporary)
