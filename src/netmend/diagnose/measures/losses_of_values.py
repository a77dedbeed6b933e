"""What lines of preparation lost of the values of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from netmend.diagnose.measures.preparation import prepared
from netmend.vocabulary import PreparationFact, Trace

Loss = Mapping[str, Any]


def losses(trace: Trace, key: str) -> Iterator[tuple[PreparationFact, Loss]]:
    """Lines that did something to a column, the column in which most was lost first, one for each line."""
    for fact in prepared(trace):
        found = [loss for loss in fact.seen.get("losses", ()) if loss.get(key)]
        if found:
            yield fact, max(found, key=lambda loss: loss[key] if isinstance(loss[key], int | float) else 1)


def others(fact: PreparationFact, key: str, loss: Loss) -> str:
    """ " and 2 other columns", where the line did the same to these."""
    count = len(
        {other["column"] for other in fact.seen.get("losses", ()) if other.get(key)} - {loss["column"]}
    )
    return f" and {count} other column{'s' if count > 1 else ''}" if count else ""


def call_of(fact: PreparationFact) -> str:
    """`to_numeric()`, as it is written."""
    return f"`{fact.call.rpartition('.')[2]}()`"
