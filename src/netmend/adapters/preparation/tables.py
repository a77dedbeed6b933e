"""What a call did to a table: rows, their order, columns, missing values. Any object with pandas' interface; pandas is not imported.

Of long tables a sample of rows is looked at (every n-th), so that a look costs the same for ten million rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_ROWS = 20_000  # that are looked at for values
_LABELS = 500_000  # row labels that are compared one by one
_COLUMNS = 200


def is_frame(thing: Any) -> bool:
    return hasattr(thing, "columns") and hasattr(thing, "index") and hasattr(thing, "iloc")


def is_series(thing: Any) -> bool:
    return hasattr(thing, "index") and hasattr(thing, "iloc") and not hasattr(thing, "columns")


def is_table(thing: Any) -> bool:
    return hasattr(thing, "index") and hasattr(thing, "iloc")


def sample(table: Any) -> Any:
    """Every n-th row, so that there are not too many."""
    step = -(-len(table) // _ROWS)
    return table.iloc[::step] if step > 1 else table


def size(table: Any) -> dict[str, Any]:
    return {"rows": len(table), "columns": len(table.columns) if is_frame(table) else 1}


def missing(table: Any) -> dict[str, float]:
    """Share of missing values by column, of those that have any."""
    looked = sample(table)
    if not is_frame(looked):
        share = float(looked.isna().mean()) if len(looked) else 0.0
        return {str(looked.name): share} if share else {}
    shares = looked.iloc[:, :_COLUMNS].isna().to_numpy().mean(axis=0) if len(looked) else np.zeros(0)
    return {str(looked.columns[k]): float(share) for k, share in enumerate(shares) if share > 0}


def made_missing(before: Any, after: Any) -> tuple[str, float]:
    """The column in which most values became missing, and the share of its rows."""
    old, new = missing(before), missing(after)
    kept = {str(name) for name in before.columns} if is_frame(before) else set(new)
    grown = {name: share - old.get(name, 0.0) for name, share in new.items() if name in kept}
    name = max(grown, key=grown.__getitem__, default="")
    return (name, grown[name]) if name and grown[name] > 0 else ("", 0.0)


def order(before: Any, after: Any) -> str:
    """What became of the rows, by their labels: "kept", "some" (in the old order), "moved", "new" (other labels)."""
    if before is after:
        return "kept"
    if len(before) == len(after) and before.equals(after):
        return "kept"
    if max(len(before), len(after)) > _LABELS or not before.is_unique:
        return "unknown"
    places = before.get_indexer(after)
    if (places < 0).any():
        return "new"
    return "some" if (np.diff(places) > 0).all() else "moved"


def change(before: Any, after: Any) -> dict[str, Any]:
    """What a call did to a table, in numbers."""
    column, share = made_missing(before, after) if is_frame(before) == is_frame(after) else ("", 0.0)
    seen: dict[str, Any] = {
        "rows": len(before),
        "rows_after": len(after),
        "order": order(before.index, after.index),
    }
    if share:
        seen |= {"missing_column": column, "made_missing": share}
    return seen
