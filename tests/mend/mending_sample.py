"""Arrays as data of mending, without the division and the checks that a whole search makes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from netmend.mend.torch.spec import Examples, Spec, examples, task_of, tensors
from netmend.mend.torch.undisturbed import undisturbed

Given = tuple[Any, Any]  # inputs (one array, or a tuple of them) and what is wanted


def spec_of(
    model: nn.Module,
    failing: Given,
    guard: Given | Tensor,
    failing_holdout: Given | None = None,
    guard_holdout: Given | None = None,
    tolerance: float | None = None,
) -> Spec:
    """The model answers all of them once; a guard without labels keeps its answers."""
    with undisturbed(model), torch.no_grad():
        first = [one[:64] for one in tensors(model, failing[0])]
        task = task_of(model(*first), torch.as_tensor(failing[1]), tolerance)

    def data(given: Given | Tensor) -> Examples:
        inputs, wanted = given if isinstance(given, tuple) else (given, None)
        return examples(model, task, tensors(model, inputs), wanted)

    bad, good = data(failing), data(guard)
    none = torch.arange(0)
    return Spec(
        task,
        bad,
        good,
        bad.taken(none) if failing_holdout is None else data(failing_holdout),
        good.taken(none) if guard_holdout is None else data(guard_holdout),
    )
