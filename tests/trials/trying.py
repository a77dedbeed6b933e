"""Runs trials of small programs, and makes sure each time that the user's folder is as it was."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from netmend.trials.runner import Executor, Runner
from netmend.trials.trial import Limits, Outcome, Target, Trial

# As users write them: 20 steps, and an accuracy that it prints.
TINY = """\
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 4)
y = (x.sum(1) > 0).long()
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(20):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    if step % 5 == 4:
        acc = (net(x).argmax(1) == y).float().mean().item()
        print(f"step {step} loss {loss.item()!r} val acc {acc:.4f}")
"""


@dataclass
class Project:
    """A user's folder with a program in it."""

    folder: Path
    executor: Executor
    limits: Limits = field(default_factory=Limits)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def runner(self, limits: Limits | None = None, trials: Path | None = None) -> Runner:
        target = Target("train.py", (), False, str(self.folder))
        folder = trials or self.folder / ".netmend" / "trials"
        return Runner(target, folder, self.executor, limits or self.limits)

    def tried(
        self,
        program: str | None = None,
        *,
        script: str = "train.py",
        arguments: Sequence[str] = (),
        is_module: bool = False,
        limits: Limits | None = None,
        **more: object,
    ) -> Outcome:
        """One trial of a program, and nothing of the user's is changed by it."""
        if program is not None:
            self.write(script, program)
        before = contents(self.folder)
        runner = self.runner(limits)
        target = Target(script, tuple(arguments), is_module, str(self.folder))
        (outcome,) = runner.run([Trial(target, **more)])  # type: ignore[arg-type]
        assert contents(self.folder) == before
        return outcome

    def plain(self, *command: str) -> str:
        """What the program prints when the user starts it, with the threads and the order of sets that trials have."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        line = [sys.executable, *command]
        done = subprocess.run(line, cwd=self.folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def contents(folder: Path) -> dict[str, str]:
    """Everything in a folder but netmend's own: names, modes, dates of files, links, contents."""
    found: dict[str, str] = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".netmend"]
        for name in [*folders, *files]:
            path = Path(place) / name
            state = path.lstat()
            text = f"{state.st_mode:o}"
            if path.is_symlink():
                text += f" {path.readlink()}"
            elif path.is_file():
                text += f" {state.st_mtime_ns} {hashlib.sha256(path.read_bytes()).hexdigest()}"
            found[str(path.relative_to(folder))] = text
    return found


def is_gone(process: int, patience: float = 30.0) -> bool:
    """Whether a process has ended; a little is waited for that."""
    last = time.monotonic() + patience
    while time.monotonic() < last:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.05)
    return False


def numbers_after(word: str, text: str) -> list[int]:
    """The numbers in lines such as "child 123"."""
    return [int(line.split()[1]) for line in text.splitlines() if line.startswith(f"{word} ")]
