"""Calls: how a batch is given to a model, which part of it are labels, and what of the answer counts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from netmend.adapters.torch.watch.eligible import first_tensor
from netmend.errors import UsageError

LABELS = ("labels", "label", "targets", "target", "y")
_MODEL_OUTPUTS = ("logits", "prediction_logits", "output", "out")


class Call:
    """Gives batches to one model. `forward(model, batch)` of the user's replaces the guess at what its inputs are."""

    def __init__(self, model: nn.Module, forward: Callable[[Any, Any], Any] | None) -> None:
        self.model, self.forward = model, forward
        self._required, self._any_number, self._names, self._any_name = _signature(model)
        held = [*model.parameters(), *model.buffers()]
        self._device = held[0].device if held else torch.device("cpu")

    def __call__(self, batch: Any, name: str) -> tuple[Any, Tensor | None, int]:
        """The answer, the labels if there are any, and how many inputs the batch holds."""
        moved = _moved(batch, self._device)
        inputs, labels = self._split(moved)
        try:
            answer = self.forward(self.model, moved) if self.forward is not None else self._called(inputs)
        except Exception as problem:
            raise UsageError(
                f"the model cannot be called with a batch of {name}: {type(problem).__name__}: {problem}; "
                "say how with forward=lambda model, batch: …"
            ) from problem
        given = first_tensor(inputs)
        if labels is not None and labels.dim() > 0:
            return answer, labels, len(labels)
        if given is None or given.dim() == 0:
            raise UsageError(
                f"a batch of {name} holds no tensor; batches must be tensors, tuples or dictionaries of them"
            )
        return answer, None, len(given)

    def _called(self, inputs: Any) -> Any:
        if isinstance(inputs, dict):
            return self.model(**inputs)
        return self.model(*inputs)

    def _split(self, batch: Any) -> tuple[Any, Tensor | None]:
        """Arguments of the model, and labels."""
        if isinstance(batch, Mapping):
            label = next((_tensor(batch[key]) for key in LABELS if key in batch), None)
            rest = {str(key): value for key, value in batch.items() if key not in LABELS}
            named = {key: value for key, value in rest.items() if self._any_name or key in self._names}
            return (named or tuple(rest.values())[:1]), label
        if isinstance(batch, (tuple, list)):
            taken = max(1, len(batch) - 1 if self._any_number else self._required)
            return tuple(batch[:taken]), _tensor(batch[-1]) if len(batch) > taken else None
        return (batch,), None


def answer_rows(answer: Any, count: int) -> Tensor | None:
    """One row of numbers for each input; None where the answer has another shape."""
    if not isinstance(answer, (Tensor, tuple, list, dict)) or isinstance(answer, Mapping):
        named = (_item(answer, key) for key in _MODEL_OUTPUTS)
        answer = next((value for value in named if isinstance(value, Tensor)), answer)
    found = first_tensor(dict(answer) if isinstance(answer, Mapping) else answer)
    if found is None or found.is_complex() or found.dim() == 0 or len(found) != count:
        return None
    while found.dim() > 2 and found.shape[-1] == 1:
        found = found.squeeze(-1)
    if found.dim() > 2:
        return None
    return found.unsqueeze(1) if found.dim() == 1 else found


def _item(answer: Any, key: str) -> Any:
    return answer.get(key) if isinstance(answer, Mapping) else getattr(answer, key, None)


def _signature(model: nn.Module) -> tuple[int, bool, set[str], bool]:
    """Required positional arguments, whether any number is taken, all names, whether any name is taken."""
    try:
        parameters = inspect.signature(model.forward).parameters.values()
    except (TypeError, ValueError):
        return 1, False, set(), False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [one for one in parameters if one.kind in positional and one.default is inspect.Parameter.empty]
    kinds = {one.kind for one in parameters}
    names = {
        one.name
        for one in parameters
        if one.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    }
    any_number = inspect.Parameter.VAR_POSITIONAL in kinds and not needed
    return len(needed), any_number, names, inspect.Parameter.VAR_KEYWORD in kinds


def _tensor(value: Any) -> Tensor | None:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray) or (isinstance(value, (list, tuple)) and value):
        array = np.asarray(value) if not isinstance(value, np.ndarray) else value
        return torch.from_numpy(array) if array.dtype.kind in "biuf" else None
    return None


def _moved(batch: Any, device: torch.device) -> Any:
    if isinstance(batch, Tensor):
        return batch.to(device)
    if isinstance(batch, np.ndarray) and batch.dtype.kind in "biuf":
        tensor = torch.from_numpy(np.ascontiguousarray(batch))
        return (tensor.to(torch.get_default_dtype()) if batch.dtype == np.float64 else tensor).to(device)
    if isinstance(batch, Mapping):
        return {key: _moved(value, device) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_moved(value, device) for value in batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)(_moved(value, device) for value in batch)
    return batch.to(device) if hasattr(batch, "to") else batch
