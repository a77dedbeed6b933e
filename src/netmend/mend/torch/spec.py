"""What is to be mended and what must stay: failing inputs with wanted answers, guard inputs with the answers of today."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from netmend.errors import UsageError
from netmend.mend.torch.tasks import Task, Wrong, task_of
from netmend.mend.torch.undisturbed import undisturbed

_AT_ONCE = 512  # inputs in one forward pass


@dataclass(frozen=True, eq=False)
class Examples:
    """Inputs (the model's positional arguments, inputs first), what is wanted, and what the model answered at first."""

    inputs: tuple[Tensor, ...]
    wanted: Tensor
    reference: Tensor  # scores before mending

    def __len__(self) -> int:
        return len(self.wanted)

    def taken(self, places: Tensor) -> Examples:
        return Examples(
            tuple(one[places] for one in self.inputs), self.wanted[places], self.reference[places]
        )

    def parts(self, size: int = _AT_ONCE) -> Iterator[Examples]:
        for start in range(0, len(self), size):
            cut = slice(start, start + size)
            yield Examples(tuple(one[cut] for one in self.inputs), self.wanted[cut], self.reference[cut])

    def joined(self, other: Examples) -> Examples:
        pairs = zip(self.inputs, other.inputs, strict=True)
        return Examples(
            tuple(torch.cat(pair) for pair in pairs),
            torch.cat([self.wanted, other.wanted]),
            torch.cat([self.reference, other.reference]),
        )


@dataclass(frozen=True, eq=False)
class Spec:
    """What repair sees (failing, guard) and what only judges it (the hold-outs: early stopping, choice of the best)."""

    task: Task
    failing: Examples
    guard: Examples
    failing_holdout: Examples
    guard_holdout: Examples

    def drawn(self, random: torch.Generator, failing: int, guard: int) -> Spec:
        """A batch of each; hold-outs stay whole."""
        return replace(
            self, failing=_sample(self.failing, failing, random), guard=_sample(self.guard, guard, random)
        )

    @property
    def judged(self) -> bool:
        """Whether there are hold-outs to choose by."""
        return len(self.failing_holdout) > 0 and len(self.guard_holdout) > 0


Given = tuple[Any, Any]  # inputs (one array, or a tuple of them) and what is wanted


def spec_of(
    model: nn.Module,
    failing: Given,
    guard: Given | Any,
    failing_holdout: Given | None = None,
    guard_holdout: Given | Any | None = None,
    tolerance: float | None = None,
    wrong: Wrong | None = None,
) -> Spec:
    """Arrays or tensors as data of mending; the model answers all of them once. A guard without labels keeps its answers."""
    inputs, wanted = tensors(model, failing[0]), _wanted(model, failing[1])
    if not len(wanted):
        raise UsageError("there is no failing input; give at least one, with the answer that is wanted")
    with undisturbed(model), torch.no_grad():
        task = task_of(model(*(one[:64] for one in inputs)), wanted, tolerance, wrong)
    bad = examples(model, task, inputs, wanted)
    good = _guard(model, task, guard)
    if not len(good):
        raise UsageError(
            "there is no guard input; give inputs whose answers must stay, or nothing protects them"
        )
    none = torch.arange(0)
    return Spec(
        task,
        bad,
        good,
        bad.taken(none) if failing_holdout is None else _labelled(model, task, failing_holdout),
        good.taken(none) if guard_holdout is None else _guard(model, task, guard_holdout),
    )


def examples(model: nn.Module, task: Task, inputs: tuple[Tensor, ...], wanted: Tensor | None) -> Examples:
    """With today's answers; what is not said to be wanted is what the model answers."""
    count = len(inputs[0])
    if any(len(one) != count for one in inputs) or (wanted is not None and len(wanted) != count):
        lengths = [len(one) for one in inputs] + ([] if wanted is None else [len(wanted)])
        raise UsageError(f"inputs and wanted answers must be as many; there are {lengths}")
    with undisturbed(model), torch.no_grad():
        made = [
            task.scores(model(*(one[start : start + _AT_ONCE] for one in inputs)))
            for start in range(0, count, _AT_ONCE)
        ]
    reference = torch.cat(made) if made else torch.empty(0, 0, device=inputs[0].device)
    if wanted is None:
        wanted = task.answers(reference) if count else reference.reshape(0)
    elif not task.classes:
        wanted = wanted.to(reference.dtype).reshape(count, -1)
    return Examples(inputs, wanted, reference)


def tensors(model: nn.Module, given: Any) -> tuple[Tensor, ...]:
    """Inputs on the model's device; floats in the type of its weights."""
    held = given if isinstance(given, tuple | list) else (given,)
    if not held:
        raise UsageError("an empty tuple of inputs was given; give one array per argument of the model")
    kind = next((one for one in model.parameters() if one.is_floating_point()), None)
    if kind is None:
        raise UsageError(f"the {type(model).__name__} has no weights that could be mended")
    made = [torch.as_tensor(one, device=kind.device) for one in held]
    return tuple(one.to(kind.dtype) if one.is_floating_point() else one for one in made)


def scores_on(model: nn.Module, task: Task, data: Examples) -> Tensor:
    """The model's scores now."""
    made = [task.scores(model(*part.inputs)) for part in data.parts()]
    return torch.cat(made) if made else data.reference


def _wanted(model: nn.Module, given: Any) -> Tensor:
    device = next(model.parameters()).device
    wanted = torch.as_tensor(given, device=device)
    if wanted.dim() == 0:
        raise UsageError("what is wanted must be given for each input, not once")
    return wanted if wanted.is_floating_point() else wanted.long()


def _labelled(model: nn.Module, task: Task, given: Given) -> Examples:
    return examples(model, task, tensors(model, given[0]), _wanted(model, given[1]))


def _guard(model: nn.Module, task: Task, given: Given | Any) -> Examples:
    """(inputs, labels), (inputs, None), or inputs alone."""
    if isinstance(given, tuple) and len(given) == 2:
        if given[1] is not None:
            return _labelled(model, task, given)
        given = given[0]
    return examples(model, task, tensors(model, given), None)


def _sample(data: Examples, count: int, random: torch.Generator) -> Examples:
    if len(data) <= count:
        return data
    places = torch.randperm(len(data), generator=random)[:count]
    return data.taken(places.to(data.wanted.device))
