"""Calls of a model as they were heard: which numbers belong to which sample, which parts of a batch were given; grouped into passages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

_SHORT = 64  # bytes that are their own key


def samples_of(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> int:
    """How many samples a call was about; 0 where that cannot be told."""
    lengths = {len(each) for each in inputs}
    answered = [len(each) for each in outputs if each.dim()]
    if len(lengths) == 1 and (not answered or lengths & set(answered)):
        return lengths.pop()
    return answered[0] if answered else 0


def is_packed(inputs: Sequence[Tensor], samples: int) -> bool:
    return any(len(each) != samples for each in inputs)


def sample_keys(inputs: Sequence[Tensor], samples: int) -> list[bytes]:
    """One key per sample, the same for the same numbers; of the whole batch where samples cannot be told apart in it."""
    plain = [each.detach().cpu() for each in inputs]
    plain = [each.float() if each.dtype == torch.bfloat16 else each for each in plain]
    if not is_packed(plain, samples):
        return _row_keys(plain[0])
    for offsets in plain:
        longer = [each for each in plain if len(each) > samples and each.dim() == 1]
        if longer and _are_offsets(offsets, samples, len(longer[0])):
            bounds = [*offsets.tolist(), len(longer[0])][: samples + 1]
            text = longer[0].numpy()
            return [_key(text[start:stop]) for start, stop in pairwise(bounds)]
    for each in plain:
        if len(each) == samples:
            return _row_keys(each)
    for each in plain:
        if each.dim() > 1 and each.shape[1] == samples:
            return _row_keys(each.transpose(0, 1))
    whole = b"".join(_key(each.contiguous().numpy()) for each in plain)
    return [_key(np.frombuffer(whole + number.to_bytes(4, "big"), np.uint8)) for number in range(samples)]


def _are_offsets(given: Tensor, samples: int, end: int) -> bool:
    """Where the samples of a row of numbers begin: 0 first, never falling; with or without its end."""
    if given.dim() != 1 or given.is_floating_point() or len(given) not in (samples, samples + 1):
        return False
    return int(given[0]) == 0 and bool((given.diff() >= 0).all()) and int(given[-1]) <= end


def _row_keys(inputs: Tensor) -> list[bytes]:
    return [_key(row) for row in inputs.contiguous().reshape(len(inputs), -1).numpy()]


def _key(numbers: np.ndarray) -> bytes:
    found = np.ascontiguousarray(numbers).tobytes()
    return found if len(found) <= _SHORT else hashlib.blake2b(found, digest_size=16).digest()


def as_tensors(arrays: Sequence[np.ndarray]) -> list[Tensor]:
    return [torch.from_numpy(np.ascontiguousarray(each)) for each in arrays]


_LABELS = ("labels", "label", "targets", "target", "y")  # keys of batches
Place = int | str


@dataclass
class Layout:
    inputs: tuple[Place, ...] = ()  # empty: not seen yet
    label: Place | None = None

    def learn_inputs(self, batch: Any, given: Sequence[Tensor]) -> None:
        if not self.inputs:
            places = [place for each in given if (place := place_in(batch, each)) is not None]
            self.inputs = tuple(places) if len(places) == len(given) else ()

    def learn_label(self, batch: Any, target: Tensor) -> None:
        if self.label is None:
            self.label = place_in(batch, target)

    def inputs_in(self, batch: Any) -> list[Tensor] | None:
        parts = dict(_parts(batch))
        found = [parts[place] for place in self.inputs if place in parts]
        return found if found and len(found) == len(self.inputs) else None

    def label_in(self, batch: Any, samples: int | None, given: Sequence[Tensor] = ()) -> Tensor | None:
        """As seen in training, else by its key, else the last part that is not given to the model; None when it has other rows than the
        samples (None: any)."""
        parts = dict(_parts(batch))
        if self.label in parts and _fits(parts[self.label], samples):
            return parts[self.label].detach()
        if isinstance(batch, dict):
            found = next((parts[key] for key in _LABELS if key in parts), None)
        elif len(parts) > 1:
            others = [part for part in parts.values() if not any(_is_same(part, each) for each in given)]
            found = (others or list(parts.values()))[-1]
        else:
            return None
        return found.detach() if found is not None and _fits(found, samples) else None


def place_in(batch: Any, tensor: Tensor) -> Place | None:
    """Where in a batch the numbers of a tensor stand, in whatever shape and type."""
    return next((place for place, part in _parts(batch) if _is_same(part, tensor)), None)


def _parts(batch: Any) -> Iterator[tuple[Place, Tensor]]:
    named = (
        batch.items()
        if isinstance(batch, dict)
        else enumerate(batch)
        if isinstance(batch, list | tuple)
        else ()
    )
    for place, part in named:
        if isinstance(part, Tensor):
            yield place, part


def _fits(part: Tensor, samples: int | None) -> bool:
    return part.dim() > 0 and (samples is None or len(part) == samples)


def _is_same(part: Tensor, tensor: Tensor) -> bool:
    if part.numel() != tensor.numel() or part.is_sparse or tensor.is_sparse:
        return False
    if part.data_ptr() == tensor.data_ptr():
        return True
    mine, its = part.detach().flatten(), tensor.detach().flatten().to(part.device)
    return torch.equal(mine.double(), its.double()) if not mine.is_complex() else torch.equal(mine, its)


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
