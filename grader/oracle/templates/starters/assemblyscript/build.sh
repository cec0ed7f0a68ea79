#!/bin/sh
# Builds nes_emu.wasm with npm's assemblyscript.
set -eu
cd "$(dirname "$0")"
[ -d node_modules/assemblyscript ] || npm install --no-audit --no-fund
npm run --silent build
