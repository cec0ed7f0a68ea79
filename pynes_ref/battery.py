"""Battery-backed PRG RAM, kept in ``<rom>.sav`` beside the ROM.

The file holds the battery-backed bytes and nothing else, as other emulators'
``.sav`` files do.
"""

import os
from pathlib import Path

import numpy as np

from .files import atomic_write
from .ines import KIB, Cartridge


class BatteryError(ValueError):
    """A save file that cannot be read or written; the message is one line."""


def battery_path(rom: str | os.PathLike) -> Path:
    """Where the battery RAM of the ROM file ``rom`` is kept: ``game.nes`` has ``game.sav``."""
    path = Path(rom)
    if path.suffix.lower() == ".nes":
        return path.with_suffix(".sav")
    return path.with_name(path.name + ".sav")


def load_battery(cart: Cartridge, nes: np.void, path: str | os.PathLike) -> bool:
    """Fill the console's battery RAM from ``path``. False when there is no battery or no file yet.

    Raises ``BatteryError`` when the file cannot be read or has the wrong size; the console and the
    file are left as they were. An iNES header does not say how much RAM there is, so a shorter
    power of two from 2 KiB on is taken as well.
    """
    offset, size = cart.battery_range
    if not size:
        return False
    path = Path(path)
    try:
        with path.open("rb") as file:
            data = file.read(size + 1)
            found = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        return False
    except OSError as error:
        raise BatteryError(f"cannot read {path}: {error.strerror or error}: check its permissions") from None
    guessed = cart.format != "NES 2.0" and 2 * KIB <= len(data) <= size and len(data) & (len(data) - 1) == 0
    if len(data) != size and not guessed:
        raise BatteryError(
            f"{path} has {found} bytes but this cartridge's battery RAM has {size}: "
            "move the file away if it belongs to another game"
        )
    nes["prg_ram"][offset:offset + len(data)] = memoryview(data)
    return True


def save_battery(cart: Cartridge, nes: np.void, path: str | os.PathLike) -> bool:
    """Write the console's battery RAM to ``path`` atomically. False when the cartridge has no battery.

    Raises ``BatteryError`` when it cannot be written; the old file is then still there, whole.
    """
    offset, size = cart.battery_range
    if not size:
        return False
    try:
        atomic_write(path, nes["prg_ram"][offset:offset + size].tobytes())
    except OSError as error:
        raise BatteryError(
            f"cannot write {path}: {error.strerror or error}: check the folder's permissions and free space"
        ) from None
    return True
