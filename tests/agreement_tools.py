"""What two runs are compared by, and how a difference is told."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import numpy as np

from abi.recorded import Recording
from pynes_ref import Console

AUDIO_CALLS = 0.99
"""Part of the calls whose sound must be equal in every bit; in the others the last bit may be rounded otherwise."""


@dataclass
class Differences:
    """What differed in a run. ``faults``: aspect ("frames", "counts", "sound") and what there is to say about it."""

    frames: int = 0
    samples: int = 0
    unequal_frames: int = 0
    unequal_samples: int = 0
    largest: int = 0
    unequal_sound_calls: int = 0
    faults: dict[str, str] = field(default_factory=dict)

    def properties(self) -> dict[str, int]:
        names = ("frames", "samples", "unequal_frames", "unequal_samples", "largest", "unequal_sound_calls")
        return {name: getattr(self, name) for name in names}

    def told(self) -> str:
        return "\n".join(self.faults.values())


def first_pixel(ours: np.ndarray, recorded: np.ndarray) -> str:
    """Where two pictures first differ, in raster order."""
    ours, recorded = ours.reshape(240, 256), recorded.reshape(240, 256)
    unequal = ours != recorded
    y, x = (int(v) for v in np.argwhere(unequal)[0])
    lines = np.flatnonzero(unequal.any(axis=1))
    return (
        f"{int(unequal.sum())} pixels, the first at x {x} of scanline {y}: "
        f"${int(ours[y, x]):03X}, recorded ${int(recorded[y, x]):03X}; scanlines {lines[0]} to {lines[-1]}"
    )


def whole(rom: bytes, keys: bytes, recording: Recording) -> Differences:
    """Our run against a recording that holds everything."""
    console = Console(rom)
    found = Differences(frames=recording.frame_count, samples=recording.audio.size)
    counts, sound = [], []
    for call, (held, recorded) in enumerate(zip(keys, recording.frames(), strict=True)):
        frame = console.run_frame(held).reshape(-1)
        if not np.array_equal(frame, recorded):
            found.unequal_frames += 1
            if "frames" not in found.faults:
                found.faults["frames"] = f"frame {call} is the first that differs: {first_pixel(frame, recorded)}"
        sound.append(console.drain_audio())
        counts.append(sound[-1].size)
    wrong = np.flatnonzero(np.array(counts) != recording.samples)
    if wrong.size:
        call = int(wrong[0])
        found.faults["counts"] = (
            f"{wrong.size} calls have another number of samples, the first is call {call}: "
            f"{counts[call]}, recorded {recording.samples[call]}"
        )
    ours = np.concatenate(sound)
    size = min(ours.size, recording.audio.size)
    off = np.abs(ours[:size].astype(np.int32) - recording.audio[:size])
    found.unequal_samples = int((off > 0).sum())
    found.largest = int(off.max(initial=0))
    if found.largest > 1:
        at = int(np.flatnonzero(off > 1)[0])
        call = int(np.searchsorted(np.cumsum(recording.samples), at, side="right"))
        found.faults["sound"] = (
            f"{int((off > 1).sum())} samples are off by more than 1, the first is sample {at} (call {call}): "
            f"{ours[at]}, recorded {recording.audio[at]}"
        )
    if found.unequal_frames > 1:
        found.faults["frames"] += f"; {found.unequal_frames} of {found.frames} frames differ"
    return found


def by_checksums(rom: bytes, recorded: dict[str, np.ndarray], options: dict | None = None) -> Differences:
    """Our run against checksums of every call and some whole frames; ``options``: how to build the console."""
    console = Console(rom, **(options or {}))
    calls = len(recorded["keys"])
    found = Differences(frames=calls, samples=int(recorded["samples"].sum()))
    checkpoints = dict(zip(recorded["checkpoint"].tolist(), recorded["checkpoint_frames"]))
    pictures, counts, sounds, pixel = [], [], [], ""
    for call in range(calls):
        frame = console.run_frame(int(recorded["keys"][call]))
        pictures.append(zlib.crc32(frame.astype("<u2", copy=False).tobytes()))
        sound = console.drain_audio()
        counts.append(sound.size)
        sounds.append(zlib.crc32(sound.astype("<i2", copy=False).tobytes()))
        if not pixel and call in checkpoints and not np.array_equal(frame, checkpoints[call]):
            pixel = f"; frame {call}, kept whole: {first_pixel(frame, checkpoints[call])}"
    wrong = {
        name: np.flatnonzero(np.array(ours) != recorded[of])
        for name, ours, of in (
            ("frames", pictures, "frame_crc32"),
            ("counts", counts, "samples"),
            ("sound", sounds, "audio_crc32"),
        )
    }
    found.unequal_frames, found.unequal_sound_calls = wrong["frames"].size, wrong["sound"].size
    if wrong["frames"].size:
        found.faults["frames"] = (
            f"frame {wrong['frames'][0]} is the first of {wrong['frames'].size} (of {calls}) that differ" + pixel
        )
    if wrong["counts"].size:
        call = int(wrong["counts"][0])
        found.faults["counts"] = (
            f"call {call} is the first of {wrong['counts'].size} with another number of samples: "
            f"{counts[call]}, recorded {recorded['samples'][call]}"
        )
    if wrong["sound"].size > calls * (1 - AUDIO_CALLS):
        first = int(wrong["sound"][0])
        sample = int(recorded["samples"][:first].sum(dtype=np.int64))
        found.faults["sound"] = (
            f"call {first} (from sample {sample} on) is the first of {wrong['sound'].size} whose sound differs; "
            f"at most {1 - AUDIO_CALLS:.0%} may"
        )
    return found
