"""What ``oracle supervise`` does at intervals: commit a workspace, build it, grade what comes out."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.oracle.supervise import Plan

BUILD_SECONDS = 1800.0
GRADE_SECONDS = 6 * 3600.0
IDENTITY = ("-c", "user.name=supervisor", "-c", "user.email=supervisor@localhost")
QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgsign=false", "-c", "gc.auto=0", *IDENTITY)


class Git:
    """The workspace's repository. What works there may be using it at the same time: a held lock is tried again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()

    def _git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["git", "-C", str(self.folder), *QUIET, *arguments]
        environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
        try:
            return subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=300, env=environment,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except FileNotFoundError:
            return subprocess.CompletedProcess(command, 127, "", "git is not installed")
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", "git takes too long")

    def ensure(self) -> None:
        """A repository of the workspace's own, even below another one."""
        if not (self.folder / ".git").exists():
            self._git("init", "-q")

    def commit(self, message: str) -> tuple[bool, str, str]:
        """Commit everything: (was there something, id of the head, problem)."""
        with self._lock:
            problem = ""
            for wait in (0.2, 1.0, 3.0, 0.0):
                problem = self._try(message)
                if "index.lock" not in problem:
                    break
                time.sleep(wait)
            made = problem == ""
            head = self._git("rev-parse", "HEAD").stdout.strip()
        return made, head, "" if problem == "nothing" else problem

    def _try(self, message: str) -> str:
        added = self._git("add", "-A")
        if added.returncode:
            return _last(added.stderr)
        if self._git("diff", "--cached", "--quiet").returncode == 0:
            return "nothing"
        done = self._git("commit", "-q", "--no-verify", "-m", message)
        return _last(done.stderr or done.stdout or "git commit failed") if done.returncode else ""


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    held = [line for line in lines if "index.lock" in line]
    return (held or lines or ["git failed"])[-1][:300]


class Checkpoints:
    """Builds and grades. ``builds`` are the wall-clock times of our builds: their files are no sign of life."""

    def __init__(self, plan: Plan, git: Git) -> None:
        from grader.builtin import NoBuiltinCorpus
        from grader.builtin import folder as builtin
        from grader.manifest import CorpusError, load_corpus
        from grader.oracle.supervise import SuperviseError

        self.plan, self.git = plan, git
        self.builds: list[tuple[float, float]] = []
        self.give_up = threading.Event()
        try:
            self.corpus = plan.corpus or builtin()
            load_corpus(self.corpus)
        except (NoBuiltinCorpus, CorpusError) as error:
            raise SuperviseError(str(error)) from None

    def grade(self, name: str) -> dict[str, Any]:
        """Build and grade into ``out/name``: overall and sections, or what went wrong."""
        plan = self.plan
        folder = plan.out / name
        folder.mkdir(parents=True)
        built: int | None = None
        if plan.build:
            begun = time.time()
            built = self._run(["sh", "-c", plan.build], plan.folder, folder / "build.log", BUILD_SECONDS)
            self.builds.append((begun - 1.0, time.time() + 1.0))
        found: dict[str, Any] = {"build": built}
        made = plan.folder / plan.candidate
        if made.is_symlink() or not made.is_file():
            return {**found, "problem": f"there is no {plan.candidate}" + (" (the build failed)" if built else "")}
        # A copy: the original may change while it is being graded.
        candidate = folder / Path(plan.candidate).name
        shutil.copyfile(made, candidate)
        command = [
            sys.executable, "-m", "grader.cli", "grade", str(candidate), str(self.corpus), str(folder / "grade"),
            "--reference", plan.reference, "--jobs", str(plan.jobs),
        ]  # fmt: skip
        if plan.trust_native:
            command.append("--trust-native")
        status = self._run(command, Path.cwd(), folder / "grade.log", GRADE_SECONDS)
        try:
            summary = json.loads((folder / "grade" / "summary.json").read_bytes())
            sections = {name: section["score"] for name, section in summary["sections"].items()}
            return {**found, "overall": float(summary["overall"]), "sections": sections, "grade": status}
        except (OSError, ValueError, KeyError, TypeError):
            said = (folder / "grade.log").read_text("utf-8", "replace").strip().splitlines()
            return {**found, "problem": f"not graded: {said[-1][:300] if said else f'exit status {status}'}"}

    def _run(self, command: list[str], where: Path, log: Path, seconds: float) -> int:
        """A command in a group of its own, its output in a file; its exit status, 124 when it was cut off."""
        end = time.monotonic() + seconds
        posix = os.name == "posix"
        with log.open("wb") as file:
            process = subprocess.Popen(
                command, cwd=where, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                start_new_session=posix,
            )  # fmt: skip
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return process.wait(0.2)
                if time.monotonic() > end or self.give_up.is_set():
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL) if posix else process.kill()
                    process.wait()
                    return 124
