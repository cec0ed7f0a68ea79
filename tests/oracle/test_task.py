"""The workspace: what is in it and what is not, and that every starter builds and keeps the ABI."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import corpus_maker
import pytest
import toy_emulator as toy
from oracle_server import ROOT, environment, oracle

from abi import conformance
from grader.oracle import task

STARTERS = task.TEMPLATES / "starters"


def hashes(folder):
    return {hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A workspace whose corpus grades one of our own games."""
    base = tmp_path_factory.mktemp("task")
    corpus = corpus_maker.make(base / "corpus")
    game = (ROOT / "test_roms" / "pinewood.nes").read_bytes()
    (corpus / "roms" / "secret name.nes").write_bytes(game)
    cases = corpus_maker.entries()
    cases[0]["rom_sha256"] = hashlib.sha256(game).hexdigest()
    (corpus / "testcases.json").write_text(json.dumps({"testcases": cases}))
    more = base / "more"
    (more / "sub").mkdir(parents=True)
    (more / "sub" / "renamed.nes").write_bytes(game)  # graded, whatever it is called
    (more / "sub" / "toy.nes").write_bytes(toy.ROM)
    (more / "mine.nes").write_bytes(b"NES\x1a" + bytes(100))
    return base, corpus, task.make(base / "work", "c", corpus, [more])


def test_what_is_in_a_workspace(made):
    base, corpus, found = made
    work = base / "work"
    for name in (
        "TASK.md", "oracle", "compose.yaml", ".gitignore", "spec/ABI.md", "spec/nes_emu.h", "spec/nes_palette.pal",
        "spec/HARDWARE.md", "containers/oracle.Dockerfile", "containers/task.Dockerfile", "roms/README.md",
        "roms/mine.nes", "nes_emu.c", "build.sh", "starters/rust/Cargo.toml", "starters/zig/nes_emu.zig",
        "starters/assemblyscript/package.json", "starters/c/nes_emu.h",
    ):  # fmt: skip
        assert (work / name).is_file(), name
    assert (work / "spec" / "ABI.md").read_bytes() == (ROOT / "abi" / "ABI.md").read_bytes()
    assert "@" not in (work / "TASK.md").read_text()
    assert "The C starter is here already" in (work / "TASK.md").read_text()
    graded = {case["rom_sha256"] for case in json.loads((corpus / "testcases.json").read_text())["testcases"]}
    assert not graded & hashes(work)
    assert any("kept back" in note for note in found.notes)
    listed = set(re.findall(r"^\| `(.+?)` \|", (work / "roms" / "README.md").read_text(), re.M))
    assert listed == set(found.roms)
    assert {"kittiwake.nes", "undertow.nes", "mine.nes"} <= listed


def test_the_task_says_how_many_programs_there_are(made, tmp_path, monkeypatch):
    assert f"{len(made[2].roms)} programs to develop with" in (made[0] / "work" / "TASK.md").read_text()
    monkeypatch.setattr(task.known_roms, "find", lambda sha256: None)
    found = task.make(tmp_path / "none")  # our own corpus grades all that we have
    assert found.roms == []
    assert any("roms fetch" in note for note in found.notes)
    text = (tmp_path / "none" / "TASK.md").read_text()
    assert "no programs came with this task" in text
    assert "roms/NAME.nes" not in text
    assert "| File |" not in (tmp_path / "none" / "roms" / "README.md").read_text()


def test_nothing_of_the_reference_is_in_a_workspace(made):
    """But for the recipe of the oracle's container, which the task's container does not see."""
    work = made[0] / "work"
    for path in work.rglob("*"):
        if path.is_file() and path.suffix != ".nes" and path.name != "oracle.Dockerfile":
            assert "pynes" not in path.read_bytes().decode("latin-1").lower(), path


def test_the_containers_are_described(made):
    import yaml

    compose = yaml.safe_load((made[0] / "work" / "compose.yaml").read_text())
    assert compose["networks"]["oracle"] == {"internal": True}
    assert compose["services"]["oracle"]["networks"] == ["oracle"]
    assert "/task/containers" in compose["services"]["task"]["tmpfs"]
    assert "ports" not in compose["services"]["oracle"]


