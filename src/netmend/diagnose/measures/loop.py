"""The training loop as it was really called: questions about the protocol that several detectors ask."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from netmend.vocabulary import Call, Pattern, Site, Trace


@lru_cache(maxsize=16)
def stepping(trace: Trace) -> tuple[Pattern, ...]:
    """Patterns that end in an optimiser step, the most frequent first."""
    found = [pattern for pattern in trace.patterns if any(call.what == "step" for call in pattern.calls)]
    return tuple(sorted(found, key=lambda pattern: -pattern.steps))


def main_pattern(trace: Trace) -> Pattern | None:
    """What most steps look like."""
    return next(iter(stepping(trace)), None)


def calls(trace: Trace, what: str) -> Iterator[tuple[Pattern, Call]]:
    """Every call of one kind, with the pattern it stands in."""
    for pattern in trace.patterns:
        for call in pattern.calls:
            if call.what == what:
                yield pattern, call


def usual_site(trace: Trace, what: str) -> Site | None:
    """The line from which a kind of call is made most often."""
    weights: dict[Site, int] = {}
    for pattern, call in calls(trace, what):
        if call.site is not None:
            weights[call.site] = weights.get(call.site, 0) + pattern.steps
    return max(weights, key=lambda site: weights[site], default=None)
