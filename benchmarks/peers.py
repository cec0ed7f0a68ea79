"""Frames a second beside the emulators a Python user would pick instead, where they are installed.

python benchmarks/peers.py [--frames N] [--rounds N] [--jsnes FOLDER]

Looks for cynes, nes-py and stable-retro in the running Python and for jsnes in
FOLDER/node_modules. Each runs the same ROMs from power-on without input, in a
process of its own, in turn. What each of them produces differs: ours, jsnes and
stable-retro make picture and sound, cynes and nes-py no sound. The accuracy
beside the speed is the number of AccuracyCoin's 141 tests (ACCURACY.md).
"""

import argparse
import importlib.util
import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from common import ROOT, games, machine, summary

_TIMED = """
import sys, time
rom, n = sys.argv[1], int(sys.argv[2])
{setup}
for _ in range(60):
    {frame}
begun = time.perf_counter()
for _ in range(n):
    {frame}
print(n / (time.perf_counter() - begun))
"""

PYTHON = {
    "pynes_ref": (
        f"sys.path.insert(0, {str(ROOT)!r})\nfrom pynes_ref import Console\nnes = Console(rom)",
        "nes.run_frame(); nes.drain_audio()",
    ),
    "cynes": ("from cynes import NES\nnes = NES(rom)", "nes.step(frames=1)"),
    "nes_py": (
        "import warnings; warnings.simplefilter('ignore')\nfrom nes_py import NESEnv\nnes = NESEnv(rom)\nnes.reset()",
        "nes._frame_advance(0)",
    ),
    "stable_retro": ("import stable_retro as retro\nnes = retro.RetroEmulator(rom)", "nes.step(); nes.get_audio()"),
}

_JSNES = """
import fs from 'fs'; import { NES } from 'jsnes';
const rom = process.argv[2], n = +process.argv[3];
let sound = 0, seen = 0;
const onFrame = pixels => { seen += pixels[0]; }, onAudioSample = (left, right) => { sound += left; };
const nes = new NES({ onFrame, onAudioSample, sampleRate: 44100 });
nes.loadROM(fs.readFileSync(rom, { encoding: 'binary' }));
for (let i = 0; i < 60; i++) nes.frame();
const begun = process.hrtime.bigint();
for (let i = 0; i < n; i++) nes.frame();
console.log(n / (Number(process.hrtime.bigint() - begun) / 1e9));
"""


def present(jsnes):
    """``{name: command without ROM and frame count}`` of the emulators that are installed."""
    found = {}
    for name, (setup, frame) in PYTHON.items():
        if name == "pynes_ref" or importlib.util.find_spec(name):
            found[name] = [sys.executable, "-c", _TIMED.format(setup=setup, frame=frame)]
    if jsnes and shutil.which("node") and (jsnes / "node_modules" / "jsnes").is_dir():
        version = json.loads((jsnes / "node_modules/jsnes/package.json").read_text())["version"]
        script = jsnes / "pynes_ref_benchmark.mjs"
        script.write_text(_JSNES)
        found[f"jsnes {version}"] = ["node", str(script)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jsnes", type=Path)
    args = parser.parse_args()
    emulators = present(args.jsnes)
    print(machine(), "\n")
    print("| game | emulator | frames/s, median (min-max) | ours is |\n|---|---|---|---|")
    for game, (rom, _) in games().items():
        rates = {name: [] for name in emulators}
        for _ in range(args.rounds):
            for name, command in emulators.items():
                done = subprocess.run([*command, str(rom), str(args.frames)], capture_output=True, text=True)
                if done.returncode == 0:
                    rates[name].append(float(done.stdout.split()[-1]))
        ours = statistics.median(rates["pynes_ref"])
        for name, got in rates.items():
            if got:
                print(f"| {game} | {name} | {summary(got)} | {ours / statistics.median(got):.1f} x |")
            else:
                print(f"| {game} | {name} | does not run it | |")


if __name__ == "__main__":
    main()
