"""A new user's first hour: small programs in a folder, and the commands that are typed about them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from command_server import Ended, netmend


def python(folder: Path, *words: str, columns: int = 80, **variables: str) -> Ended:
    """What a command shows in a terminal of that width; a program that trains takes seconds, a busy machine more."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": str(columns), **variables},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


def judged(folder: Path, script: str, *options: str) -> dict[str, Any]:
    """What `netmend run --json` writes about a script."""
    ended = netmend(folder, "run", "-q", "--json", "judged.json", *options, script)
    assert (folder / "judged.json").is_file(), ended.stderr
    data: dict[str, Any] = json.loads((folder / "judged.json").read_text(encoding="utf-8"))
    return data


def follow(folder: Path, faults: list[dict[str, Any]]) -> None:
    """Changes the files exactly as told."""
    unfit = [fault["title"] for fault in faults if not fault.get("edit")]
    assert faults and not unfit, f"told without an edit: {unfit}"
    edits = []  # a change that is told with two faults is made once
    for edit in (edit for fault in faults for edit in fault["edit"]["edits"]):
        edits += [edit] if edit not in edits else []
    for edit in sorted(edits, key=lambda edit: (edit["line"], edit["column"]), reverse=True):
        path = folder / edit["file"]
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        begin, end = edit["line"] - 1, edit["end_line"] - 1
        text = lines[begin][: edit["column"]] + edit["text"] + lines[end][edit["end_column"] :]
        path.write_text("".join([*lines[:begin], text, *lines[end + 1 :]]), encoding="utf-8")
