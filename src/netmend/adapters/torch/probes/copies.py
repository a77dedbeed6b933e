"""Experiments with copies of the model that are trained on one batch; the program's own model and optimiser stay as they are."""

from __future__ import annotations

import copy
import inspect
import math
from collections import OrderedDict
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils._pytree import tree_unflatten

from netmend.adapters.torch.probes.bench import Bench, Found
from netmend.adapters.torch.watch.eligible import tensors_in
from netmend.adapters.torch.watch.loss_calls import LossCall
from netmend.adapters.torch.watch.optimizers import parameters_of
from netmend.adapters.torch.watch.scores import show_targets
from netmend.observe.targets import Targets

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession


# Methods that schedulers hang onto an optimiser lead back to the program's own one.
_NOT_COPIED = ("step", "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")


class Workshop:
    """A copy of the model and of its optimiser, to train on one batch."""

    def __init__(self, bench: Bench, optimizer: Optimizer, loss: LossCall) -> None:
        self.bench, self.loss = bench, loss
        self._optimizer = optimizer
        self.constant = _constant_loss(bench.session, loss)

    @staticmethod
    def of(bench: Bench) -> Workshop | None:
        """None unless one optimiser holds the model and its loss can be computed again."""
        session = bench.session
        loss = session.losses.repeatable()
        own = {id(p) for p in bench.module.parameters()}
        holding = [
            optimizer
            for optimizer, _ in session.optimizers.known.items()
            if any(id(p) in own for p in parameters_of(optimizer))
        ]
        return Workshop(bench, holding[0], loss) if loss is not None and len(holding) == 1 else None

    def train(
        self,
        steps: int,
        seconds: float,
        *,
        factor: float = 1.0,
        change: Callable[[Tensor, int], Tensor] | None = None,
        until: float = -math.inf,
        same_dice: bool = False,
    ) -> list[float]:
        """Losses of a copy that is trained on the batch, the last one after the last step.

        `change` alters inputs, given the step; with `same_dice` all steps drop the same units.
        """
        model, optimizer = _copies(self.bench.module, self._optimizer)
        for group in optimizer.param_groups:
            group["lr"] = group["lr"] * factor
        started, losses = perf_counter(), []
        for step in range(steps + 1):
            if same_dice:
                self.bench.call.random.restore()
            loss = self._loss(model, step, change)
            losses.append(float(loss.detach()))
            over = step == steps or perf_counter() - started > seconds
            if over or not math.isfinite(losses[-1]) or losses[-1] < until:
                break
            model.zero_grad(set_to_none=True)
            loss.backward()
            self._step(optimizer, model, step, change)
        return losses

    def _loss(self, model: nn.Module, step: int, change: Callable[[Tensor, int], Tensor] | None) -> Tensor:
        leaves = [
            change(leaf.detach().clone(), step)
            if change is not None and self.bench.is_batched(leaf)
            else leaf.detach().clone()
            if isinstance(leaf, Tensor)
            else leaf
            for leaf in self.bench.leaves
        ]
        args, kwargs = tree_unflatten(leaves, self.bench.structure)
        outputs = list(tensors_in(model.forward(*args, **kwargs)))
        loss = self.loss.of_outputs(outputs)
        assert loss is not None
        return loss if loss.dim() == 0 else loss.mean()

    def _step(self, optimizer: Optimizer, model: nn.Module, step: int, change: Any) -> None:
        if "closure" not in inspect.signature(type(optimizer).step).parameters:
            type(optimizer).step(optimizer)
            return

        def closure() -> Tensor:
            model.zero_grad(set_to_none=True)
            with torch.enable_grad():
                loss = self._loss(model, step, change)
                loss.backward()
            return loss

        needed = (
            inspect.signature(type(optimizer).step).parameters["closure"].default is inspect.Parameter.empty
        )
        type(optimizer).step(optimizer, closure if needed else None)  # type: ignore[arg-type]


