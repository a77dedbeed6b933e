"""How fast `netmend locate` is: a first question in a repository of 5,000 files, a second one, one after a commit.

    python benchmarks/locate_speed.py [--files 5000] [--json FILE]

The repository is made of the Python files of installed packages and gets a commit for every hundred of them. Times are
seconds of CPU, of this process and of git together, so that a busy machine does not change them; the start of Python is
not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from netmend.locate.answer import Located
from netmend.locate.ask import ask

REPORTS = {
    "prose": "Resuming from a checkpoint ignores the learning rate\n\nAfter loading the state of the optimizer the scheduler "
    "starts again from the first step. I expected `load_state_dict` to restore `last_epoch`.",
    "trace": "Crash while collating\n\nTraceback (most recent call last):\n"
    '  File "train.py", line 10, in <module>\n    for batch in loader:\n'
    '  File "/usr/lib/python3/site-packages/torch/utils/data/dataloader.py", line 628, in __next__\n'
    "    data = self._next_data()\n"
    '  File "/usr/lib/python3/site-packages/torch/utils/data/_utils/collate.py", line 160, in default_collate\n'
    "    raise TypeError(default_collate_err_msg_format.format(elem_type))\n"
    "TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists",
}


def make_tree(folder: Path, wanted: int) -> int:
    """Copy files of installed packages, a commit for every hundred."""
    source = Path(sysconfig.get_paths()["purelib"])
    git(folder, "init", "-q")
    copied = 0
    for file in sorted(source.rglob("*.py")):
        path = file.relative_to(source)
        if (
            copied >= wanted
            or "__pycache__" in path.parts
            or "tests" in path.parts
            or file.stat().st_size < 200
        ):
            continue
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, folder / path)
        copied += 1
        if copied % 100 == 0:
            commit(folder, f"Add {path.parts[0]} up to {path.stem}")
    commit(folder, "Add the rest")
    return copied


def git(folder: Path, *arguments: str) -> None:
    settings = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "gc.auto=0")
    subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, subject: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", subject)


def timed(work: Callable[[], Located]) -> tuple[Located, dict[str, float]]:
    before, started = os.times(), time.perf_counter()
    result = work()
    after, ended = os.times(), time.perf_counter()
    cpu = sum(after[:4]) - sum(before[:4])
    return result, {"cpu": round(cpu, 3), "wall": round(ended - started, 3)}


def measure(folder: Path, wanted: int) -> dict[str, Any]:
    files = make_tree(folder, wanted)
    size = sum(file.stat().st_size for file in folder.rglob("*.py"))
    figures: dict[str, Any] = {"files": files, "megabytes": round(size / 1e6, 1)}
    _, figures["first question, with indexing"] = timed(lambda: ask(REPORTS["prose"], folder))
    for name, text in REPORTS.items():
        ask(text, folder)  # pages of the index are in memory from here on
        runs = [timed(lambda text=text: ask(text, folder))[1] for _ in range(5)]  # type: ignore[misc]
        figures[f"question ({name})"] = min(runs, key=lambda run: run["cpu"])
    changed = sorted(folder.rglob("*.py"))[:: max(files // 20, 1)][:20]
    for file in changed:
        file.write_bytes(file.read_bytes() + b"\nCHANGED_BY_THE_BENCHMARK = 1\n")
    commit(folder, "Change twenty files")
    _, figures["question after a commit of 20 files"] = timed(lambda: ask(REPORTS["prose"], folder))
    kept = folder / ".netmend" / "locate"
    figures["index megabytes"] = round(sum(file.stat().st_size for file in kept.iterdir()) / 1e6, 1)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), options.files)
    for name, value in figures.items():
        print(f"{name:40s} {value}")
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