def test_folders_that_cannot_be_a_workspace(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    for arguments in (
        [str(tmp_path / "full")],
        [str(tmp_path / "new"), "--starter", "cobol"],
        [str(tmp_path / "new"), "--corpus", str(tmp_path / "full")],
    ):
        done = oracle("task", *arguments)
        assert done.returncode == 2
        assert done.stderr.startswith("oracle: ")
        assert not (tmp_path / "new").exists()


# ---- starters --------------------------------------------------------------------------------------------------------


def lay_out(name: str, folder: Path) -> Path:
    task._starter(name, folder / name)
    return folder / name


def build(folder: Path, **more: str) -> Path:
    done = subprocess.run(
        ["sh", "build.sh"], cwd=folder, env=environment(**more), capture_output=True, text=True, timeout=400,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "nes_emu.wasm"


def keeps_the_abi(name: str, **options) -> None:
    """What ``grader check`` looks at: nothing fatal, and only the blank screen and the silence are odd."""
    findings = conformance.check(name, **options)
    assert [f.text for f in findings if f.fatal and not f.ok] == []
    odd = [f.text for f in findings if not f.ok and "speed" not in f.text]
    assert len(odd) == 2, odd
    assert "picture never changes" in odd[0]
    assert "not heard" in odd[1]


def test_starters_are_short():
    for path in STARTERS.rglob("*"):
        if path.suffix in (".c", ".zig", ".rs", ".ts"):
            assert len(path.read_text().splitlines()) < 110, path


@pytest.mark.skipif(os.name != "posix", reason="build.sh")
class TestStarters:
    """Each is built by its own build.sh, where its compiler is."""

    def test_c(self, tmp_path):
        pytest.importorskip("ziglang", reason="PyPI's ziglang is not installed")
        folder = lay_out("c", tmp_path)
        keeps_the_abi(str(build(folder, CC=f"{sys.executable} -m ziglang cc")))

    def test_zig(self, tmp_path):
        pytest.importorskip("ziglang", reason="PyPI's ziglang is not installed")
        folder = lay_out("zig", tmp_path)
        keeps_the_abi(str(build(folder, ZIG=f"{sys.executable} -m ziglang")))

    def test_rust(self, tmp_path):
        """To WebAssembly where that target is installed, else as a native library."""
        if shutil.which("cargo") is None or shutil.which("rustc") is None:
            pytest.skip("no Rust here")
        folder = lay_out("rust", tmp_path)
        sysroot = subprocess.run(
            ["rustc", "--print", "sysroot"], capture_output=True, text=True, timeout=60
        ).stdout.strip()
        if (Path(sysroot) / "lib" / "rustlib" / "wasm32-unknown-unknown").is_dir():
            keeps_the_abi(str(build(folder, CARGO_TARGET_DIR=str(folder / "target"))))
            return
        command = ["cargo", "build", "--release", "--lib", "--offline", "--target-dir", "target"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        library = next(p for p in (folder / "target" / "release").iterdir() if p.suffix in (".so", ".dylib"))
        keeps_the_abi(str(library), trust_native=True)

    def test_assemblyscript(self, tmp_path):
        """Needs node and a folder with npm's ``assemblyscript`` (named by ORACLE_NODE_MODULES), or npm to get it."""
        if shutil.which("npm") is None:
            pytest.skip("no npm here")
        folder = lay_out("assemblyscript", tmp_path)
        given = os.environ.get("ORACLE_NODE_MODULES")
        if given:
            (folder / "node_modules").symlink_to(given)
        else:
            command = ["npm", "install", "--no-audit", "--no-fund", "--fetch-retries=0", "--fetch-timeout=30000"]
            try:
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
            except subprocess.TimeoutExpired:
                pytest.skip("npm does not get assemblyscript in time")
            if done.returncode:
                pytest.skip("npm cannot get assemblyscript: " + (done.stderr.strip().splitlines() or ["?"])[-1][:200])
        keeps_the_abi(str(build(folder)))
