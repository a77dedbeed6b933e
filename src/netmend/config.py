"""`[tool.netmend]` of pyproject.toml: read, checked, and told what was probably meant when a key is unknown."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netmend.errors import UsageError

TABLE = "netmend"
FILE = "pyproject.toml"


@dataclass(frozen=True)
class CheckSettings:
    """What `netmend check` takes from the configuration; a command's own options come on top."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    baseline: Path | None = None
    per_file_ignores: dict[str, tuple[str, ...]] = field(default_factory=dict)
    file: Path | None = None  # where this stands; patterns and paths count from its folder
    warning: str = ""  # why the configuration was not read

    @property
    def folder(self) -> str:
        return "" if self.file is None else str(self.file.parent)


KEYS = ("select", "ignore", "extend-select", "exclude", "baseline", "per-file-ignores")


def read_check_settings(start: Path) -> CheckSettings:
    """The settings of the nearest pyproject.toml with a table [tool.netmend], at or above a place."""
    for file, table in _tables(start):
        return CheckSettings(warning=table) if isinstance(table, str) else _settings(file, table)
    return CheckSettings()


def project_root(start: Path) -> Path:
    """The nearest folder, at or above a place, with a pyproject.toml or a repository; else the working directory."""
    for folder in _folders(start):
        if (folder / FILE).is_file() or (folder / ".git").exists():
            return folder
    return Path.cwd()


def _folders(start: Path) -> list[Path]:
    place = Path(os.path.abspath(start))  # noqa: PTH100 - links stay as they are written
    return [place, *place.parents] if place.is_dir() else list(place.parents)


def _tables(start: Path) -> Iterator[tuple[Path, dict[str, Any] | str]]:
    """The tables [tool.netmend] at or above a place, the nearest first; or a warning that one could not be read."""
    for folder in _folders(start):
        try:
            content = (folder / FILE).read_bytes()
        except OSError:
            continue
        # most files lack it: no need to load a parser
        table = _table(folder / FILE, content) if TABLE.encode() in content else None
        if table is not None:
            yield folder / FILE, table


def _table(file: Path, content: bytes) -> dict[str, Any] | str | None:
    """The table [tool.netmend], None where there is none, or a warning that it could not be read."""
    data: dict[str, Any]
    if sys.version_info >= (3, 11):
        import tomllib

        try:
            data = tomllib.loads(content.decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as problem:
            raise UsageError(f"{file} is not valid TOML: {problem}") from None
    else:
        return f"{file} is not read: only Python 3.11 and newer can; give the options on the command line"
    tools = data.get("tool", {})
    table = tools.get(TABLE) if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{file}: tool.{TABLE} must be a table, got {table!r}")
    return table


def _settings(file: Path, table: dict[str, Any]) -> CheckSettings:
    """Keys of [tool.netmend.check]; directly in [tool.netmend] they mean the same."""
    own = table.get("check", {})
    if not isinstance(own, dict):
        raise UsageError(f"{file}: tool.{TABLE}.check must be a table, got {own!r}")
    values: dict[str, Any] = {}
    for name, part in ((f"tool.{TABLE}", table), (f"tool.{TABLE}.check", own)):
        for key, value in part.items():
            if part is table and key in ("check", "run"):
                continue
            if key not in KEYS:
                raise UsageError(f"{file}: {name}.{key} is not a setting{_hint(key, KEYS)}")
            values[key] = _checked(f"{file}: {name}.{key}", key, value)
    baseline = values.get("baseline")
    return CheckSettings(
        values.get("select", ()),
        values.get("ignore", ()),
        values.get("extend-select", ()),
        values.get("exclude", ()),
        file.parent / baseline if baseline else None,
        values.get("per-file-ignores", {}),
        file,
    )


def _hint(key: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(key.replace("_", "-"), known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"


RUN_KEYS: dict[str, type] = {
    "overhead": str,
    "every": int,
    "full": bool,
    "trap": bool,
    "probe": bool,
    "quiet": bool,
    "exit-on-fault": bool,
    "stop-on": str,
    "directory": str,
}


def read_run_settings(start: Path) -> dict[str, Any]:
    """What [tool.netmend.run] of the nearest pyproject.toml says, by name of the option's variable; options given count more."""
    for file, table in _tables(start):
        if isinstance(table, dict):
            return _run_settings(file, table.get("run", {}))
    return {}


def _run_settings(file: Path, own: Any) -> dict[str, Any]:
    name = f"{file}: tool.{TABLE}.run"
    if not isinstance(own, dict):
        raise UsageError(f"{name} must be a table, got {own!r}")
    values: dict[str, Any] = {}
    for key, value in own.items():
        if key not in RUN_KEYS:
            raise UsageError(f"{name}.{key} is not a setting{_hint(key, RUN_KEYS)}")
        kind = RUN_KEYS[key]
        if type(value) is not kind:
            words = {str: "a text", int: "a whole number", bool: "true or false"}[kind]
            raise UsageError(f"{name}.{key} must be {words}, got {value!r}")
        values[key.replace("-", "_")] = str(file.parent / str(value)) if key == "directory" else value
    return values


def _checked(where: str, key: str, value: Any) -> Any:
    if key == "baseline":
        if not isinstance(value, str) or not value:
            raise UsageError(f"{where} must be the name of a file, got {value!r}")
        return value
    if key == "per-file-ignores":
        if not isinstance(value, dict):
            raise UsageError(f'{where} must be a table such as {{"tests/*" = ["S5"]}}, got {value!r}')
        return {pattern: _texts(f"{where}.{pattern!r}", codes) for pattern, codes in value.items()}
    return _texts(where, value)


def _texts(where: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(f'{where} must be a list of texts such as ["S2"], got {value!r}')
    return tuple(value)
