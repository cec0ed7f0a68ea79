"""From the core's LLVM IR to WebAssembly modules, in a process that ``parent`` has started.

``python -m pynes_ref.wasm_export.build FOLDER BUGS...`` writes ``FOLDER/BUGS.wasm``.

Every function of the core is still IR (``core/jit_link.py``), and with NUMBA_OPT=0
nobody has optimised it for another machine: sizes of pointers and structs are
still open. It is linked, told that its machine is wasm32, and optimised once.

LLVM may not reorder or contract float operations unless told to, and there are
no vectors, so every sample is the one that the same IR gives elsewhere.
"""

import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
import numba
from numba import types

from .. import __version__
from ..core.state import NES
from ..jitcache import source_hash
from . import shim
from .answers import answer

TRIPLE = "wasm32-unknown-unknown"
# Beside the first version of WebAssembly: what every engine has had since 2020.
FEATURES = "+bulk-memory,+bulk-memory-opt,+mutable-globals,+nontrapping-fptoint,+sign-ext"
STACK = 64 * 1024
CODE_MODEL = {"opt": 3, "reloc": "static", "codemodel": "default"}


@cache
def _compiled():
    """(symbol of ``answer``, the functions it reaches, each with those it calls itself)."""
    item = {1: types.uint8, 2: types.uint16, 8: types.int64}
    arrays = [types.Array(item[size], 1, "C") for size, _ in shim.MEMORY.values()]
    signature = (numba.from_dtype(NES), *arrays, types.int64, types.int64, types.int64)
    answer.get_call_template(signature, {})  # compiles
    result = answer.overloads[signature]
    found, waiting = [], [result.library]
    while waiting:
        library = waiting.pop(0)
        if library not in found:
            found.append(library)
            waiting += library._linking_libraries
    return result.fndesc.llvm_func_name, found


def _linked(bugs):
    symbol, libraries = _compiled()
    module = llvm.parse_assembly(shim.assembly(symbol, bugs))
    for library in libraries:
        module.link_in(library._get_module_for_linking(), preserve=True)
    for value in (*module.functions, *module.global_variables):
        # Numba's "NumbaEnv" globals are common symbols that nothing uses here.
        if not value.is_declaration and value.name not in shim.EXPORTS:
            value.linkage = "internal"
    return module


def _object_code(module):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu="mvp", features=FEATURES, **CODE_MODEL)
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = False
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    module.verify()
    foreign = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    if foreign:
        raise RuntimeError(f"the compiled core calls functions that are not its own: {', '.join(foreign)}")
    return machine.emit_object(module)


def _module(code):
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "core.o"), Path(folder, "core.wasm")
        given.write_bytes(code)
        command = [sys.executable, "-m", "ziglang", "wasm-ld", str(given), "-o", str(made), "--no-entry", "--strip-all"]
        # A stack that overflows leaves the memory, which traps, and overwrites nothing.
        command += ["--stack-first", "-z", f"stack-size={STACK}", *(f"--export={name}" for name in shim.EXPORTS)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"wasm-ld: {' '.join(done.stderr.split())[:500] or done.returncode}")
        return made.read_bytes()


def _section(name, text):
    """A custom section, which engines skip."""
    content = _sized(name.encode()) + text.encode()
    return b"\0" + _sized(content)


def _sized(data):
    size, length = len(data), bytearray()
    while size >= 0x80:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*length, size]) + data


def build(bugs: int = 0) -> bytes:
    """The module with these bugs (bits)."""
    told = f"pynes-ref {__version__}, core {source_hash()}" + (f", bugs {bugs}" if bugs else "")
    return _module(_object_code(_linked(bugs))) + _section("pynes_ref", told)


def main(folder, *numbers):
    """Write the modules with the bugs ``numbers`` to ``folder``."""
    for bugs in numbers:
        Path(folder, f"{bugs}.wasm").write_bytes(build(int(bugs)))


if __name__ == "__main__":
    main(*sys.argv[1:])
