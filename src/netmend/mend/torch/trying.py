"""One attempt of a search, judged on all parts of the data; a patch that breaks too much goes only a part of its way."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from netmend.mend.gate import Tally, within, worth
from netmend.mend.options import MendOptions
from netmend.mend.patch import Patch, State, patch_between
from netmend.mend.result import Tried
from netmend.mend.torch.case import Case
from netmend.mend.torch.methods import method
from netmend.mend.torch.running import Budget, mend, tally
from netmend.mend.torch.state_file import change_module, weights_of
from netmend.mend.torch.undisturbed import between, copied, put_back

PARTS = (0.85, 0.7, 0.55, 0.4, 0.25)  # of the way from the old to the new weights
_LOOKS = 20  # at the validation data, during one attempt
_NO_RATE = ("arachne", "arachne_pso", "care", "last_layer", "last_layer_exact")


def learns(name: str) -> bool:
    """Whether the method takes steps whose size a rate decides; others are tried once."""
    return method(name).name not in _NO_RATE


def budget_of(options: MendOptions, rate: float | None) -> Budget:
    """Batches as in the study of classifiers (docs/mend.md)."""
    kept = Budget(
        steps=options.steps, failing_batch=32, guard_batch=128, look_every=max(1, options.steps // _LOOKS)
    )
    return kept if rate is None else replace(kept, rate=rate)


def tried(
    case: Case, name: str, rate: float | None, options: MendOptions, said: Callable[[int], None] | None = None
) -> Tried:
    """The model is afterwards what it was, bit for bit."""
    told = None if said is None else lambda step, _: said(step)
    attempt = mend(case.model, case.spec, method(name), budget_of(options, rate), options.seed, told)
    patch, part, notes = attempt.patch, 1.0, attempt.notes
    validation = attempt.held_out
    too_much = validation.repaired > 0 and not within(validation, options.bound)
    if too_much and (found := held_back(case, patch, options.bound)):
        patch, part = found
        words = f"the whole way breaks {validation.broken} of {validation.guarded}; {part:.0%} of it is kept"
        notes = (*notes, words)
    seen, validation, unseen = measured(case, patch)
    facts = {
        "method": name,
        "seed": str(options.seed),
        "steps": str(attempt.steps),
        "part": f"{part:g}",
        "repaired_validation": f"{validation.repaired}/{validation.failing}",
        "broken_validation": f"{validation.broken}/{validation.guarded}",
        "repaired_unseen": f"{unseen.repaired}/{unseen.failing}",
        "broken_unseen": f"{unseen.broken}/{unseen.guarded}",
    }
    if rate is not None:
        facts["rate"] = f"{rate:g}"
    patch = Patch(patch.pieces, patch.model, facts)
    return Tried(name, rate, patch, seen, validation, unseen, attempt.seconds, attempt.steps, part, notes)


def measured(case: Case, patch: Patch) -> tuple[Tally, Tally, Tally]:
    """With the patch in: on what repair saw, what chooses, and what is unseen."""
    spec = case.spec
    sets = (
        (spec.failing, spec.guard),
        (spec.failing_holdout, spec.guard_holdout),
        (case.unseen_failing, case.unseen_guard),
    )
    change_module(case.model, patch, State.IN)
    try:
        first, second, third = (tally(case.model, spec.task, *pair) for pair in sets)
    finally:
        change_module(case.model, patch, State.OUT)
    return first, second, third


def held_back(case: Case, patch: Patch, bound: float) -> tuple[Patch, float] | None:
    """The best point on the way that keeps to the bound on validation data, if there is one."""
    model, spec = case.model, case.spec
    before = weights_of(model).copied()
    old = copied(model)
    change_module(model, patch, State.IN)
    new = copied(model)
    best: tuple[float, float, Patch] | None = None
    try:
        for part in PARTS:
            put_back(model, between(old, new, part))
            now = tally(model, spec.task, spec.failing_holdout, spec.guard_holdout)
            if within(now, bound) and (best is None or worth(now) > best[0]):
                best = worth(now), part, patch_between(before, weights_of(model))
    finally:
        weights_of(model).take(before)
    return None if best is None else (best[2], best[1])


@cache
def code_digest() -> str:
    """Of the code that makes attempts: an older version's attempts are not taken for this one's."""
    whole = hashlib.sha256()
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        if "language" not in file.parts:
            whole.update(file.read_bytes())
    return whole.hexdigest()
