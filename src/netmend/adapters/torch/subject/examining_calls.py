"""Calls of a model as they were heard: inputs, outputs, labels; grouped into passages of training and evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from netmend.adapters.torch.subject.examining_samples import is_packed

MOST_TEST = 20_000  # of a test set
_MOST_BYTES = 400_000_000  # of one set
_SAME = 1e-5


@dataclass
class Heard:
    """One call of the model: its inputs, and what they should have led to."""

    model: nn.Module
    inputs: tuple[Tensor, ...]
    names: tuple[str, ...]  # of inputs that were given by name; "" for the others
    size: int  # samples
    output: tuple[Tensor, ...]
    label: Tensor | None
    place: tuple[int, int]  # the code that called it, and the loader that was iterated
    criterion: str = ""
    relation: str = ""  # of what the loss was given to the output: "same", "sigmoid", "other"
    which: int = 0  # of the outputs

    @property
    def packed(self) -> bool:
        return is_packed(self.inputs, self.size)


@dataclass
class Passage:
    """Calls of one evaluation, or the first ones of training."""

    calls: list[Heard] = field(default_factory=list)
    inputs: int = 0
    bytes: int = 0
    order: int = 0
    whole: bool = True

    def add(self, heard: Heard, most: int) -> None:
        room = most - self.inputs
        size = sum(tensor.numel() * tensor.element_size() for tensor in heard.inputs)
        if room < heard.size or self.bytes + size > _MOST_BYTES:
            self.whole = False
            return
        self.calls.append(heard)
        self.inputs += heard.size
        self.bytes += size


def inputs_of(args: Any, kwargs: Any) -> tuple[tuple[Tensor, ...], tuple[str, ...]]:
    """Tensors and their names; none where the model is given something else as well that may matter."""
    found: list[Tensor] = []
    names: list[str] = []
    for name, value in [*(("", value) for value in args), *kwargs.items()]:
        if isinstance(value, Tensor) and value.dim():
            found.append(value)
            names.append(name)
        elif isinstance(value, Tensor) or (
            value is not None and not isinstance(value, bool | int | float | str)
        ):
            return (), ()
    return (tuple(found), tuple(names)) if all(map(len, found)) else ((), ())


def relation_of(output: Tensor, prediction: Tensor) -> str:
    """How what a loss compares was made of the model's output."""
    if output.data_ptr() == prediction.data_ptr():
        return "same"
    given, made = output.flatten().float()[:512], prediction.flatten().float()[:512]
    for name, function in (("same", None), ("sigmoid", torch.sigmoid)):
        if torch.allclose(given if function is None else function(given), made, atol=_SAME):
            return name
    return "other"
