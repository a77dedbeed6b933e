"""Small literal runs for the examples of curve detectors."""

from __future__ import annotations

from collections.abc import Container, Sequence

from netmend.vocabulary import LossFact, RunFact, Site, Table, Trace

LOSS = "cross_entropy@train.py:20"
SITE = Site("train.py", 20)


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
    tables = {("progress", name): Table.of("progress", name, rows)}
    if evaluations:
        every = len(losses) / len(evaluations)
        passes = {
            int((index + 1) * every): (value, constant or nan) for index, value in enumerate(evaluations)
        }
        tables["evaluation", name] = Table.of("evaluation", name, passes)
    for table in more:
        tables[table.kind, table.component] = table
    loss = LossFact(name, criterion=criterion, form="module", called=SITE, backward=Site("train.py", 21))
    run = RunFact("example", "train.py", steps=len(losses), status="finished")
    return Trace(facts={"loss": {name: loss}, "run": {"example": run}}, tables=tables)


def falling(count: int, start: float = 1.0, end: float = 0.05, noise: float = 0.03) -> list[float]:
    """A healthy curve: exponential decay with a regular ripple in place of noise."""
    return [
        end + (start - end) * 0.5 ** (8 * step / count) + noise * (-1) ** step * (0.5 + step % 3)
        for step in range(count)
    ]


def flat(count: int, level: float = 1.0, noise: float = 0.02) -> list[float]:
    return [level + noise * (-1) ** step * (0.5 + step % 3) for step in range(count)]
