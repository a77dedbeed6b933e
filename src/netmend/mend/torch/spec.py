"""What is to be mended and what must stay: failing inputs with wanted answers, guard inputs with the answers of today."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from netmend.adapters.torch.watch.eligible import first_tensor
from netmend.errors import UsageError
from netmend.mend.torch.undisturbed import undisturbed

LOGITS, PROBABILITIES, BINARY, NUMBERS = "logits", "probabilities", "binary", "numbers"
_SUM_ERROR = 1e-3  # rows of probabilities add up to one within this, also in half precision
Wrong = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Task:
    """One kind of outputs. Scores have the classes (or numbers) last; anything in front of them may be batched."""

    form: str
    tolerance: float = 0.0  # of numbers: farther than this is wrong
    own_wrong: Wrong | None = None  # (scores, wanted) → True where wrong

    @property
    def classes(self) -> bool:
        return self.form != NUMBERS

    def scores(self, outputs: Any) -> Tensor:
        """Outputs as class scores whose softmax is the answer, or as numbers, inputs × width."""
        found = first_tensor(outputs)
        if found is None:
            raise UsageError(f"the model returned {type(outputs).__name__}, in which there is no tensor")
        found = found.float() if found.dtype in (torch.float16, torch.bfloat16) else found
        if self.form == BINARY:
            found = found.reshape(found.shape[0], 1)
            return torch.cat([torch.zeros_like(found), found], dim=1)
        if self.form == PROBABILITIES:
            return found.clamp_min(1e-12).log()
        return found.reshape(found.shape[0], -1) if self.form == NUMBERS else found

    def losses(self, scores: Tensor, wanted: Tensor) -> Tensor:
        """One loss per input: cross-entropy, or squared distance."""
        if not self.classes:
            return (scores - wanted).square().mean(dim=-1)
        chosen = wanted.expand(scores.shape[:-1]).unsqueeze(-1)
        return -functional.log_softmax(scores, dim=-1).gather(-1, chosen).squeeze(-1)

    def drift(self, scores: Tensor, reference: Tensor) -> Tensor:
        """How far answers are from those of the reference: KL(reference ‖ now), which keeps all of the old behaviour."""
        if not self.classes:
            return (scores - reference).square().mean(dim=-1)
        old = functional.log_softmax(reference, dim=-1)
        return (old.exp() * (old - functional.log_softmax(scores, dim=-1))).sum(dim=-1)

    def wrong(self, scores: Tensor, wanted: Tensor) -> Tensor:
        if self.own_wrong is not None:
            return self.own_wrong(scores, wanted).bool()
        if self.classes:
            return scores.argmax(dim=-1) != wanted
        # Written so that NaN is wrong.
        return ~((scores - wanted).abs().amax(dim=-1) <= self.tolerance)

    def answers(self, scores: Tensor) -> Tensor:
        """What the model says: classes, or the numbers themselves."""
        return scores.argmax(dim=-1) if self.classes else scores


def task_of(outputs: Any, wanted: Tensor, tolerance: float | None = None, wrong: Wrong | None = None) -> Task:
    """Read off a first look at the outputs and at what is wanted: whole numbers are classes."""
    found = first_tensor(outputs)
    if found is None or not found.is_floating_point() or found.dim() == 0:
        raise UsageError(
            "mending needs a model whose output is a tensor of floating-point numbers, one row per input"
        )
    if wanted.is_floating_point():
        if tolerance is None and wrong is None:
            raise UsageError(
                "the wanted outputs are numbers: say how far an output may be from them (tolerance), or what is wrong (wrong)"
            )
        return Task(NUMBERS, tolerance or 0.0, wrong)
    if wanted.dim() != 1:
        raise UsageError(f"wanted classes must be one number per input; their shape is {list(wanted.shape)}")
    if found.dim() == 1 or (found.dim() == 2 and found.shape[1] == 1):
        _refuse_classes(wanted, 2)
        if bool(((found >= 0) & (found <= 1)).all()):
            raise UsageError(
                "the model seems to end in a sigmoid; give it without, so that it returns the score itself"
            )
        return Task(BINARY, own_wrong=wrong)
    if found.dim() != 2:
        raise UsageError(f"outputs must be inputs × classes; their shape is {list(found.shape)}")
    _refuse_classes(wanted, found.shape[1])
    rows = found.detach().double()
    sums_to_one = bool(((rows.sum(dim=1) - 1).abs() < _SUM_ERROR).all()) and bool((rows >= 0).all())
    return Task(PROBABILITIES if sums_to_one else LOGITS, own_wrong=wrong)


def _refuse_classes(wanted: Tensor, count: int) -> None:
    if wanted.numel() and not 0 <= int(wanted.min()) <= int(wanted.max()) < count:
        raise UsageError(
            f"wanted classes run from {int(wanted.min())} to {int(wanted.max())}; the model knows 0 to {count - 1}"
        )


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


def _sample(data: Examples, count: int, random: torch.Generator) -> Examples:
    if len(data) <= count:
        return data
    places = torch.randperm(len(data), generator=random)[:count]
    return data.taken(places.to(data.wanted.device))
