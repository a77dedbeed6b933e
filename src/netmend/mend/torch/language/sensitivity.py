"""How sensitive each block is to a loss, without holding all gradients at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from netmend.mend.torch.language.blocks import Block


@contextmanager
def only(model: Any, blocks: Sequence[Block]) -> Iterator[None]:
    """Inside, only these blocks learn; afterwards every parameter is as free or frozen as it was."""
    held = [(one, one.requires_grad) for one in model.parameters()]
    chosen = {id(one) for block in blocks for one in block.parameters.values()}
    for one, _ in held:
        if one.is_floating_point():
            one.requires_grad_(id(one) in chosen)
    try:
        yield
    finally:
        for one, before in held:
            one.requires_grad_(before)
            one.grad = None


def block_norms(model: Any, blocks: Sequence[Block], loss: Callable[[], Tensor]) -> list[float]:
    """The norm of the gradient of the loss, of each block.

    Each parameter's gradient is reduced to a number and freed as soon as it is there, so that the peak is one
    parameter's gradient and not the model's.
    """
    device = next(iter(blocks[0].parameters.values())).device
    squares = torch.zeros(len(blocks), device=device)
    handles = []

    def reduce(at: int) -> Callable[[Tensor], None]:
        def hook(parameter: Tensor) -> None:
            if parameter.grad is not None:
                squares[at] += (
                    torch.linalg.vector_norm(parameter.grad, dtype=torch.float32).square().to(device)
                )
                parameter.grad = None

        return hook

    with only(model, blocks):
        try:
            for at, block in enumerate(blocks):
                for parameter in block.parameters.values():
                    handles.append(parameter.register_post_accumulate_grad_hook(reduce(at)))
            loss().backward()
        finally:
            for handle in handles:
                handle.remove()
    norms: list[float] = squares.sqrt().tolist()
    return norms
