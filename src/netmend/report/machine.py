"""What the outputs for machines share: JSON by declared fields, SARIF's frame and places, GitHub's workflow commands."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from operator import attrgetter
from pathlib import Path, PurePath
from typing import Any

from netmend.version import VERSION

_INFORMATION = "https://pypi.org/project/netmend/"
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class Fields:
    """The JSON form of one kind of result: what stands under each key, in order.

    `"lines"` is the attribute of that name, `"failures=problems"` another one (dots lead further). With a name can come
    how it is written: `("goal", GOAL)` by its own fields, one by one where there are several, or `("metric", function)`
    by a function of the whole result. Numbers that are not finite are null.
    """

    def __init__(self, *entries: str | tuple[str, Fields | Callable[[Any], Any]]) -> None:
        self._forms = dict(map(_form, entries))

    def __call__(self, item: Any) -> dict[str, Any]:
        return {key: plain(form(item)) for key, form in self._forms.items()}

    def of(self, value: Any) -> Any:
        """One, several, or none."""
        if isinstance(value, Mapping):
            return {key: self(item) for key, item in value.items()}
        if isinstance(value, Sequence):
            return [self(item) for item in value]
        return None if value is None else self(value)

    def json(self, item: Any, schema: int = 1) -> str:
        return result_json(self(item), schema)


def _form(entry: str | tuple[str, Fields | Callable[[Any], Any]]) -> tuple[str, Callable[[Any], Any]]:
    name, form = (entry, None) if isinstance(entry, str) else entry
    key, _, path = name.partition("=")
    read = attrgetter(path or key)
    if isinstance(form, Fields):
        return key, lambda item: form.of(read(item))
    return key, form or read


def plain(value: Any) -> Any:
    """As JSON can hold it: what is not finite is null, a path its text, a dataclass its fields."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, PurePath) else value


def result_json(data: Mapping[str, Any], schema: int = 1) -> str:
    """A result as a file, under the version of its contract, which is extended only by adding."""
    return json_text({"schema": schema, "netmend": VERSION, **plain(data)})


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
