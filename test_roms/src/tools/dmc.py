"""Drum samples for the delta modulation channel, computed: 1 bit a step of +-2, least significant bit first."""
import math

from .art import Rng, asm_bytes

RATE = 33144        # $4010 = $0F


def encode(wave):
    """-1..1 samples -> bytes. Lengths become 16 n + 1 bytes ($4013 counts so). Ends near the middle level."""
    n = -(-len(wave) // 8)
    n = (n + 14) // 16 * 16 + 1
    level, out = 32, bytearray()
    for i in range(n):
        byte = 0
        for b in range(8):
            k = i * 8 + b
            want = 32 + 31 * (wave[k] if k < len(wave) else 0.0)
            if want > level or (want == level and k & 1):
                byte |= 1 << b
                level = min(level + 1, 63)
            else:
                level = max(level - 1, 0)
        out.append(byte)
    return bytes(out)


def sweep(seconds, f0, f1, fall, noise=0.0, seed=1):
    """A sine that falls from f0 to f1 Hz and dies away, with some noise in its first part."""
    rng, phase, out = Rng(seed), 0.0, []
    total = int(seconds * RATE)
    held = 0.0
    for i in range(total):
        t = i / RATE
        f = f1 + (f0 - f1) * math.exp(-t * fall)
        phase += f / RATE
        if i % 5 == 0:
            held = rng.below(2001) / 1000 - 1
        v = math.sin(2 * math.pi * phase) * (1 - noise) + held * noise
        out.append(round(v * (1 - i / total) ** 1.3, 6))
    return out


SAMPLES = {
    "kick": sweep(0.115, 190, 48, 38),
    "snare": sweep(0.085, 260, 150, 30, noise=0.72, seed=7),
    "tom": sweep(0.14, 210, 95, 16),
}


def source():
    """A .s file: segment DMC, each sample on a 64-byte boundary, and the $4012/$4013 values as constants."""
    text = '.segment "DMC"\n'
    for name, wave in SAMPLES.items():
        data = encode(wave)
        text += f"        .align 64\ndmc_{name}:\n" + asm_bytes(data)
        text += f".export DMC_{name.upper()}_AT = <((dmc_{name} - $C000) / 64)\n"
        text += f".export DMC_{name.upper()}_LEN = {len(data) // 16}\n"
    return text
