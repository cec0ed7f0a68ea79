"""``oracle supervise``: keep a command working in a workspace for a given time, and watch how the score grows.

The command is started again when it ends and when it falls silent: a process that hangs without ending costs the
silence, not the run. Life is output or a changed file in the workspace. Every start is a process group of its own;
whatever it leaves behind goes with it. Commits and checkpoints do not stop it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from grader.oracle.checkpoint import Checkpoints, Git
from grader.oracle.history import History

POSIX = os.name == "posix"
GRACE = 10.0
"""Seconds between asking a command to stop and killing it."""
AT_ONCE = 60.0
"""A command that ends sooner than this waits ``restart_delay`` before it is started again."""
UNWATCHED = {".git", "node_modules"}
PROMPT = "TASK.md"
AGAIN = (
    "You have been working here before and stopped; {left} of the time are left, so go on. TASK.md says what this is "
    "about; the git log and the files are your memory. Look for what still differs from the oracle, in picture and in "
    "sound, and mend it."
)


class SuperviseError(Exception):
    """Nothing can be supervised: one line."""


@dataclass(frozen=True)
class Plan:
    """What to do; times in seconds."""

    folder: Path
    command: tuple[str, ...]
    out: Path
    seconds: float = 86_400.0
    silence: float = 1200.0
    commit_every: float = 1800.0
    grade_every: float = 14_400.0
    restart_delay: float = 30.0
    build: str = "sh build.sh"
    candidate: str = "nes_emu.wasm"
    corpus: Path | None = None
    reference: str = "pynes_ref"
    trust_native: bool = False
    jobs: int = 1
    tick: float = 0.5


@dataclass
class Agent:
    """One start of the command."""

    process: subprocess.Popen[bytes]
    log: Path
    file: IO[bytes]
    begun: float
    alive: float  # wall clock of the last sign of life


class Supervisor:
    """``run`` does it all; the history is on disk after every event."""

    def __init__(self, plan: Plan, say: Callable[[str], None] = lambda text: None) -> None:
        self.plan = plan
        self._say = say
        self._begun = time.monotonic()
        self._stopped = threading.Event()
        self._log: IO[str] | None = None
        self._number = 0

    def run(self) -> dict[str, Any]:
        """Supervise until the time is over or SIGINT or SIGTERM comes; the history."""
        plan = self.plan
        if not plan.folder.is_dir():
            raise SuperviseError(f"{plan.folder} is not a folder")
        if plan.out.exists() and any(plan.out.iterdir()):
            raise SuperviseError(f"{plan.out} is there already: an earlier run? name another with --out")
        if plan.out.resolve().is_relative_to(plan.folder.resolve()):
            raise SuperviseError("--out is inside the workspace: what works there would see its own scores")
        if not plan.command:
            raise SuperviseError("no command")
        git = Git(plan.folder)
        checkpoints = Checkpoints(plan, git)  # looks for the corpus before hours are spent
        plan.out.mkdir(parents=True, exist_ok=True)
        self.history = History(plan.out, plan.seconds)
        self._begun = time.monotonic()
        with (plan.out / "run.log").open("w") as self._log, self._signals():
            git.ensure()
            self.note(f"{plan.seconds / 3600:.3g} h of: {' '.join(plan.command)}")
            status = self._supervise(git, checkpoints)
            self.history.finish(status, self._now())
            self.note(f"{status}: {self._number} starts")
        return self.history.data

    # ---- the loop ----------------------------------------------------------------------------------------------------

    def _supervise(self, git: Git, checkpoints: Checkpoints) -> str:
        plan = self.plan
        next_commit, next_grade = plan.commit_every or plan.seconds, plan.grade_every or plan.seconds
        start_at = 0.0
        agent: Agent | None = None
        grading: threading.Thread | None = None
        try:
            while self._now() < plan.seconds and not self._stopped.is_set():
                if agent is None and self._now() >= start_at:
                    agent = self._start()
                elif agent is not None:
                    why = self._ended(agent, checkpoints.builds)
                    if why:
                        ran = time.monotonic() - agent.begun
                        self._stop(agent, why)
                        agent = None
                        start_at = self._now() + (plan.restart_delay if ran < AT_ONCE else 0.0)
                if self._now() >= next_grade and (grading is None or not grading.is_alive()):
                    grading = threading.Thread(target=self._checkpoint, args=(git, checkpoints), daemon=True)
                    grading.start()
                    next_grade = _after(next_grade, plan.grade_every, self._now())
                if self._now() >= next_commit:
                    self._commit(git, "supervisor: work so far")
                    next_commit = _after(next_commit, plan.commit_every, self._now())
                self._stopped.wait(min(plan.tick, max(plan.seconds - self._now(), 0.0)))
        finally:
            if agent is not None:
                self._stop(agent, "interrupted" if self._stopped.is_set() else "time is over")
            checkpoints.give_up.set()  # a checkpoint that is still being graded is overtaken by the last one
            if grading is not None:
                grading.join(GRACE)
        if self._stopped.is_set():
            self._commit(git, "supervisor: interrupted")
            return "interrupted"
        checkpoints.give_up.clear()
        self._checkpoint(git, checkpoints, "final")
        return "interrupted" if self._stopped.is_set() else "completed"

    def _start(self) -> Agent:
        plan = self.plan
        self._number += 1
        log = plan.out / f"agent-{self._number:03d}.log"
        left = plan.seconds - self._now()
        task = plan.folder / PROMPT
        first = task.read_text("utf-8", "replace") if task.is_file() else "Read TASK.md."
        again = AGAIN.format(left=f"{left / 3600:.1f} hours")
        environment = {
            **os.environ,
            "ORACLE_TASK": str(task),
            "ORACLE_PROMPT": first if self._number == 1 else again,
            "ORACLE_TIME_LEFT": str(int(left)),
            "ORACLE_ATTEMPT": str(self._number),
        }
        command = ["sh", "-c", plan.command[0]] if len(plan.command) == 1 else list(plan.command)
        file = log.open("wb")
        try:
            process = subprocess.Popen(
                command, cwd=plan.folder, env=environment, stdin=subprocess.DEVNULL, stdout=file,
                stderr=subprocess.STDOUT, start_new_session=POSIX,
            )  # fmt: skip
        except OSError as error:
            file.close()
            raise SuperviseError(f"{command[0]}: {error.strerror or error}") from None
        self.note(f"start {self._number} (process {process.pid}, log {log.name})")
        self.history.add("starts", {"number": self._number, "at": self._now()})
        return Agent(process, log, file, time.monotonic(), time.time())

    def _ended(self, agent: Agent, builds: list[tuple[float, float]]) -> str:
        """Why this start is over; empty while it lives."""
        if _exited(agent.process):
            return "it ended"
        with contextlib.suppress(OSError):
            status = agent.log.stat()
            if status.st_size:
                agent.alive = max(agent.alive, status.st_mtime)
        if self.plan.silence and time.time() - agent.alive > self.plan.silence:
            newest = newest_change(self.plan.folder, agent.alive, builds)
            if time.time() - newest > self.plan.silence:
                return f"silent for {time.time() - agent.alive:.0f} s"
            agent.alive = newest
        return ""

    def _stop(self, agent: Agent, why: str) -> None:
        process = agent.process
        if POSIX:  # while the first process is not waited for, its number names the group and nothing else
            asked = time.monotonic()
            if not _exited(process):
                _signal_group(process, signal.SIGTERM)
                while not _exited(process) and time.monotonic() - asked < GRACE:
                    time.sleep(0.05)
            _signal_group(process, signal.SIGKILL)
        else:
            process.kill()
        code = process.wait()
        agent.file.close()
        self.note(f"start {self._number}: {why}, exit status {code}")
        self.history.change("starts", {"ended": self._now(), "why": why, "status": code})

    def _commit(self, git: Git, message: str) -> str:
        made, identity, problem = git.commit(message)
        if problem:
            self.note(f"commit: {problem}")
        elif made:
            self.note(f"commit {identity[:12]}: {message}")
            self.history.add("commits", {"at": self._now(), "id": identity, "message": message})
        return identity

    def _checkpoint(self, git: Git, checkpoints: Checkpoints, name: str = "") -> None:
        at = self._now()
        name = name or f"checkpoint-{len(self.history.data['checkpoints']) + 1:02d}"
        try:
            commit = self._commit(git, f"supervisor: {name}")
            self.note(f"{name}: building and grading")
            found = checkpoints.grade(name)
        except Exception as error:  # a checkpoint that fails must not end the run
            commit, found = "", {"problem": f"{type(error).__name__}: {error}"}
        self.history.add("checkpoints", {"name": name, "at": at, "commit": commit, **found})
        self.note(f"{name}: {found['problem']}" if "problem" in found else f"{name}: overall {found['overall']:.4f}")

    # ---- small things ------------------------------------------------------------------------------------------------

    def _now(self) -> float:
        return time.monotonic() - self._begun

    def note(self, text: str) -> None:
        """Into run.log and to the terminal."""
        line = f"{time.strftime('%H:%M:%S')} {text}"
        if self._log is not None:
            self._log.write(line + "\n")
            self._log.flush()
        self._say(line)

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        kinds = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(kind, lambda *_: self._stopped.set()) for kind in kinds]
        try:
            yield
        finally:
            for kind, handler in zip(kinds, before):
                signal.signal(kind, handler)


def _after(due: float, every: float, now: float) -> float:
    if every <= 0:
        return float("inf")
    while due <= now:
        due += every
    return due


def _exited(process: subprocess.Popen[bytes]) -> bool:
    """Has it ended? Without waiting for it, which would free its number."""
    if not POSIX or process.returncode is not None:
        return process.poll() is not None
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _signal_group(process: subprocess.Popen[bytes], kind: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, kind)


def newest_change(folder: Path, since: float, builds: list[tuple[float, float]]) -> float:
    """When a file below ``folder`` was last changed, if after ``since``, our own builds left out; else ``since``."""
    newest = since
    stack = [str(folder)]
    while stack:
        with contextlib.suppress(OSError), os.scandir(stack.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in UNWATCHED:
                            stack.append(entry.path)
                        continue
                    changed = entry.stat(follow_symlinks=False).st_mtime
                    if changed > newest and not any(a <= changed <= b for a, b in builds):
                        newest = changed
    return newest


__all__ = ["Plan", "SuperviseError", "Supervisor", "newest_change"]
