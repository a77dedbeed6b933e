"""Tables of pandas and polars in source: where they were read, and what happened to rows and columns on the way."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Element,
    Item,
    Value,
    constant,
    resolved,
)

_LIBRARIES = ("pandas.", "polars.")
_MOST_STEPS = 60


def is_read(value: Value | None) -> bool:
    """The result of `pd.read_csv(…)`, `pl.scan_parquet(…)`, `pd.DataFrame(…)` and the like."""
    if not isinstance(value, Call) or not value.qualified.startswith(_LIBRARIES):
        return False
    name = value.qualified.rpartition(".")[2]
    return name.startswith(("read_", "scan_")) or name in ("DataFrame", "Series")


def steps(value: Value | None) -> Iterator[Value]:
    """A table or column and what it was before, one step at a time, up to where it was read."""
    for _ in range(_MOST_STEPS):
        value = resolved(value)
        if value is None:
            return
        yield value
        if isinstance(value, Call) and value.receiver is not None:
            value = value.receiver
        elif isinstance(value, Item | Attribute):
            value = value.base
        elif isinstance(value, Element):
            value = value.iterable
        else:
            return


def source_of(value: Value | None) -> Call | None:
    """The call that read the table that a value is, or is a part of."""
    *_, last = (None, *steps(value))
    return last if isinstance(last, Call) and is_read(last) else None


def written_texts(value: Value | None) -> tuple[str, ...]:
    """The texts of `"a"` and of `["a", "b"]`; nothing of what is not all text."""
    value = resolved(value)
    if isinstance(value, Collection) and not value.open:
        found = [constant(resolved(item)) for item in value.items]
    else:
        found = [constant(value)]
    return tuple(found) if found and all(isinstance(text, str) for text in found) else ()


def texts_of_arguments(call: Call) -> tuple[str, ...]:
    """The texts of `sort("a", "b")` as well as of `sort_values(["a", "b"])` and `groupby(by="a")`."""
    given = call.args or (call.keywords.get("by"),)
    found = [written_texts(value) for value in given]
    return tuple(text for texts in found for text in texts) if all(found) else ()
