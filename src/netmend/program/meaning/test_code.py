"""Code of tests: toy models, wrong arguments on purpose."""

from __future__ import annotations

from pathlib import PurePath

from netmend.program.engine.program import Program

_FOLDERS = ("tests", "test", "testing")


def is_test_code(program: Program) -> bool:
    """By the usual names of files and folders. What is odd there is mostly meant."""
    path = PurePath(program.file)
    is_named = path.stem.startswith("test_") or path.stem.endswith("_test") or path.stem == "conftest"
    return is_named or any(folder in _FOLDERS for folder in path.parts[:-1])
