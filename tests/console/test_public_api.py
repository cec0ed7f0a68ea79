"""What the packages export: typed, documented, quick to import."""

import importlib
import inspect
import subprocess
import sys
import typing

import numpy as np
import pytest
from small_rom import OWN

import pynes_ref
from pynes_ref import Console

MODULES = [f"pynes_ref.{name}" for name in (
    "battery", "describe", "files", "header", "headless", "ines", "movie", "palette", "roms", "romtest", "savestate",
    "trace",
)]  # fmt: skip


def public_functions():
    from abi.inprocess import PynesRef
    from pynes_ref import ines, movie, npz
    from pynes_ref.views import Memory, Registers

    for owner in (Console, Memory, Registers, PynesRef, ines.Cartridge, movie.Movie, npz.NpzWriter):
        for name, member in vars(owner).items():
            if name in ("__init__", "__getitem__", "__setitem__", "__getattr__") or not name.startswith("_"):
                function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
                if inspect.isfunction(function):
                    yield f"{owner.__name__}.{name}", function
    for module in map(importlib.import_module, MODULES):
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_"):
                yield f"{module.__name__}.{name}", function


@pytest.mark.parametrize(("name", "function"), [pytest.param(*item, id=item[0]) for item in public_functions()])
def test_public_functions_are_typed_and_documented(name, function):
    hints = function.__annotations__
    parameters = [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]
    missing = [p for p in parameters if p not in hints]
    assert not missing, f"{name} has no type for {', '.join(missing)}"
    if not name.endswith("__init__"):
        assert "return" in hints, f"{name} has no return type"
        if "__" not in name:
            assert function.__doc__, f"{name} has no docstring"


def test_the_types_of_the_console_resolve():
    for member in vars(Console).values():
        if inspect.isfunction(member):
            assert typing.get_type_hints(member) is not None
    assert typing.get_type_hints(Console.run_frame)["return"] is np.ndarray


def test_what_the_package_exports():
    assert set(pynes_ref.__all__) == {"Button", "Console", "ConsoleBatch", "RomError", "StateError", "__version__"}
    for name in pynes_ref.__all__:
        assert getattr(pynes_ref, name) is not None
    assert set(pynes_ref.__all__) <= set(dir(pynes_ref))
    with pytest.raises(AttributeError, match="nothing"):
        pynes_ref.nothing  # noqa: B018
    assert (OWN.parent / "pynes_ref" / "py.typed").exists()


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, pynes_ref; print([m for m in ('numba', 'numpy', 'scipy', 'zstandard') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=OWN.parent, check=True)
    assert out.stdout.strip() == "[]"
