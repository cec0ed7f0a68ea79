"""Where the recordings are, and what the summary says about them."""

from __future__ import annotations

from pathlib import Path

import pytest
from places import SHARED, missing


@pytest.fixture(scope="session")
def recordings() -> Path:
    """The folder of recordings."""
    folder = SHARED / "recordings"
    if not folder.is_dir():
        missing(f"no recordings in {folder}; name the folder above it in PYNES_SHARED")
    return folder


@pytest.fixture
def report(record_property):
    """Keep a comparison's numbers for the summary."""

    def keep(kind, found):
        record_property("agreement", (kind, found.properties()))

    return keep


def pytest_terminal_summary(terminalreporter):
    """One line a kind of recording: how much was compared, and how much of it differed."""
    totals = {}
    for outcome in ("passed", "failed"):
        for test in terminalreporter.stats.get(outcome, []):
            for name, value in getattr(test, "user_properties", ()):
                if name == "agreement" and test.when == "call":
                    total = totals.setdefault(value[0], {"recordings": 0})
                    total["recordings"] += 1
                    for key, number in value[1].items():
                        total[key] = max(total.get(key, 0), number) if key == "largest" else total.get(key, 0) + number
    for kind, total in sorted(totals.items()):
        count, differ, frames = (total[key] for key in ("recordings", "unequal_frames", "frames"))
        line = f"agreement, {kind}: {count} recordings, {differ} of {frames} frames differ; "
        if kind == "whole":
            line += f"{total['unequal_samples']} of {total['samples']} samples differ, by {total['largest']} at most"
        else:
            line += f"the sound of {total['unequal_sound_calls']} calls differs"
        terminalreporter.write_line(line)
