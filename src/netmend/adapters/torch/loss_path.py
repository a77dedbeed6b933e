"""What happens between a model's output and the objective: activations applied there, and shapes that broadcast."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from netmend.adapters.torch.eligible import plain
from netmend.adapters.torch.kinds import ACTIVATION_FUNCTIONS
from netmend.vocabulary import FunctionFact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netmend.adapters.torch.functions import TailCall


def path_facts(tail: list[TailCall]) -> Iterator[FunctionFact]:
    """Facts about the calls that made an objective from the model's output, in their order."""
    for order, call in enumerate(tail):
        if call.site is None or not call.tensors:
            continue
        activation = ACTIVATION_FUNCTIONS.get(call.function)
        if activation is not None:
            yield FunctionFact(
                f"{activation}@{call.site.short}",
                activation,
                "loss path",
                order=order,
                output_shape=tuple(call.tensors[0].shape),
                site=call.site,
            )
        elif len(call.tensors) == 2:
            grown = _grown(*call.tensors)
            if grown is not None:
                first, second = call.tensors
                yield FunctionFact(
                    f"{call.function.strip('_')}@{call.site.short}",
                    call.function.strip("_"),
                    "loss path",
                    settings={
                        "first": list(first.shape),
                        "second": list(second.shape),
                        "first_needs_gradient": first.requires_grad,
                        "second_needs_gradient": second.requires_grad,
                    },
                    order=order,
                    output_shape=grown,
                    site=call.site,
                )


def _grown(first: Tensor, second: Tensor) -> tuple[int, ...] | None:
    """The shape of what two tensors make together, if that is larger than each of them."""
    if first.shape == second.shape or not (plain(first) and plain(second)):
        return None
    try:
        together = torch.broadcast_shapes(first.shape, second.shape)
    except RuntimeError:
        return None  # no operation element by element
    return tuple(together) if math.prod(together) > max(first.numel(), second.numel()) else None
