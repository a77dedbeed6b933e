"""Lineage: the way of the data from reading to the batches, as steps in the order in which they can be read."""

from __future__ import annotations

from dataclasses import dataclass

from netmend.vocabulary import PreparationFact, Trace

LOADER = "loader"


@dataclass(frozen=True)
class Step:
    """One line that prepared data, and which earlier steps its data came from."""

    fact: PreparationFact
    takes: tuple[int, ...] = ()
    likely: tuple[
        int, ...
    ] = ()  # steps that end with as many rows as this one begins with: nothing surer is known


def lineage(trace: Trace, most: int = 80) -> tuple[Step, ...]:
    """All steps, each after those that it takes from; loaders last. Of very many the last ones before the loaders."""
    facts = sorted(
        (fact for fact in trace.all(PreparationFact) if fact.call),
        key=lambda fact: (fact.kind == LOADER, fact.order),
    )
    facts = facts[-most:]
    places = {fact.name: place for place, fact in enumerate(facts)}
    taken = {name for fact in facts for name in fact.takes}
    steps = []
    for place, fact in enumerate(facts):
        takes = tuple(sorted({places[name] for name in fact.takes if places.get(name, place) < place}))
        likely: tuple[int, ...] = ()
        if fact.kind == LOADER and not takes:
            likely = tuple(
                places[other.name]
                for other in facts
                if other.name not in taken
                and other.kind != LOADER
                and _rows(other) == fact.seen.get("rows", -1)
            )
        steps.append(Step(fact, takes, likely))
    return tuple(steps)


def _rows(fact: PreparationFact) -> object:
    return fact.seen.get("rows_after", fact.seen.get("rows"))
