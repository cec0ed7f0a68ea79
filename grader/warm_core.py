"""The compiled console, loaded once for all workers (see ``warm``)."""

import contextlib


def _load() -> None:
    from abi import probe_rom
    from abi.candidate import load, start
    from abi.inprocess import PynesRef

    console = PynesRef()
    start(console)
    load(console, probe_rom.rom())
    console.emu_run_frame()
    console.emu_run_frame()


with contextlib.suppress(Exception):
    _load()
