"""The module's memory and its exported functions, as LLVM IR around ``answers.answer``.

Everything is laid out at link time: no allocation, no growing memory. Numba
passes a record as a pointer and an array as the seven fields of its struct.
"""

from ..core.power import RECORD
from ..core.state import NES, PPU
from . import answers
from .bugs import BLANK, SCANLINE

ROM_BUFFER = 8 * 1024 * 1024
EXPORTS = (
    "emu_init", "emu_rom_buffer", "emu_load_rom", "emu_reset", "emu_set_keys", "emu_run_frame", "emu_framebuffer",
    "emu_audio_samples", "emu_audio_buffer", "emu_audio_rate",
)

FRAME = NES.fields["ppu"][1] + PPU.fields["frame"][1]
OUT = NES.fields["audio"][1] + NES["audio"].fields["out"][1]

# Name, bytes an item, items.
MEMORY = {
    "mem": (1, RECORD + ROM_BUFFER),
    "image": (1, ROM_BUFFER),
    "kept": (1, RECORD),
    "shown": (2, answers.PIXELS),
    "desk": (8, 2),
}


def _array(name):
    size, items = MEMORY[name]
    return f"ptr null, ptr null, i64 {items}, i64 {size}, ptr @{name}, i64 {items}, i64 {size}"


def _ask(function, bugs, call, value="0"):
    arrays = ", ".join(map(_array, MEMORY))
    return f"""  %result = alloca i64
  %error = alloca ptr
  %status = call i32 @{function}(ptr %result, ptr %error, ptr @mem, {arrays}, i64 {bugs}, i64 {call}, i64 {value})
  %answer = load i64, ptr %result
  %short = trunc i64 %answer to i32
"""


def _place(name, offset=0):
    return f"  ret ptr getelementptr (i8, ptr @{name}, i32 {offset})\n"


def assembly(function: str, bugs: int) -> str:
    """IR of the exports; ``function`` is the symbol of the compiled ``answers.answer``."""

    def ask(call, value="0"):
        return _ask(function, bugs, call, value)

    given = "  %value = zext i32 %given to i64\n"
    # A negative length is none.
    signed = "  %value = sext i32 %given to i64\n"
    own = bugs & (SCANLINE | BLANK)
    bodies = {
        "emu_init": ("i32", "", "  ret i32 1\n"),
        "emu_rom_buffer": ("ptr", "", _place("image")),
        "emu_load_rom": ("i32", "i32 %given", signed + ask(answers.LOAD, "%value") + "  ret i32 %short\n"),
        "emu_reset": ("i32", "", ask(answers.RESET) + "  ret i32 %short\n"),
        "emu_set_keys": ("void", "i32 %given", given + ask(answers.KEYS, "%value") + "  ret void\n"),
        "emu_run_frame": ("void", "", ask(answers.RUN) + "  ret void\n"),
        "emu_framebuffer": ("ptr", "", _place("shown") if own else _place("mem", FRAME)),
        "emu_audio_samples": ("i32", "", ask(answers.SAMPLES) + "  ret i32 %short\n"),
        "emu_audio_buffer": ("ptr", "", _place("mem", OUT)),
        "emu_audio_rate": ("i32", "", "  ret i32 44100\n"),
    }
    lines = [
        f"@{name} = internal global [{size * items} x i8] zeroinitializer, align 64\n"
        for name, (size, items) in MEMORY.items()
    ]
    parameters = ", ".join(["ptr, ptr, i64, i64, ptr, i64, i64"] * len(MEMORY))
    lines.append(f"declare i32 @{function}(ptr, ptr, ptr, {parameters}, i64, i64, i64)\n")
    for name in EXPORTS:
        kind, arguments, body = bodies[name]
        lines.append(f"define {kind} @{name}({arguments}) {{\n{body}}}\n")
    return "".join(lines)
