"""Whether a file is a program for reinforcement learning: a script that trains with Stable-Baselines3, or a YAML that names an algorithm."""

from __future__ import annotations

import ast
import re
from pathlib import Path

_PACKAGES = ("stable_baselines3", "sb3_contrib")
_KEY = re.compile(r"^(algorithm|environment)\s*:", re.MULTILINE)
_MOST_BYTES = 1_000_000


def is_rl(path: str | Path) -> bool:
    """Nothing is executed, and nothing is raised: a file that cannot be read is none."""
    file = Path(path)
    try:
        if file.stat().st_size > _MOST_BYTES:
            return False
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    if file.suffix in (".yaml", ".yml"):
        return len(set(_KEY.findall(text))) == 2
    return file.suffix == ".py" and _trains(text)


def _trains(text: str) -> bool:
    if not any(package in text for package in _PACKAGES):
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        if any(name.partition(".")[0] in _PACKAGES for name in names):
            return True
    return False
