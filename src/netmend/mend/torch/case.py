"""A model and the data of a search, divided: what repair learns from, what chooses, and what nobody sees before the verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from netmend.errors import NetmendError, UsageError
from netmend.mend.options import Parts, parts_of
from netmend.mend.result import Counts
from netmend.mend.torch.spec import NUMBERS, Examples, Spec, Task, Wrong, examples, task_of, tensors
from netmend.mend.torch.state_file import weights_of
from netmend.mend.torch.undisturbed import mendable, undisturbed
from netmend.mend.weights import plain_bytes

# A user's arrays as tensors for one model, refused with plain words where they cannot be its inputs or answers.


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
    arrays = inputs if labels is None else (*inputs, labels)
    counts = {len(one) if one.dim() else -1 for one in arrays}
    if len(counts) != 1 or -1 in counts:
        shapes = [list(one.shape) for one in arrays]
        raise UsageError(
            f"the {what} set must hold one wanted answer per input; its arrays have the shapes "
            f"{', '.join(map(str, shapes))}"
        )
    for one in arrays:
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


_FAILING, _GUARD = 1, 2  # so that the two sets are divided by different draws


@dataclass(frozen=True, eq=False)
class Case:
    """All that attempts need. `digest` names model, behaviour and data by content."""

    model: nn.Module
    spec: Spec
    unseen_failing: Examples
    unseen_guard: Examples
    failing: Counts
    guard: Counts
    digest: str
    notes: tuple[str, ...]


def case_of(
    model: Any,
    failing: Any,
    guard: Any,
    validation: Any | None,
    seed: int,
    tolerance: float | None = None,
    wrong: Wrong | None = None,
) -> Case:
    """Everything is looked at before anything is tried."""
    refuse_unusable(model)
    notes: list[str] = []
    bad_given = given_of(model, "failing", failing, labelled=True)
    if not len(bad_given):
        raise UsageError("there is no failing input; give at least one, with the answer that is wanted")
    task = task_for(model, bad_given, tolerance, wrong)
    good_given = given_of(model, "guard", guard, labelled=False)
    other = None if validation is None else given_of(model, "validation", validation, labelled=True)
    taken = frozenset(() if other is None else other.digests)
    bad, bad_digests = _kept(model, task, bad_given, taken, True, notes)
    good, good_digests = _kept(model, task, good_given, taken, False, notes)
    key = (seed, _FAILING), (seed, _GUARD)
    bad_parts = parts_of(bad_digests, key[0], other is not None)
    good_parts = parts_of(good_digests, key[1], other is not None)
    if other is None:
        choosing = _taken(bad, bad_parts.validation), _taken(good, good_parts.validation)
    else:
        choosing = _halves(model, task, other)
    spec = Spec(task, _taken(bad, bad_parts.repair), _taken(good, good_parts.repair), *choosing)
    return Case(
        model,
        spec,
        _taken(bad, bad_parts.unseen),
        _taken(good, good_parts.unseen),
        _counts(len(bad_given), bad_parts, len(choosing[0])),
        _counts(len(good_given), good_parts, len(choosing[1])),
        _digest(model, (bad, good, *choosing), bad_digests + good_digests + tuple(sorted(taken))),
        tuple(notes),
    )


def _kept(
    model: nn.Module, task: Task, given: Given, taken: frozenset[bytes], wrong: bool, notes: list[str]
) -> tuple[Examples, tuple[bytes, ...]]:
    """Of the failing inputs those that fail, of the guard those that are right: nothing else can be repaired or broken."""
    if not len(given):
        raise UsageError(
            "there is no guard input; give inputs whose answers must stay, or nothing protects them"
        )
    found = answered(model, task, given)
    fits = task.wrong(found.reference, found.wanted) == wrong
    fresh = torch.tensor([one not in taken for one in given.digests], device=fits.device)
    if not bool(fits.any()):
        raise UsageError(
            f"the model answers all {len(given)} failing inputs as wanted, so there is nothing to mend; "
            "is this the model that failed, and are inputs prepared as it expects them?"
            if wrong
            else f"the model answers all {len(given)} guard inputs wrongly, so there is nothing to keep; "
            "are labels and inputs those that it was trained for?"
        )
    if not bool((fits & fresh).any()):
        raise UsageError(
            f"all {given.what} inputs are among the validation inputs, too; give others to repair with"
        )
    away = int((~fits).sum())
    if away:
        notes.append(
            f"{away} of {len(given)} failing inputs are answered as wanted already, and were left out"
            if wrong
            else f"{away} of {len(given)} guard inputs are answered wrongly today, and were left out: nothing to keep"
        )
    if twice := int((fits & ~fresh).sum()):
        notes.append(f"{twice} {given.what} inputs are among the validation inputs, and only choose")
    places = (fits & fresh).nonzero()[:, 0]
    return found.taken(places), tuple(given.digests[int(place)] for place in places)


def _halves(model: nn.Module, task: Task, given: Given) -> tuple[Examples, Examples]:
    """The user's validation data: what fails, and what is right."""
    if not len(given):
        raise UsageError("there is no validation input; give some, or leave validation data out")
    found = answered(model, task, given)
    wrong = task.wrong(found.reference, found.wanted)
    for word, some in (("fails", wrong), ("is correct", ~wrong)):
        if not bool(some.any()):
            raise UsageError(
                f"none of {len(given)} validation inputs {word}; give some of both kinds, or leave validation data out: "
                "a part of the failing and guard inputs then chooses"
            )
    return found.taken(wrong.nonzero()[:, 0]), found.taken((~wrong).nonzero()[:, 0])


def _taken(among: Examples, places: np.ndarray[Any, Any]) -> Examples:
    return among.taken(torch.from_numpy(places).to(among.wanted.device))


def _counts(given: int, parts: Parts, choosing: int) -> Counts:
    shared = parts.shared and len(parts.validation) > 0
    return Counts(given, len(parts.repair), choosing, len(parts.unseen), shared)


def _digest(model: nn.Module, sets: Sequence[Examples], digests: Sequence[bytes]) -> str:
    whole = hashlib.sha256(
        f"{type(model).__module__}.{type(model).__qualname__} {torch.__version__}".encode()
    )
    weights = weights_of(model)
    for name, layout in weights.layout.items():
        whole.update(f"\0{name}\0{layout}\0".encode("utf-8", "surrogatepass"))
        whole.update(plain_bytes(weights.bits(name)))
    for one in digests:
        whole.update(one)
    for held in sets:  # answers, too: the same weights may be used by another forward
        for tensor in (held.wanted, held.reference):
            whole.update(f"\0{tensor.dtype}{list(tensor.shape)}\0".encode())
            whole.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return whole.hexdigest()
