"""Views in the forward pass that put axes into another order: view() is no transpose, it only reads the same numbers anew."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.adapters.torch.probes.bench import Bench, Found
from netmend.adapters.torch.probes.operations import survey

WHAT = "axis order"


def examine(bench: Bench) -> Iterator[Found]:
    for index, (place, before, after) in enumerate(survey(bench).swapped):
        values = {
            "before": [bench.batch if n == bench.rows else n for n in before],
            "after": [bench.batch if n == bench.rows else n for n in after],
            "operation": place.operation,
            "module": place.component,
        }
        where = place.site.short if place.site is not None else str(index)
        yield Found(values, place.site, f"{bench.name}.{place.operation}@{where}")
