"""A dry run of ``oracle supervise``: start, restart, silence, commit, checkpoints, the end. Under a minute."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

import corpus_maker
import pytest
import toy_emulator as toy
from oracle_server import environment, oracle

from grader.oracle.history import History, plot
from grader.oracle.supervise import Plan, Supervisor, newest_change

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups")

# Ends at once the first time; then makes a candidate and falls silent, leaving a child that would stay for ever.
AGENT = """
import os, subprocess, sys, time
n = os.environ["ORACLE_ATTEMPT"]
print("attempt", n, os.environ["ORACLE_PROMPT"].splitlines()[0], os.environ["ORACLE_TIME_LEFT"], flush=True)
open(f"note-{n}.txt", "w").write(n)
if n == "1":
    sys.exit(3)
subprocess.Popen(["sleep", "600.25"])
if n == "2":
    time.sleep(600)
while True:
    print("working", flush=True)
    time.sleep(0.2)
"""


@pytest.fixture
def workspace(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    (work / "TASK.md").write_text("# The task\nDo it.\n")
    (work / "agent.py").write_text(AGENT)
    (work / "good.wasm").write_bytes(toy.module())
    (work / "build.sh").write_text("echo building\ncp good.wasm nes_emu.wasm\n")
    (work / ".gitignore").write_text("nes_emu.wasm\n")
    (tmp_path / "reference.wasm").write_bytes(toy.module())
    return work, corpus_maker.make(tmp_path / "corpus")


def log(work, *arguments):
    return subprocess.run(["git", "-C", work, *arguments], capture_output=True, text=True, check=True).stdout


def sleepers(seconds):
    """Processes by a length of sleep that no other test uses."""
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout.count(f"sleep {seconds}")


def test_a_dry_run(workspace, tmp_path):
    work, corpus = workspace
    before = sleepers(600.25)
    said = []
    plan = Plan(
        folder=work, command=(sys.executable, "agent.py"), out=tmp_path / "out", seconds=22.0, silence=4.0,
        commit_every=3.0, grade_every=6.0, restart_delay=0.5, corpus=corpus, reference=str(tmp_path / "reference.wasm"),
        jobs=0, tick=0.1,
    )  # fmt: skip
    begun = time.monotonic()
    history = Supervisor(plan, said.append).run()
    assert time.monotonic() - begun < 60
    assert history["status"] == "completed"
    first, second, *rest = history["starts"]
    assert (first["why"], first["status"]) == ("it ended", 3)
    assert second["at"] >= first["ended"] + 0.4
    assert second["why"].startswith("silent for")
    assert 3.5 < second["ended"] - second["at"] < 12.0
    assert rest[-1]["why"] == "time is over"  # the third one talks all the time
    assert (tmp_path / "out" / "agent-001.log").read_text().startswith("attempt 1 # The task")
    assert "working here before" in (tmp_path / "out" / "agent-002.log").read_text()
    assert sleepers(600.25) == before, "children were left behind"
    assert history["checkpoints"][-1]["name"] == "final"
    assert any(line.endswith("final: building and grading") for line in said)
    graded = [row for row in history["checkpoints"] if "overall" in row]
    assert len(graded) >= 2
    assert all(row["overall"] == 1.0 and row["build"] == 0 for row in graded)
    assert json.loads((tmp_path / "out" / "final" / "grade" / "summary.json").read_text())["overall"] == 1.0
    assert json.loads((tmp_path / "out" / "history.json").read_text()) == history
    ET.parse(tmp_path / "out" / "history.svg")
    commits = log(work, "log", "--format=%s").split("\n")
    assert any("work so far" in line for line in commits)
    assert log(work, "status", "--porcelain") == ""
    assert "note-3.txt" in log(work, "ls-files")
    assert log(work, "rev-parse", "HEAD").strip() == history["checkpoints"][-1]["commit"]


def test_a_checkpoint_without_a_candidate_is_told(workspace, tmp_path):
    work, corpus = workspace
    (work / "build.sh").write_text("echo it does not compile >&2; exit 7\n")
    done = oracle(
        "supervise", "--hours", "0.0003", "--commit-every", "0", "--grade-every", "0", "--corpus", str(corpus),
        "--reference", str(tmp_path / "reference.wasm"), str(work), "--", "echo hello; sleep 60",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    history = json.loads((tmp_path / "work-run" / "history.json").read_text())
    assert history["checkpoints"][-1]["problem"] == "there is no nes_emu.wasm (the build failed)"
    assert history["checkpoints"][-1]["build"] == 7
    assert "it does not compile" in (tmp_path / "work-run" / "final" / "build.log").read_text()
    assert (tmp_path / "work-run" / "agent-001.log").read_text() == "hello\n"


def test_an_interrupt_ends_it_with_a_commit(workspace, tmp_path):
    work, corpus = workspace
    command = [
        sys.executable, "-m", "grader.oracle.cli", "supervise", "--hours", "1", "--corpus", str(corpus), str(work),
        "--", "echo x > made.txt; sleep 601.75",
    ]  # fmt: skip
    before = sleepers(601.75)
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 30
    while not (work / "made.txt").exists() and time.monotonic() < end:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "made.txt" in log(work, "ls-files")
    assert sleepers(601.75) == before
    assert json.loads((tmp_path / "work-run" / "history.json").read_text())["status"] == "interrupted"


def test_what_cannot_be_supervised(workspace, tmp_path):
    work, corpus = workspace
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    for arguments, words in (
        ([str(tmp_path / "none"), "--", "true"], "not a folder"),
        (["--out", str(tmp_path / "full"), str(work), "--", "true"], "there already"),
        (["--out", str(work / "out"), str(work), "--", "true"], "inside the workspace"),
        (["--corpus", str(tmp_path / "full"), str(work), "--", "true"], "full"),
        (["--corpus", str(corpus), str(work), "--", "/no/such/program", "x"], "No such file"),
    ):
        done = oracle("supervise", *arguments)
        assert done.returncode == 2, done.stderr
        assert words in done.stderr


def test_changed_files_are_signs_of_life_but_builds_are_not(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "a").mkdir()
    now = time.time()
    for name, at in ((".git/x", now + 50), ("a/x", now + 20), ("a/built", now + 30)):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (at, at))
    assert newest_change(tmp_path, now + 10, []) == pytest.approx(now + 30)
    assert newest_change(tmp_path, now + 10, [(now + 29, now + 31)]) == pytest.approx(now + 20)
    assert newest_change(tmp_path, now + 40, []) == now + 40


def test_scores_of_sections_are_rounded_too(tmp_path):
    history = History(tmp_path, 1.0)
    history.add("checkpoints", {"name": "final", "at": 0.123456, "overall": 1e-16, "sections": {"audio": 1e-16}})
    assert history.data["checkpoints"] == [{"name": "final", "at": 0.1235, "overall": 0.0, "sections": {"audio": 0.0}}]


def test_the_plot_of_nothing_and_of_something():
    data = {"seconds": 7200.0, "starts": [{"at": 0.0}], "commits": [], "checkpoints": []}
    ET.fromstring(plot(data))
    data["checkpoints"] = [
        {"at": 3600.0, "overall": 0.25, "sections": {"replay": 0.5, "audio": None}},
        {"at": 7000.0, "problem": "no"},
        {"at": 7200.0, "overall": 0.5, "sections": {"replay": 0.75}},
    ]
    text = plot(data)
    ET.fromstring(text)
    assert "hours" in text
    assert text.count("<polyline") == 2
