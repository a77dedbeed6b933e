"""Updates by hand: programs that change their parameters themselves, without an optimiser."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from torch import Tensor

from netmend.adapters.torch.guard import guarded
from netmend.adapters.torch.watch.leaves import leaves_of
from netmend.observe.naming import name_of
from netmend.observe.schedule import FULL
from netmend.vocabulary import ModelFact, ParameterFact

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession


class ByHand:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._leaves: list[tuple[str, Tensor]] = []  # trained tensors of a program without modules
        self._state: tuple[Any, ...] = ()

    def after_backward(self) -> None:
        if self.session.steps.by_hand and self.session.alive:
            self._gradients_by_hand()

    @guarded("hand-written updates")
    def _gradients_by_hand(self) -> None:
        named = self.parameters()
        self._state = _state(named)
        if self.session.recorder.level == FULL:
            with_grad = [(name, p) for name, p in named if p.grad is not None]
            self.session.optimizers.measure_gradients(with_grad)
            self.session.optimizers.remember(named)

    def parameters(self) -> list[tuple[str, Tensor]]:
        named: list[tuple[str, Tensor]] = list(self.session.models.parameters())
        return named or self._leaves

    def find_leaves(self, objective: Tensor) -> None:
        """A program without modules: the leaves of the objective's graph are what it trains."""
        session = self.session
        self._leaves = []
        for position, leaf in enumerate(leaves_of(objective)):
            name = session.names.get(leaf)
            if name is None:
                name = name_of(leaf, sys._getframe(1), session.sites) or f"tensor[{position}]"
                session.names.put(leaf, name)
                fact = ParameterFact(
                    name, "", tuple(leaf.shape), str(leaf.dtype).removeprefix("torch."), str(leaf.device)
                )
                session.recorder.fact(fact)
            self._leaves.append((name, leaf))
        size = sum(leaf.numel() for _, leaf in self._leaves)
        session.recorder.fact(ModelFact("tensors", "plain tensors", parameters=size, trainable=size))

    def changed(self) -> bool:
        named = self.parameters()
        changed = bool(named) and _state(named) != self._state  # at the end the model may be gone
        if self.session.recorder.level == FULL:
            self.session.optimizers.measure_weights(named)
        return changed

    def forget_leaves(self) -> None:
        self._leaves = []


def _state(named: list[tuple[str, Tensor]]) -> tuple[Any, ...]:
    """Differs when a parameter was changed, in place, through .data, or by replacing it."""
    few = named[:8]
    sums = [float(p.detach().sum()) for _, p in few if p.device.type == "cpu" and p.numel() <= 65_536]
    return (tuple(p._version for _, p in few), tuple(id(p) for _, p in few), tuple(sums))
