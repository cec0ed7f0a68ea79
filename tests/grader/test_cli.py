"""The command line: quick help, plain errors, tables, and the report's bytes (in a browser: test_pages.py)."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time

import corpus_maker
import pytest
import toy_emulator as toy
from places import ROOT


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    corpus_maker.make(folder / "corpus")
    (folder / "toy.wasm").write_bytes(toy.module())
    return folder


def grader(folder, *arguments, code=0):
    environment = {**os.environ, "PYNES_REF_CACHE": str(folder / "cache"), "PYTHONPATH": str(ROOT), "COLUMNS": "160"}
    command = [sys.executable, "-m", "grader.cli", *map(str, arguments)]
    done = subprocess.run(
        command, env=environment, cwd=folder, text=True, capture_output=True, timeout=300, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_help_is_quick_and_lists_the_commands(place):
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        text = grader(place, "--help").stdout
        times.append(time.perf_counter() - begun)
    for command in ("grade", "precompute", "compare", "check", "gate", "sensitivity"):
        assert command in text
    assert min(times) < 0.5, statistics.median(times)


def test_help_imports_nothing_heavy():
    code = """
import sys
sys.argv = ["grader", "--help"]
try:
    import grader.cli
    grader.cli.main()
except SystemExit:
    pass
heavy = {"numba", "numpy", "scipy", "wasmtime", "rich.progress", "yaml", "zstandard"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True)


def test_grading_is_the_default_command(place):
    done = grader(place, "--reference", "toy.wasm", "toy.wasm:scanline", "corpus", "out/a", "--jobs", "1")
    assert "game" in done.stdout
    assert "overall" in done.stdout
    again = grader(place, "grade", "toy.wasm", "corpus", "-r", "toy.wasm", "--jobs", "0")
    assert (place / "out" / "toy" / "summary.json").is_file()
    assert "1.0000" in again.stdout


def test_what_stands_beside_the_score(place):
    """What ``--strict``, ``--also`` and ``--hints`` print, and nothing of it without them.

    The toy's sound is right, so strict is the score; the references differ in all pictures, so both is the sound's 1.
    """
    arguments = ("-r", "toy.wasm", "toy.wasm:scanline", "corpus", "out/beside", "-j", "0")
    plain = grader(place, *arguments).stdout
    more = grader(place, *arguments, "--strict", "--also", "toy.wasm:blank", "--hints").stdout
    summary = json.loads((place / "out" / "beside" / "summary.json").read_text())
    assert f"strict     {summary['overall']:.4f}   audio 1.0000" in more
    assert "both       -   without what the references dispute in 3 testcases" in more
    assert more.count("references differ: picture 0.") == 3
    assert "procedural/cpu: 1 of 1 testcases lose points (one)" in more
    assert "procedural/cpu: the picture is 1 line low (one)" in more
    for words in ("strict", "both", "references differ", "lose points"):
        assert words not in plain
    html = (place / "out" / "beside" / "report.html").read_text()
    assert "Beside the second reference, toy:blank: " in html
    assert "<li>procedural/cpu: the picture is 1 line low (one)</li>" in html


def test_compare(place):
    for name in ("toy.wasm", "toy.wasm:ab-swap"):
        grader(place, "-r", "toy.wasm", name, "corpus", "-j", "0")
    text = grader(place, "compare", "out/toy-ab-swap", "out/toy").stdout
    assert text.index("out/toy ") < text.index("out/toy-ab-swap")  # the better run first
    assert "game" in text
    assert "one" not in text.split("testcase")[1]  # it did not move
    data = json.loads(grader(place, "compare", "--json", "--all", "out/toy-ab-swap", "out/toy").stdout)
    assert data["leaderboard"][0]["overall"] == 1.0
    assert {row["testcase"] for row in data["testcases"]} == {"one", "two", "game"}
    assert "no testcase moved" in grader(place, "compare", "out/toy", "out/toy").stdout
    assert "summary.json" in grader(place, "compare", "corpus", code=2).stderr
    (place / "odd").mkdir(exist_ok=True)
    (place / "odd" / "summary.json").write_text("[]")
    assert "not the summary of a run" in grader(place, "compare", "odd", code=2).stderr


