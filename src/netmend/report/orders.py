"""The orders of calls that the loop followed, told once where they differ only in how often or on which copy a call was made."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from netmend.vocabulary import Call, Pattern, Site, Trace

_COPY = re.compile(r"#\d+$")  # `loader#2`: a loader made anew in each epoch
_MOST_ORDERS = 6  # a loop has two or three; more mean that something odd varies from step to step


@dataclass(frozen=True)
class Order:
    """Calls between two optimiser steps: each as often as `pattern` says, or up to `most` times."""

    pattern: Pattern
    most: tuple[int, ...]


def orders(trace: Trace) -> tuple[Order, ...]:
    """All orders, the most frequent first."""
    alike: dict[tuple[object, ...], list[Pattern]] = {}
    for pattern in trace.patterns:
        alike.setdefault(tuple(map(_essence, pattern.calls)), []).append(pattern)
    return tuple(sorted(map(_merged, alike.values()), key=lambda order: -order.pattern.steps))


def shown_orders(trace: Trace) -> tuple[Order, ...]:
    """The orders that most steps follow."""
    return orders(trace)[:_MOST_ORDERS]


def _essence(call: Call) -> tuple[str, str, str, Site | None]:
    return call.what, _COPY.sub("", call.component), call.detail, call.site


def _merged(patterns: list[Pattern]) -> Order:
    columns = list(zip(*(pattern.calls for pattern in patterns), strict=True))
    calls = tuple(replace(column[0], times=min(call.times for call in column)) for column in columns)
    spans = sorted(span for pattern in patterns for span in pattern.spans)
    joined: list[tuple[int, int]] = []
    for first, last in spans:
        if joined and first == joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    more = sum(pattern.more_steps for pattern in patterns)
    most = tuple(max(call.times for call in column) for column in columns)
    return Order(Pattern(calls, tuple(joined), more), most)
