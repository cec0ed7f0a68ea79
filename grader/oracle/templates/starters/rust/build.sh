#!/bin/sh
# Builds nes_emu.wasm; once before: rustup target add wasm32-unknown-unknown
set -eu
cd "$(dirname "$0")"
cargo build --release --lib --target wasm32-unknown-unknown
cp "${CARGO_TARGET_DIR:-target}/wasm32-unknown-unknown/release/nes_emu.wasm" nes_emu.wasm
