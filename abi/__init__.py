"""The ten-function ABI (ABI.md): its Protocol, adapters for every kind of emulator, and a conformance check."""
