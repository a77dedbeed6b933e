"""WeightMutant: one way to damage a trained model; and how everything is put back bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from netmend.errors import UsageError
from netmend.unit import Family, record


class WeightMutant:
    """Base of all mutants of weights. The docstring is the page: first line what it does to the model; then why a test should notice."""

    code: str
    published: tuple[str, ...]  # what DeepMutation, MuNN or other studies call it

    def __init_subclass__(cls, code: str = "", **facts: Any) -> None:
        """`class NormRemoved(WeightMutant, code="W203", published=("LR",))` is a unit; a class without a code is a base of others."""
        for name, value in facts.items():
            setattr(cls, name, value)
        if code:
            cls.code = code
            MUTANTS.register(record(cls))

    def places(self, model: nn.Module) -> list[str]:
        """The layers or parameters that it can be applied to, in the order in which the model holds them."""
        raise NotImplementedError

    def apply(
        self, model: nn.Module, place: str, share: float, generator: torch.Generator
    ) -> AbstractContextManager[None]:
        """Within the block a share of the place's weights or neurons is changed; afterwards all is as it was."""
        raise NotImplementedError


MUTANTS: Family[WeightMutant] = Family("netmend.adapters.torch.weight_mutants.operators")


@contextmanager
def put_back(*tensors: Tensor | None) -> Iterator[None]:
    """Tensors may be written to within the block, whatever is raised in it."""
    known = [tensor for tensor in tensors if tensor is not None]
    saved = [tensor.detach().clone() for tensor in known]
    try:
        yield
    finally:
        with torch.no_grad():
            for tensor, old in zip(known, saved, strict=True):
                tensor.copy_(old)


@contextmanager
def answering(module: nn.Module, answer: Callable[[Tensor, Tensor], Tensor]) -> Iterator[None]:
    """Within the block a layer gives `answer(what it was given, what it would have given)`."""

    def hook(_: nn.Module, given: tuple[Any, ...], output: Any) -> Any:
        return answer(given[0], output) if given and isinstance(output, Tensor) else output

    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def chosen(total: int, share: float, generator: torch.Generator) -> Tensor:
    """Which of some weights or neurons are meant, at least one; with the same seed a smaller share is a part of a larger."""
    if not 0 < share <= 1:
        raise UsageError(f"the share of a layer must lie above 0 and be at most 1, got {share!r}.")
    return torch.randperm(total, generator=generator)[: max(1, round(total * share))]


def check_place(place: str, known: list[str]) -> None:
    if place not in known:
        shown = ", ".join(known[:10]) or "none in this model"
        raise UsageError(f"{place!r} is no place of this operator. Known places: {shown}.")
