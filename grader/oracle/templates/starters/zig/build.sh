#!/bin/sh
# Builds nes_emu.wasm with Zig (also PyPI's: `python3 -m ziglang`).
set -eu
cd "$(dirname "$0")"
if [ -z "${ZIG:-}" ]; then
    if command -v zig >/dev/null 2>&1; then ZIG=zig; else ZIG="python3 -m ziglang"; fi
fi
# shellcheck disable=SC2086
$ZIG build-exe nes_emu.zig -target wasm32-freestanding -O ReleaseFast -fno-entry -rdynamic -femit-bin=nes_emu.wasm
