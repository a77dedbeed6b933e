"""What is known of how the data were made: questions to the facts of preparation."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.vocabulary import PreparationFact, Trace


def prepared(trace: Trace, *kinds: str) -> Iterator[PreparationFact]:
    """The facts of some kinds, in the order in which the lines ran first."""
    yield from (fact for fact in trace.all(PreparationFact) if not kinds or fact.kind in kinds)


def upstream(trace: Trace, fact: PreparationFact) -> tuple[PreparationFact, ...]:
    """The lines that a line's data have come through, the nearest first."""
    seen: dict[str, PreparationFact] = {}
    waiting = list(fact.takes)
    while waiting:
        name = waiting.pop(0)
        source = trace.get(PreparationFact, name)
        if source is not None and name not in seen and name != fact.name:
            seen[name] = source
            waiting += source.takes
    return tuple(seen.values())


def downstream(trace: Trace, fact: PreparationFact) -> tuple[PreparationFact, ...]:
    """The lines that a line's data went through later."""
    return tuple(later for later in trace.all(PreparationFact) if fact in upstream(trace, later))
