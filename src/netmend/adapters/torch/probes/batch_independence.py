"""In eval mode: does what the model says about a sample depend on the other samples of the batch?"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from netmend.adapters.torch.probes.bench import Bench, Found, largest, spread
from netmend.adapters.torch.probes.operations import Place, first_mixing_operation, survey

WHAT = "batch independence"
_NOISE = 1e-5  # of the spread between samples: more than rounding can do


def examine(bench: Bench) -> Found | None:
    base = bench.base
    if base is None:
        return _lost(bench)
    if bench.rows in base.shape[1:]:
        return None  # a number for each pair of samples: meant to mix them
    scale = spread(base) or largest(base)  # an answer for the whole batch is the same for all samples
    if not scale or all(torch.equal(leaf[0], leaf[1]) for leaf in bench.batched):
        return None
    changed = bench.output(replace_first)
    if changed is None or changed.shape != base.shape:
        return None
    others, own = largest(changed[1:] - base[1:]) / scale, largest(changed[:1] - base[:1]) / scale
    place = first_mixing_operation(bench, replace_first) if others > _NOISE else None
    return Found(
        _values(bench, base, others, own, place), place.site if place is not None else bench.call.site
    )


def _lost(bench: Bench) -> Found | None:
    """As many outputs as the batch has samples, but only by chance: with fewer samples there are just as many."""
    outputs = bench.run() if bench.rows != bench.batch else None
    first = next((t for t in outputs or () if t.is_floating_point() and t.dim()), None)
    place = survey(bench).left
    if first is None or len(first) != bench.batch or place is None:
        return None
    values = _values(bench, first, math.nan, math.nan, place) | {"axis": "lost"}
    return Found({**values, "layers_batch_first": survey(bench).batch_first}, place.site)


def replace_first(tensor: Tensor) -> Tensor:
    """The first sample becomes a copy of the second."""
    tensor[0] = tensor[1]
    return tensor


def _values(bench: Bench, base: Tensor, others: float, own: float, place: Place | None) -> dict[str, Any]:
    targets = [call.target for call in bench.session.losses.calls if call.target is not None]
    values: dict[str, Any] = {
        "others": others,  # largest change of the other samples' outputs, relative to the spread between samples
        "own": own,
        "batch": bench.batch,
        "rows": bench.rows,
        "input_shape": [bench.batch, *bench.batched[0].shape[1:]],
        "output_shape": [bench.batch, *base.shape[1:]],
        "target_shape": list(targets[-1].shape) if targets else [],
        "loader_batch": bench.session.data.batch_size or 0,
    }
    if place is not None:
        values |= {
            "operation": place.operation,
            "module": place.component,
            "kind": place.kind,
            "module_input": [bench.batch if n == bench.rows else n for n in place.module_input],
            "batch_first": place.batch_first,
        }
    return values
