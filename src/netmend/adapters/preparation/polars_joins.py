"""polars: tables joined by keys, and rows of groups."""

from __future__ import annotations

import sys
from typing import Any

from netmend.adapters.preparation import keys
from netmend.adapters.preparation.copies import copies_in_both
from netmend.adapters.preparation.watch import Preparation, Seen

_ROWS = 20_000
_MOST_KEYS = 4


def watch(preparation: Preparation) -> None:
    polars = sys.modules["polars"]
    preparation.wrap(polars.DataFrame, "join", "join", _joined)
    preparation.at_end("polars.copies", copies_in_both)


def _joined(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], table: Any) -> Seen | None:
    given = dict(zip(("left", "other", "on", "how"), args, strict=False)) | kwargs
    left, right = given["left"], given.get("other")
    if not all(hasattr(frame, "height") for frame in (left, right, table)):
        return None
    assert right is not None
    how = str(given.get("how", "inner"))
    seen: dict[str, Any] = {
        "rows": left.height,
        "rows_right": right.height,
        "rows_after": table.height,
        "how": how,
    }
    names = [_names(given.get(side, given.get("on"))) for side in ("left_on", "right_on")]
    if how not in ("left", "inner", "full", "semi") or not all(names):
        return seen
    step = -(-left.height // _ROWS) or 1
    one, other = left.select(names[0]).gather_every(step), right.select(names[1])
    repeated = 1 - other.n_unique() / other.height if other.height else 0.0
    return {
        **seen,
        "on": names[0][:_MOST_KEYS],
        **keys.partners(_rows(one), _rows(other.unique())),
        "repeated_right": repeated,
    }


def _names(on: Any) -> list[str]:
    """Names of key columns; none for expressions."""
    listed = [on] if isinstance(on, str) else list(on) if isinstance(on, list | tuple) else []
    return listed if all(isinstance(name, str) for name in listed) else []


def _rows(frame: Any) -> list[Any]:
    return frame.to_series(0).to_list() if frame.width == 1 else frame.rows()  # type: ignore[no-any-return]
