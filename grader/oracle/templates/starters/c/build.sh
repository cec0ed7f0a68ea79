#!/bin/sh
# Builds nes_emu.wasm with `zig cc` (also `python3 -m ziglang cc`), which brings a C library for wasm32 along.
set -eu
cd "$(dirname "$0")"
if [ -z "${CC:-}" ]; then
    if command -v zig >/dev/null 2>&1; then CC="zig cc"; else CC="python3 -m ziglang cc"; fi
fi
# shellcheck disable=SC2086
$CC -target wasm32-wasi -mexec-model=reactor -std=c11 -O2 -Wall -Wextra -o nes_emu.wasm ./*.c
