"""os: folders whose names are numbers, and stand in the order of words: 1, 10, 11, 2."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from netmend.adapters.preparation import order_of_rows
from netmend.adapters.preparation.watch import Preparation, Seen

_FEWEST = 3  # names with a number
_MOST = 20_000  # names that are looked at
_NUMBERED = re.compile(r"(\D*)(\d+)")


def watch(preparation: Preparation) -> None:
    """Wrap what lists a folder, also where pathlib and glob do it for a line of the user's."""
    order_of_rows.watch(preparation)
    listed = os.listdir

    def names(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
        folder = args[0] if args else kwargs.get("path", ".")
        return numbered(result if isinstance(result, list) else listed(folder))

    preparation.wrap(os, "listdir", "read", names, label="os.listdir", inside=True)
    preparation.wrap(os, "scandir", "read", names, label="os.scandir", inside=True)


def numbered(names: Iterable[Any]) -> Seen | None:
    """How many names are numbers behind one word, where their order as words is another than as numbers."""
    found = [_NUMBERED.fullmatch(name) for name in list(names)[:_MOST] if isinstance(name, str)]
    matches = sorted((match for match in found if match is not None), key=lambda match: match[0])
    numbers = [int(match[2]) for match in matches]
    if len(numbers) < _FEWEST or len({match[1] for match in matches}) > 1 or numbers == sorted(numbers):
        return None
    return {"numbered": len(numbers), "first": [match[0] for match in matches[:6]]}
