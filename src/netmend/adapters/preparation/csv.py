"""The csv module: what the files that the program reads with it hold. How it makes numbers of them cannot be watched."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from netmend.adapters.preparation import notations
from netmend.adapters.preparation.raw_text import Lines, lines_of
from netmend.adapters.preparation.sentinels import reach_the_model
from netmend.adapters.preparation.values import of_columns
from netmend.adapters.preparation.watch import Preparation, Seen

_NUMBERS = 0.9  # share of numbers among the texts of a column that are not empty
_COLUMNS = 100


def watch(preparation: Preparation) -> None:
    """Wrap the reader, which `csv.DictReader` calls as well."""
    preparation.wrap(sys.modules["csv"], "reader", "read", _read, label="csv.reader", inside=True)
    preparation.at_end("csv.reader", reach_the_model)


def _read(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    file = args[0] if args else None
    path = getattr(file, "name", None)
    if not isinstance(path, str | os.PathLike):
        return None
    mark = kwargs.get("delimiter", ",")
    lines = (
        lines_of(path, mark, encoding=getattr(file, "encoding", None) or "utf-8")
        if isinstance(mark, str)
        else None
    )
    if lines is None:
        return None
    return {"files": [str(path)[-200:]], **of_columns(_columns(lines))}


def _columns(lines: Lines) -> dict[str, Any]:
    """The columns of numbers; empty fields are missing."""
    found: dict[str, Any] = {}
    for place, name in enumerate(lines.header[:_COLUMNS]):
        texts = [row[place].strip() if place < len(row) else "" for row in lines.rows]
        written = [text for text in texts if not notations.is_absent(text)]
        plain = [text for text in written if notations.is_plain(text)]
        if written and len(plain) >= _NUMBERS * len(written):
            found[name] = np.array([float(text) if notations.is_plain(text) else np.nan for text in texts])
    return found
