"""A door's machine code: from the cache, else compiled and put there.

Loading needs llvmlite only: the object file is handed to LLVM's execution
engine as it is. A cached file that is damaged or cut short is compiled anew.
"""

import ctypes
import warnings

import llvmlite.binding as llvm

from ..jitcache import ENVIRONMENT, read_code, write_code

_engines = []
_I64, _POINTER = ctypes.c_int64, ctypes.c_void_p


def _load(code, symbol):
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    # The code lives as long as its engine.
    _engines.append(engine)
    return engine.get_function_address(symbol)


def _caller(address, integers):
    """Call the machine code: a Numba function takes (result, exception, record, array struct, integers)."""
    array = [_POINTER, _POINTER, _I64, _I64, _POINTER, _I64, _I64]
    native = ctypes.CFUNCTYPE(ctypes.c_int32, _POINTER, _POINTER, _POINTER, *array, *[_I64] * integers)(address)

    def call(mem, numbers):
        result, exception = _I64(), _POINTER()
        numbers = map(int, numbers)
        data = mem.__array_interface__["data"][0]
        size = len(mem)
        status = native(
            ctypes.addressof(result), ctypes.addressof(exception), data, None, None, size, 1, data, size, 1, *numbers
        )
        if status:
            raise RuntimeError(f"the compiled core ended with status {status}")
        return result.value

    return call


def open_door(door):
    """``call(mem, integers)`` for a ``jit.Door``: its machine code, loaded or compiled."""
    name = door.__name__
    found = read_code(name)
    if found is None:
        from .jit_link import compile_door

        found = compile_door(door.py_func, door.integers)
        if not write_code(name, *found):
            warnings.warn(
                f"no cache folder can be written, so it compiles at every start; set {ENVIRONMENT} to a folder",
                RuntimeWarning,
                stacklevel=3,
            )
    symbol, code = found
    return _caller(_load(code, symbol), door.integers)
