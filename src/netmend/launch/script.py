"""Run a user's script or module exactly as Python would."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import io
import os
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from netmend.errors import UsageError


@dataclass(frozen=True)
class Program:
    """A script or module, compiled but not yet run."""

    target: str  # as the user wrote it
    arguments: tuple[str, ...]
    file: str
    code: CodeType
    module: types.ModuleType  # the new __main__
    path_entry: str  # what Python puts first on sys.path
    user_roots: tuple[str, ...] = ()


def load_script(target: str, arguments: tuple[str, ...]) -> Program:
    """Compile `python target arguments…`; a SyntaxError of the script is the script's own."""
    path = Path(target)
    if not path.exists():
        raise UsageError(f"there is no file {target}; give the path of the script that trains")
    if path.is_dir():
        path = path / "__main__.py"
        if not path.exists():
            raise UsageError(
                f"{target} is a directory without __main__.py; give the path of the script that trains"
            )
    try:
        with io.open_code(os.path.abspath(path)) as file:  # noqa: PTH100 - links stay as they are, as in Python
            source = file.read()
    except OSError as problem:
        raise UsageError(f"{target} cannot be read: {problem.strerror or problem}") from None
    name = str(path) if path.is_absolute() else os.path.join(_working_directory(), target)  # noqa: PTH118 - as Python spells it
    if b"\0" in source:
        line = source[: source.index(b"\0")].count(b"\n") + 1
        shown = source.splitlines()[line - 1].split(b"\0")[0].decode("utf-8", "replace")
        raise SyntaxError("source code cannot contain null bytes", (name, line, 0, shown))
    code = compile(source, name, "exec", dont_inherit=True)
    module = types.ModuleType("__main__")
    module.__file__ = name
    module.__dict__["__cached__"] = None
    module.__loader__ = importlib.machinery.SourceFileLoader("__main__", name)
    module.__spec__ = None
    return Program(target, arguments, name, code, module, str(path.resolve().parent))


def load_module(name: str, arguments: tuple[str, ...]) -> Program:
    """Compile `python -m name arguments…`."""
    entry = _working_directory()
    sys.path.insert(0, entry)  # as Python does before it looks the module up
    try:
        spec = _find(name)
    finally:
        sys.path.remove(entry)
    if spec is None or spec.loader is None or spec.origin is None or not hasattr(spec.loader, "get_code"):
        raise UsageError(
            f"no module named {name} can be run from here; check the name and the working directory"
        )
    code = spec.loader.get_code(spec.name)
    if code is None:
        raise UsageError(f"the module {name} has no Python code to run")
    module = types.ModuleType("__main__")
    module.__file__ = spec.origin
    module.__dict__["__cached__"] = spec.cached
    module.__loader__ = spec.loader
    module.__package__ = spec.parent
    module.__spec__ = spec
    return Program(name, arguments, spec.origin, code, module, entry, (str(Path(spec.origin).parent),))


def _find(name: str) -> importlib.machinery.ModuleSpec | None:
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            return importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, ValueError, AttributeError) as problem:
        raise UsageError(f"the module {name} cannot be found: {problem}") from None
    return spec


def _working_directory() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:  # it was deleted under our feet
        return ""


def prepare(program: Program) -> None:
    """Make the process look as if Python had been started with the program."""
    sys.argv[:] = [
        program.file if program.module.__spec__ is not None else program.target,
        *program.arguments,
    ]
    # Only the first entry: the same folder may stand on PYTHONPATH, and the program counts on it.
    sys.path[:] = [program.path_entry, *(sys.path[1:] if _begins_with_own() else sys.path)]
    sys.modules["__main__"] = program.module
    program.module.__dict__["__builtins__"] = sys.modules["builtins"]
    if sys.version_info < (3, 14):
        program.module.__dict__["__annotations__"] = {}  # noqa: RUF063 - as Python sets it


def _begins_with_own() -> bool:
    """Whether Python put the first entry there for netmend's own sake: the folder of its command, or '' for -m."""
    return bool(sys.path) and sys.path[0] in (
        "",
        _working_directory(),
        str(Path(sys.executable).parent),
        _COMMAND_FOLDER,
    )


_COMMAND_FOLDER = str(Path(sys.argv[0]).resolve().parent) if sys.argv and sys.argv[0] else ""


def execute(program: Program) -> None:
    exec(program.code, program.module.__dict__)
