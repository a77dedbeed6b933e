"""Traces of given parts, and runs that consist of a curve."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from netmend.vocabulary import BatchPrint, Event, LossFact, Pattern, RunFact, Site, Table, Trace
from netmend.vocabulary.facts import KIND_OF_FACT, Fact

LOSS = "cross_entropy@train.py:20"
SITE = Site("train.py", 20)
Part = Fact | Table | Pattern | Event | BatchPrint | None


def trace_of(*parts: Part, onto: Trace | None = None) -> Trace:
    """A trace of these facts, tables, patterns, events and batches, and of what `onto` has beside them."""
    onto = onto or Trace()
    facts = {kind: dict(named) for kind, named in onto.facts.items()}
    tables = dict(onto.tables)
    rows: dict[type, list[Any]] = {
        Pattern: [*onto.patterns],
        Event: [*onto.events],
        BatchPrint: [*onto.batches],
    }
    for part in parts:
        if isinstance(part, Table):
            tables[part.kind, part.component] = part
        elif isinstance(part, Pattern | Event | BatchPrint):
            rows[type(part)].append(part)
        elif part is not None:
            facts.setdefault(KIND_OF_FACT[type(part)], {})[part.name] = part
    return Trace(facts, tables, tuple(rows[Pattern]), tuple(rows[Event]), tuple(rows[BatchPrint]))


def crashed(exception: str, *parts: Part, line: int = 20, steps: int = 0) -> Trace:
    """A run that ended with this exception."""
    site = Site("train.py", line)
    run = RunFact(
        "example", "train.py", status="failed", exception=exception, exception_site=site, steps=steps
    )
    return trace_of(run, *parts)


def labelled(*labels: Mapping[str, int], phase: str = "training", step: int = 0) -> list[BatchPrint]:
    """Batches with so many samples of each label."""
    return [
        BatchPrint(number, phase, sum(counts.values()), labels=counts)
        for number, counts in enumerate(labels, step)
    ]


def sampled(
    step: int, samples: Iterable[int], phase: str = "training", model: str = "", **more: Any
) -> BatchPrint:
    """A batch of these samples, known by their fingerprints."""
    hashes = tuple(samples)
    return BatchPrint(step, phase, len(hashes), model, hashes, **more)


def with_facts(*facts: Fact) -> Trace:
    """A run of 100 steps of which nothing but these facts is known."""
    return trace_of(RunFact("example", "train.py", steps=100, status="finished"), *facts)


def run_with(
    losses: Sequence[float],
    constant: float | None = 1.0,
    evaluations: Sequence[float] = (),
    metrics: Sequence[float] = (),
    criterion: str = "cross_entropy",
    more: Sequence[Table] = (),
    seen: Container[int] | None = None,
) -> Trace:
    """A run with one objective: a loss per step (of those in `seen`), evaluations spread evenly over it."""
    name = f"{criterion}@train.py:20"
    nan = float("nan")
    rows = {
        step: (value, nan if constant is None else constant, metrics[step] if metrics else nan)
        for step, value in enumerate(losses)
        if seen is None or step in seen
    }
    every = len(losses) / max(1, len(evaluations))
    passes = {int((index + 1) * every): (value, constant or nan) for index, value in enumerate(evaluations)}
    return trace_of(
        LossFact(name, criterion=criterion, form="module", called=SITE, backward=Site("train.py", 21)),
        RunFact("example", "train.py", steps=len(losses), status="finished"),
        Table.of("progress", name, rows),
        Table.of("evaluation", name, passes) if passes else None,
        *more,
    )


def falling(count: int, start: float = 1.0, end: float = 0.05, noise: float = 0.03) -> list[float]:
    """A healthy curve: exponential decay with a regular ripple in place of noise."""
    return [
        end + (start - end) * 0.5 ** (8 * step / count) + noise * (-1) ** step * (0.5 + step % 3)
        for step in range(count)
    ]


def flat(count: int, level: float = 1.0, noise: float = 0.02) -> list[float]:
    return [level + noise * (-1) ** step * (0.5 + step % 3) for step in range(count)]
