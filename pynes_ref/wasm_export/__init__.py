"""The console as a WebAssembly module: ``pynes-ref export-wasm``.

The compiled core is LLVM IR before it is machine code, and LLVM makes
WebAssembly of the same IR. What the module needs beside the core is in
``cartridge`` (ROM files, read by compiled code) and ``answers`` (the functions
of the ABI); ``shim`` gives it memory and exports, ``build`` makes it, in a
process that ``parent`` starts. The ABI is abi/ABI.md's.
"""

from .bugs import BUGS
from .parent import ExportError, export, export_all

__all__ = ["BUGS", "ExportError", "export", "export_all"]
