"""RMSProp on one block at a time: what is not chosen is not moved, and its state can lie elsewhere meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from netmend.mend.torch.language.blocks import Block

DECAY, EPSILON = 0.99, 1e-8


class Descent:
    """The state of each parameter that was ever moved: mean square of its gradient and, for weights of less than
    32 bits, the exact value (small steps would be lost to rounding)."""

    def __init__(self, clip: float = 0.5, keep_on: str | None = None) -> None:
        self._clip, self._keep_on = clip, keep_on
        self._squares: dict[int, Tensor] = {}
        self._exact: dict[int, Tensor] = {}

    @torch.no_grad()
    def step(self, blocks: Sequence[Block], rate: float) -> None:
        """One step of the given blocks along their gradients, which are freed."""
        moved = [one for block in blocks for one in block.parameters.values() if one.grad is not None]
        gradients = [one.grad.float() for one in moved if one.grad is not None]
        if not moved:
            return
        length = torch.stack(
            [torch.linalg.vector_norm(one).to(gradients[0].device) for one in gradients]
        ).norm()
        factor = (self._clip / (length + 1e-6)).clamp(max=1.0)
        if not bool(
            torch.isfinite(length)
        ):  # a step along it would spoil the model; the loop sees that nothing improves
            for parameter in moved:
                parameter.grad = None
            return
        for parameter, gradient in zip(moved, gradients, strict=True):
            parameter.grad = None
            gradient = gradient * factor.to(gradient.device)
            square = self._state(self._squares, parameter, partial(torch.zeros_like, gradient))
            square.mul_(DECAY).addcmul_(gradient, gradient, value=1 - DECAY)
            if parameter.dtype is torch.float32:
                parameter.addcdiv_(gradient, square.sqrt().add_(EPSILON), value=-rate)
            else:
                exact = self._state(self._exact, parameter, parameter.float)
                exact.addcdiv_(gradient, square.sqrt().add_(EPSILON), value=-rate)
                parameter.copy_(exact)
                self._away(self._exact, parameter, exact)
            self._away(self._squares, parameter, square)

    def _state(self, kept: dict[int, Tensor], parameter: Tensor, first: Callable[[], Tensor]) -> Tensor:
        held = kept.get(id(parameter))
        if held is None:
            held = kept[id(parameter)] = first()
        return held.to(parameter.device)

    def _away(self, kept: dict[int, Tensor], parameter: Tensor, state: Tensor) -> None:
        kept[id(parameter)] = state.to(self._keep_on) if self._keep_on else state
