"""What a ROM file holds, as lines of text."""

from __future__ import annotations

from .ines import Cartridge


def size(count: int) -> str:
    """A number of bytes for people: ``32 KiB``."""
    return f"{count // 1024} KiB" if count and count % 1024 == 0 else f"{count} bytes"


def describe(cart: Cartridge) -> str:
    """Header, board, sizes, hash and whatever is unsupported, one fact a line."""
    rows = [
        ("format", cart.format),
        ("mapper", f"{cart.mapper}, submapper {cart.submapper}"),
        ("board", cart.board),
        ("PRG ROM", size(cart.prg_size)),
        ("CHR ROM", size(cart.chr_size) if cart.chr_size else "none"),
        ("CHR RAM", size(cart.chr_ram_size) if cart.chr_ram_size else "none"),
        ("PRG RAM", size(cart.prg_ram_size) if cart.prg_ram_size else "none"),
        ("battery", f"yes, {size(cart.battery_range[1])}" if cart.battery_range[1] else "no"),
        ("mirroring", str(cart.mirroring)),
        ("region", str(cart.region)),
        ("trainer", "yes" if len(cart.trainer) else "no"),
        ("file", f"{cart.size} bytes"),
        ("SHA-256", cart.sha256),
    ]
    rows += [("note", note) for note in cart.notes]
    rows += [("UNSUPPORTED", reason) for reason in cart.unsupported]
    if not cart.unsupported:
        rows.append(("supported", "yes"))
    width = max(len(name) for name, _ in rows) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in rows)
