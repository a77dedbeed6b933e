"""The same batch in train and in eval mode: how far apart are the outputs, and the losses?"""

from __future__ import annotations

from typing import Any

import torch

from netmend.adapters.torch.probes.bench import Bench, Found

WHAT = "mode gap"


def examine(bench: Bench) -> Found | None:
    if not any(bench.modes.values()):
        return None
    training, evaluation = bench.run(training=True), bench.run()
    first, second = _first(training), _first(evaluation)
    if first is None or second is None or first.shape != second.shape:
        return None
    scale = float(second.std()) if second.numel() > 1 else 0.0
    difference = float((first - second).square().mean().sqrt())
    values: dict[str, Any] = {"output": difference / scale if scale else 0.0, "batch": bench.batch}
    loss = bench.session.losses.repeatable()
    if loss is not None:
        values["loss_training"] = loss.again(training or ())
        values["loss_evaluation"] = loss.again(evaluation or ())
    return Found(values, bench.call.site)


def _first(outputs: list[torch.Tensor] | None) -> torch.Tensor | None:
    first = next((t for t in outputs or () if t.is_floating_point() and t.numel()), None)
    return first.float() if first is not None and bool(torch.isfinite(first).all()) else None