def _copies(module: nn.Module, optimizer: Optimizer) -> tuple[nn.Module, Optimizer]:
    memo: dict[int, Any] = {}
    model = copy.deepcopy(module, memo)
    for child in model.modules():  # the user's, who expects to hear of the real model only
        child._backward_hooks.clear()
        child._backward_pre_hooks.clear()
    again = object.__new__(type(optimizer))
    state = {key: value for key, value in vars(optimizer).items() if key not in _NOT_COPIED}
    vars(again).update(copy.deepcopy(state, memo))
    vars(again).update(_optimizer_step_pre_hooks=OrderedDict(), _optimizer_step_post_hooks=OrderedDict())
    return model, again


def _constant_loss(session: TorchSession, loss: LossCall) -> float | None:
    """Loss of the best constant prediction on this very batch."""
    fact = session.losses.facts.get(loss.name)
    if fact is None or loss.prediction is None or loss.target is None:
        return None
    targets = Targets()
    show_targets(targets, fact, loss.prediction, loss.target)
    return targets.constant_loss(fact.criterion, fact.settings)


_OVERFIT_STEPS, _OVERFIT_SECONDS = 200, 3.0
_GOOD = 0.02  # of the first loss: no need to go on


def batch_overfit(workshop: Workshop) -> Found | None:
    """A copy of the model, trained on one batch by its own optimiser: can it learn that batch by heart?"""
    first = workshop.train(0, _OVERFIT_SECONDS)[0]
    losses = workshop.train(
        _OVERFIT_STEPS, _OVERFIT_SECONDS, until=_GOOD * first if first > 0 else float("-inf")
    )
    constant = workshop.constant
    values: dict[str, Any] = {
        "first": first,
        "best": min(losses),
        "last": losses[-1],
        "steps": len(losses) - 1,
        "constant": constant,
        "s": min(losses) / constant if constant else None,
    }
    return Found(values, workshop.bench.call.site)


_DEALT_STEPS, _DEALT_SECONDS = 100, 1.0
_LAST = 10  # losses at the end that are averaged: each deals anew


def input_ignored(workshop: Workshop) -> Found | None:
    """A copy trained on one batch whose inputs are dealt to other samples at every step: nothing but the inputs' use is missing."""
    rows = workshop.bench.rows
    if rows < 4:
        return None

    def dealt(tensor: Tensor, step: int) -> Tensor:
        order = torch.randperm(rows, generator=torch.Generator().manual_seed(step))
        return tensor[order.to(tensor.device)]

    real, shuffled = (
        workshop.train(_DEALT_STEPS, _DEALT_SECONDS),
        workshop.train(_DEALT_STEPS, _DEALT_SECONDS, change=dealt),
    )
    constant = workshop.constant
    values: dict[str, Any] = {"real": _end(real), "shuffled": _end(shuffled), "steps": len(real) - 1}
    if constant:
        values |= {"s": values["real"] / constant, "s_shuffled": values["shuffled"] / constant}
    return Found(values, workshop.bench.call.site)


def _end(losses: list[float]) -> float:
    last = losses[-_LAST:]
    return sum(last) / len(last)


FACTORS = (0.01, 0.1, 1.0, 10.0, 100.0)
_RATE_STEPS, _RATE_SECONDS = 10, 0.5


def rate_probe(workshop: Workshop) -> Found | None:
    """Copies trained for a few steps on one batch, at other learning rates than the program's: does another do far better?"""
    first = workshop.train(0, _RATE_SECONDS, same_dice=True)[0]
    values: dict[str, Any] = {"first": first, "steps": _RATE_STEPS}
    for factor in FACTORS:
        losses = workshop.train(_RATE_STEPS, _RATE_SECONDS, factor=factor, same_dice=True)
        values[f"x{factor:g}"] = losses[-1] / first if first else None
    return Found(values, workshop.bench.call.site)
