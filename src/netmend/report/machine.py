"""What the outputs for machines share: SARIF's frame and places, GitHub's workflow commands and their escapes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netmend.version import VERSION

_INFORMATION = "https://pypi.org/project/netmend/"
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def json_text(data: Any) -> str:
    """As a file: indented, with a final line end. A lone half of a surrogate pair cannot be written, so it is escaped."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def sarif_text(
    rules: Sequence[Mapping[str, Any]],
    results: Sequence[Mapping[str, Any]],
    invocation: Mapping[str, Any] | None = None,
) -> str:
    """A SARIF 2.1.0 log of one run, as code-scanning services read it."""
    driver = {"name": "netmend", "version": VERSION, "informationUri": _INFORMATION, "rules": rules}
    run: dict[str, Any] = {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
    if invocation is not None:
        run["invocations"] = [invocation]
    return json_text({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def region(
    line: int, column: int | None = None, end_line: int | None = None, end_column: int | None = None
) -> dict[str, int]:
    """A place as SARIF counts: lines and columns from 1."""
    place = {"startLine": line}
    if column is not None:
        place["startColumn"] = column + 1
    if end_line is not None:
        place["endLine"] = end_line
    if end_column is not None:
        place["endColumn"] = end_column + 1
    return place


def artifact(file: str) -> dict[str, str]:
    """A file as SARIF names it: a relative or absolute URI."""
    from urllib.parse import quote

    path = Path(file)
    return {"uri": path.as_uri() if path.is_absolute() else quote(file.replace("\\", "/"), errors="replace")}


def workflow_command(level: str, message: str, properties: Mapping[str, str | int]) -> str:
    """One line that GitHub shows as an annotation."""
    named = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{level} {named}::{_data(message)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
