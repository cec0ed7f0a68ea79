"""A console as it is beside one that keeps to the definition: no whole lines, nothing put off (``whole_lines`` = 0)."""

import numpy as np

from pynes_ref import Console
from pynes_ref.core.state import NES, STATE_BYTES

FLAG = NES.fields["ppu"][1] + NES["ppu"].fields["whole_lines"][1]
COMPARED = np.ones(STATE_BYTES, bool)
COMPARED[FLAG : FLAG + 8] = False


def pair(rom):
    """``(as it is, by the definition)``."""
    consoles = Console(rom), Console(rom)
    consoles[1]._nes["ppu"]["whole_lines"] = 0
    return consoles


def difference(short, definition):
    """Name of the first field of the record in which they differ; empty when the states are equal."""
    differs = (short.snapshot() != definition.snapshot()) & COMPARED
    return _field(NES, int(np.argmax(differs))) if differs.any() else ""


def _field(record, offset):
    for name in record.names:
        kind, start = record.fields[name][:2]
        if start <= offset < start + kind.itemsize:
            return f"{name}.{_field(kind, offset - start)}" if kind.names else f"{name} byte {offset - start}"
    return f"byte {offset}"
