"""A model and the data of a search, divided: what repair learns from, what chooses, and what nobody sees before the verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from netmend.errors import UsageError
from netmend.mend.options import Parts, parts_of
from netmend.mend.result import Counts
from netmend.mend.torch.given import Given, answered, given_of, refuse_unusable, task_for
from netmend.mend.torch.spec import Examples, Spec
from netmend.mend.torch.state_file import weights_of
from netmend.mend.torch.tasks import Task, Wrong
from netmend.mend.weights import plain_bytes

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
