"""pynes_ref: a cycle-accurate NES.

>>> from pynes_ref import Button, Console
>>> nes = Console("game.nes")
>>> picture = nes.run_frame(Button.START)

Importing the package costs nothing; the compiled core is loaded with the first
``Console``.
"""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .batch import ConsoleBatch
    from .buttons import Button
    from .console import Console
    from .ines import RomError
    from .savestate import StateError

try:
    __version__ = version("pynes-ref")
except PackageNotFoundError:  # run from a source tree
    __version__ = "0+unknown"

__all__ = ["Button", "Console", "ConsoleBatch", "RomError", "StateError", "__version__"]

_HOMES = {"Button": "buttons", "Console": "console", "ConsoleBatch": "batch", "RomError": "ines",
          "StateError": "savestate"}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
