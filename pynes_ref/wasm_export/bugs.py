"""Injected bugs a module can be built with; the names and meanings are abi/bugs.py's (a test compares them)."""

SCANLINE, AB_SWAP, NO_TRI_NOISE, EARLY, BLANK = (1 << bit for bit in range(5))

BUGS = {
    "scanline": SCANLINE,
    "ab-swap": AB_SWAP,
    "no-tri-noise": NO_TRI_NOISE,
    "broken": SCANLINE | AB_SWAP | NO_TRI_NOISE,
    "early": EARLY,
    "blank": BLANK,
}
