"""Does the output depend on the input, and on each argument of the forward pass?"""

from __future__ import annotations

import torch

from netmend.adapters.torch.probes.bench import Bench, Found, largest

WHAT = "input dependency"
_MOST_ARGUMENTS = 4


def examine(bench: Bench) -> Found | None:
    base, rolled = bench.base, bench.rolled
    if base is None or rolled is None or base.shape != rolled.shape:
        return None
    scale = largest(base) or 1.0
    varying = [index for index, leaf in enumerate(bench.batched) if not torch.equal(leaf, leaf.roll(1, 0))]
    if not varying:
        return None
    change = largest(rolled - base) / scale
    ignored = []
    if len(varying) > 1:
        everything = bench.run() or []
        for index in varying[:_MOST_ARGUMENTS]:
            alone = bench.run(lambda tensor: tensor.roll(1, 0), only=index)
            if (
                alone is not None
                and len(alone) == len(everything)
                and all(map(torch.equal, alone, everything))
            ):
                ignored.append(bench.names[index])
    values = {"change": change, "arguments": len(varying), "ignored": ignored, "input_shape": _shape(bench)}
    return Found(values, bench.call.site)


def _shape(bench: Bench) -> list[int]:
    return [bench.batch, *bench.batched[0].shape[1:]]
