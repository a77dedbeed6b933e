"""pandas: tables put together, by keys, by labels, one under the other."""

from __future__ import annotations

import sys
from typing import Any

from netmend.adapters.preparation import keys, tables
from netmend.adapters.preparation.copies import copies_in_both
from netmend.adapters.preparation.watch import Preparation, Seen

_MOST_KEYS = 4


def watch(preparation: Preparation) -> None:
    pandas = sys.modules["pandas"]
    preparation.wrap(pandas, "merge", "join", _merged, label="pandas.merge")
    preparation.wrap(pandas.DataFrame, "merge", "join", _merged)
    preparation.wrap(pandas.DataFrame, "join", "join", _joined, _by_index)
    preparation.wrap(pandas, "merge_asof", "join", _joined, label="pandas.merge_asof")
    preparation.wrap(pandas, "concat", "join", _concatenated, label="pandas.concat")
    preparation.at_end("pandas.copies", copies_in_both)


def _joined(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], table: Any) -> Seen | None:
    left = args[0] if args else kwargs.get("left")
    right: Any = args[1] if len(args) > 1 else kwargs.get("other", kwargs.get("right"))
    if left is None or not tables.is_frame(left) or not tables.is_frame(table):
        return None
    seen = tables.change(left, table)
    if tables.is_table(right) and token is not None:
        on = token[0]
        of_left = (
            left[[on]] if isinstance(on, str) and on in left.columns else left.index.to_frame(index=False)
        )
        if of_left.shape[1] == 1 and right.index.nlevels == 1:
            seen |= {"how": token[1], **_partners(of_left, right.index.to_frame(index=False))}
    return seen


def _by_index(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `left.join(right, on, how)` goes by."""
    given = dict(zip(("other", "on", "how"), args[1:], strict=False)) | kwargs
    return given.get("on"), str(given.get("how", "left"))


def _merged(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], table: Any) -> Seen | None:
    left = args[0] if args else kwargs.get("left")
    right = args[1] if len(args) > 1 else kwargs.get("right")
    if not (tables.is_frame(left) and tables.is_frame(right) and tables.is_frame(table)):
        return None
    assert left is not None and right is not None
    how = kwargs.get("how", args[2] if len(args) > 2 else "inner")
    seen: dict[str, Any] = {
        "rows": len(left),
        "rows_right": len(right),
        "rows_after": len(table),
        "how": str(how),
    }
    names = _keys(left, right, args, kwargs)
    if names is not None:
        seen |= {"on": names[0][:_MOST_KEYS], **_partners(left[names[0]], right[names[1]])}
    return seen


def _keys(
    left: Any, right: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], list[Any]] | None:
    on = kwargs.get("on", args[3] if len(args) > 3 else None)
    of_left, of_right = kwargs.get("left_on", on), kwargs.get("right_on", on)
    if of_left is None and of_right is None and not (kwargs.get("left_index") or kwargs.get("right_index")):
        of_left = of_right = [name for name in left.columns if name in set(right.columns)]
    names = [
        [name] if isinstance(name, str) else list(name) for name in (of_left, of_right) if name is not None
    ]
    if len(names) != 2 or not all(
        name in table.columns for table, own in zip((left, right), names, strict=True) for name in own
    ):
        return None
    return names[0], names[1]


def _partners(left: Any, right: Any) -> dict[str, Any]:
    """Of frames of keys: rows without a partner, keys that stand several times, what keeps partners apart."""
    types = [str(frame.dtypes.iloc[0]) for frame in (left, right)]
    one, other = (_rows_of(frame) for frame in (tables.sample(left), right.drop_duplicates()))
    seen = keys.partners(one, other)
    repeated = float(right.duplicated().mean()) if len(right) else 0.0
    return seen | {"repeated_right": repeated, "key_types": types}


def _rows_of(frame: Any) -> list[Any]:
    """Its rows as plain values; of one column the values themselves."""
    if frame.shape[1] == 1:
        return list(frame.iloc[:, 0].tolist())
    return [tuple(row) for row in frame.itertuples(index=False)]


def _concatenated(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], table: Any) -> Seen | None:
    given = args[0] if args else kwargs.get("objs")
    parts = (
        list(given.values())
        if isinstance(given, dict)
        else list(given)
        if isinstance(given, list | tuple)
        else []
    )
    if len(parts) < 2 or not all(map(tables.is_table, parts)):
        return None
    axis = kwargs.get("axis", args[1] if len(args) > 1 else 0)
    side_by_side = axis in (1, "columns")
    shares = [max(tables.missing(part).values(), default=0.0) for part in parts]
    worst = max(tables.missing(table).values(), default=0.0)
    seen: dict[str, Any] = {
        "rows": max(map(len, parts)) if side_by_side else sum(map(len, parts)),
        "rows_after": len(table),
        "side_by_side": side_by_side,
    }
    if worst > max(shares):
        seen["made_missing"] = worst - max(shares)
    if side_by_side:
        seen["orders"] = [tables.order(parts[0].index, part.index) for part in parts[1:]]
    return seen


def looked_up(before: Any, args: tuple[Any, ...]) -> Seen:
    """`series.map(…)` with a dictionary or another column is a join by another name: keys that only spelling keeps apart."""
    source: Any = args[1] if len(args) > 1 else None
    if not tables.is_series(before) or not (isinstance(source, dict) or tables.is_series(source)):
        return {}
    known: Any = source if isinstance(source, dict) else source.index
    return keys.by_spelling(tables.sample(before).tolist(), set(known))
