"""A user's arrays as tensors for one model, refused with plain words where they cannot be its inputs or answers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from netmend.errors import NetmendError, UsageError
from netmend.mend.torch.spec import Examples, examples, tensors
from netmend.mend.torch.tasks import NUMBERS, Task, Wrong, task_of
from netmend.mend.torch.undisturbed import mendable, undisturbed


@dataclass(frozen=True, eq=False)
class Given:
    """Inputs of one set, what is wanted of them (None: what the model answers), and a digest of each input."""

    what: str
    inputs: tuple[Tensor, ...]
    wanted: Tensor | None
    digests: tuple[bytes, ...]

    def __len__(self) -> int:
        return len(self.inputs[0])

    @property
    def shapes(self) -> str:
        return ", ".join(str(list(one.shape)) for one in self.inputs)


def refuse_unusable(model: Any) -> None:
    """Something else than a module, one without weights, and weights that are not finite."""
    if not isinstance(model, nn.Module):
        raise UsageError(
            f"a model to mend is a torch.nn.Module; a {type(model).__name__} was given. For files use: netmend mend FILE"
        )
    if not mendable(model):
        raise UsageError(f"the {type(model).__name__} has no weights that could be mended")
    for name, one in mendable(model).items():
        bad = int((~torch.isfinite(one)).sum())
        if bad:
            raise UsageError(
                f"{bad} of {one.numel()} weights of {name} are infinite or NaN; such a model was not trained "
                "soundly and cannot be mended: find out why with netmend run, and train it again"
            )


def given_of(model: nn.Module, what: str, data: Any, labelled: bool) -> Given:
    """`(inputs, wanted)`, or, where no labels are needed, inputs alone; inputs are an array or a tuple of arrays."""
    pair = isinstance(data, tuple) and len(data) == 2
    if labelled and (not pair or data[1] is None):
        raise UsageError(f"the {what} inputs must come with what is wanted, as (inputs, wanted)")
    held, wanted = data if pair else (data, None)
    try:
        inputs = tensors(model, held)
        labels = None if wanted is None else torch.as_tensor(wanted, device=inputs[0].device)
    except NetmendError:
        raise
    except (TypeError, ValueError, RuntimeError) as problem:
        raise UsageError(f"the {what} inputs cannot be made into tensors: {_first(problem)}") from None
    counts = {len(one) if one.dim() else -1 for one in (*inputs, *(() if labels is None else (labels,)))}
    if len(counts) != 1 or -1 in counts:
        shapes = [list(one.shape) for one in (*inputs, *(() if labels is None else (labels,)))]
        raise UsageError(
            f"the {what} set must hold one wanted answer per input; its arrays have the shapes "
            f"{', '.join(map(str, shapes))}"
        )
    for one in (*inputs, *(() if labels is None else (labels,))):
        if one.is_floating_point() and not bool(torch.isfinite(one).all()):
            raise UsageError(f"the {what} set holds values that are infinite or NaN; leave those inputs out")
    if labels is not None:
        labels = labels if labels.is_floating_point() else labels.long()
    return Given(what, inputs, labels, _digests(inputs))


def task_for(model: nn.Module, failing: Given, tolerance: float | None, wrong: Wrong | None) -> Task:
    """What outputs mean, told by those for the first failing inputs."""
    assert failing.wanted is not None
    outputs = _put(model, failing, slice(0, 64))
    return task_of(outputs, failing.wanted, tolerance, wrong)


def answered(model: nn.Module, task: Task, given: Given) -> Examples:
    """With what the model answers today."""
    if given.wanted is not None and len(given):
        _refuse_labels(task, given, _put(model, given, slice(0, 2)))
    try:
        found = examples(model, task, given.inputs, given.wanted)
    except NetmendError:
        raise
    except Exception as problem:  # noqa: BLE001 - the user's forward may raise anything
        raise _cannot(model, given, problem) from None
    bad = int((~torch.isfinite(found.reference).all(dim=1)).sum()) if len(found) else 0
    if bad:
        raise UsageError(
            f"the model's outputs are infinite or NaN for {bad} of {len(found)} {given.what} inputs; leave them out, "
            "or find out why first"
        )
    return found


def _put(model: nn.Module, given: Given, cut: slice) -> Any:
    try:
        with undisturbed(model), torch.no_grad():
            return model(*(one[cut] for one in given.inputs))
    except Exception as problem:  # noqa: BLE001 - the user's forward may raise anything
        raise _cannot(model, given, problem) from None


def _cannot(model: nn.Module, given: Given, problem: Exception) -> UsageError:
    return UsageError(
        f"the {type(model).__name__} cannot be given the {given.what} inputs, of shape {given.shapes}: "
        f"{type(problem).__name__}: {_first(problem)}"
    )


def _refuse_labels(task: Task, given: Given, outputs: Any) -> None:
    wanted, scores = given.wanted, task.scores(outputs)
    assert wanted is not None
    if task.form == NUMBERS:
        width = wanted.reshape(len(wanted), -1).shape[1]
        if not wanted.is_floating_point() or width != scores.shape[-1]:
            raise UsageError(
                f"the wanted outputs of the {given.what} inputs are {wanted.dtype} of shape {list(wanted.shape)}; the "
                f"model gives {scores.shape[-1]} floating-point numbers for each input"
            )
        return
    if wanted.is_floating_point() or wanted.dim() != 1:
        raise UsageError(
            f"the labels of the {given.what} inputs must be whole numbers, one per input; they are {wanted.dtype} of "
            f"shape {list(wanted.shape)}"
        )
    low, high = int(wanted.min()), int(wanted.max())
    if low < 0 or high >= scores.shape[-1]:
        raise UsageError(
            f"the labels of the {given.what} inputs run from {low} to {high}; the model knows 0 to {scores.shape[-1] - 1}"
        )


def _digests(inputs: tuple[Tensor, ...]) -> tuple[bytes, ...]:
    if not len(inputs[0]):
        return ()
    held = [one.detach().cpu().contiguous().reshape(len(one), -1).view(torch.uint8).numpy() for one in inputs]
    found = []
    for place in range(len(inputs[0])):
        digest = hashlib.blake2b(digest_size=16)
        for one in held:
            digest.update(one[place].tobytes())
        found.append(digest.digest())
    return tuple(found)


def _first(problem: Exception) -> str:
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0][:200]