def test_precompute_makes_a_folder_usable_as_an_emulator(place):
    assert (
        "3 recorded, 0 already there" in grader(place, "precompute", "corpus", "-r", "toy.wasm", "--into", "rec").stdout
    )
    assert (
        "0 recorded, 3 already there" in grader(place, "precompute", "corpus", "-r", "toy.wasm", "--into", "rec").stdout
    )
    text = grader(place, "-r", "rec", "toy.wasm", "corpus", "out/b", "-j", "0").stdout
    assert "overall" in text
    assert json.loads((place / "out" / "b" / "summary.json").read_text())["overall"] == 1.0
    assert "a recording already" in grader(place, "precompute", "corpus", "-r", "rec", code=2).stderr


def test_gate(place):
    done = grader(place, "gate", "toy.wasm", "corpus", "-r", "toy.wasm", "-j", "2", "--only", "one")
    assert "deterministic: every byte agrees" in done.stdout


def test_sensitivity(place):
    arguments = (
        "sensitivity",
        "corpus",
        "-r",
        "toy.wasm",
        "--base",
        "toy.wasm",
        "-j",
        "0",
        "--bug",
        "scanline",
        "--bug",
        "blank",
    )
    text = grader(place, *arguments).stdout
    assert "scanline" in text
    data = json.loads(grader(place, *arguments, "--json").stdout)
    assert data["none"]["overall"] == 1.0
    assert data["scanline"]["sections"]["audio"]["score"] == 1.0
    assert data["blank"]["overall"] < 0.05
    assert "no bug named" in grader(place, "sensitivity", "corpus", "-r", "toy.wasm", "--bug", "moon", code=2).stderr


def test_check(place):
    assert "FAIL" in grader(place, "check", "toy.wasm", code=1).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing.wasm", "corpus", "-r", "toy.wasm"), "nothing.wasm: No such file"),
        (("toy.wasm", "nowhere", "-r", "toy.wasm"), "nowhere: 1 fault in this corpus"),
        (("toy.wasm", "corpus", "-r", "toy.wasm", "--only", "ten"), "there is no testcase 'ten'"),
        (("toy.wasm", "corpus", "-r", "nothing"), "nothing: no such emulator"),
        (("toy.wasm", "corpus", "-r", "toy.wasm", "--also", "nothing"), "nothing: no such emulator"),
        (("toy.wasm", "corpus", "-r", "toy.wasm", "--also", ""), "an empty name is no emulator"),
        (("", "corpus", "-r", "toy.wasm"), "an empty name is no emulator"),
        (("toy.wasm", "corpus", "toy.wasm", "-r", "toy.wasm", "-j", "0"), "toy.wasm is there and no folder: move it"),
        (("toy.wasm", "corpus", "/dev/null/out", "-r", "toy.wasm", "-j", "0"), "Not a directory"),
        (("toy.wasm", "corpus", "-r", "toy.wasm", "--executor", "moon"), "give local or dask://"),
        (("toy.wasm", "corpus", "-r", "toy.wasm", "--jobs", "-3"), "--jobs"),
        (("--frobnicate",), "No such option"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(place, arguments, words):
    assert words in grader(place, *arguments, code=2).stderr


@pytest.mark.parametrize("name", ["summary.json", "one.json", "report.html"])
def test_a_folder_in_a_results_place_is_named(place, name):
    (place / "taken" / name / name).mkdir(parents=True)
    done = grader(place, "-r", "toy.wasm", "toy.wasm", "corpus", "taken", "-j", "0", code=2)
    assert done.stderr.splitlines()[-1] == f"grader: {os.path.join('taken', name)}: Is a directory"
    assert not list((place / "taken").glob(".*"))
    shutil.rmtree(place / "taken")


def test_a_folder_in_a_recordings_place_is_named(place):
    (place / "rec2" / "one.refcache").mkdir(parents=True)
    arguments = ("corpus", "-r", "toy.wasm", "--into", "rec2", "-j", "0", "--only", "one")
    done = grader(place, "precompute", *arguments, code=2)
    assert done.stderr.splitlines()[-1] == f"grader: {os.path.join('rec2', 'one.refcache')}: Is a directory"
    assert not list((place / "rec2").glob(".*"))


def test_the_report_has_the_scores_without_scripts(place):
    grader(place, "-r", "toy.wasm", "toy.wasm:ab-swap", "corpus", "out/plain", "-j", "0")
    html = (place / "out" / "plain" / "report.html").read_text()
    summary = json.loads((place / "out" / "plain" / "summary.json").read_text())
    assert f"{summary['overall']:.4f}" in html
    for case, entry in summary["per_testcase"].items():
        assert f'id="case-{case}"' in html
        assert f"{entry['video_score']:.4f}" in html
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert "https://" not in html
    assert "<b>held" not in html  # a description is text, not markup
