"""Replicas: the traces of the other processes of a distributed run, compared with the first one's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from netmend.vocabulary import Event, ModelFact, Trace

_CLOSE = 1e-6  # relative; sums over a tensor may be taken in another order on another device


def with_replicas(trace: Trace, others: Iterable[Trace]) -> Trace:
    """The first process's trace with an event for every parameter whose values differ on another process.

    For callers that know the whole run: `with_replicas(read_trace(path), (read_trace(path, rank) for rank in others))`.
    """
    found = {event.component: event for other in others for event in differences(trace, other)}
    return replace(trace, events=(*trace.events, *found.values())) if found else trace


def differences(trace: Trace, other: Trace) -> Iterator[Event]:
    """One event per parameter that is not the same on both, at the first common step where it differs."""
    sharded = any(model.wrapper == "FullyShardedDataParallel" for model in trace.models)
    if sharded or trace.environment.world_size < 2:
        return
    for table in trace.tables_of("weight"):
        same = other.table("weight", table.component)
        steps, mine, theirs = np.intersect1d(table.steps, same.steps, return_indices=True)
        for column in ("mean", "rms"):
            apart = np.abs(table.column(column)[mine] - same.column(column)[theirs])
            scale = np.abs(table.column("rms")[mine])
            wrong = np.flatnonzero(apart > _CLOSE * np.maximum(scale, 1e-30))
            if len(wrong):
                model = trace.get(ModelFact, table.component.partition(".")[0])
                site = model.created if model is not None else None
                message = f"{table.component} differs between processes"
                yield Event(int(steps[wrong[0]]), "replicas differ", message, table.component, site)
                break
