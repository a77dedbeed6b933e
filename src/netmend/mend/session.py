"""A search for a patch: the baseline and several methods are tried, validation data chooses, unseen data judges."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from netmend.errors import NetmendError, UsageError, needing_torch
from netmend.mend.gate import verdict_on, within, worth
from netmend.mend.kept import Kept, attempts_folder, key_of
from netmend.mend.options import MendOptions
from netmend.mend.result import Mended, Tried

if TYPE_CHECKING:
    from netmend.mend.torch.case import Case


@dataclass(frozen=True)
class Stage:
    """How far a search is: attempts that ended, those known from before, and the steps of the one that runs."""

    method: str
    ended: int
    of: int
    known: int
    step: int
    steps: int


Told = Callable[[Stage], None]


def mend(
    model: Any,
    failing: Any = None,
    guard: Any = None,
    validation: Any = None,
    options: MendOptions | None = None,
    told: Told = lambda stage: None,
    wrong: Any = None,
) -> Mended:
    """Find a patch for a PyTorch module, which is left bit for bit as it was.

    `failing` and `validation` are (inputs, wanted), `guard` is inputs or (inputs, labels).
    """
    options = options or MendOptions()
    if failing is None or guard is None:
        raise UsageError(
            "a repair needs failing=(inputs, wanted) and guard=inputs: what must change, and what must not"
        )
    with needing_torch("mending needs PyTorch, which is not installed"):
        from netmend.mend.torch.case import case_of
        from netmend.mend.torch.methods import AUTO, BASELINE, method
    # The baseline is always measured: a method that does not beat it is not worth its trouble.
    names = tuple(dict.fromkeys((BASELINE, *(options.methods or AUTO))))
    for name in names:
        method(name)
    started = time.monotonic()
    case = case_of(model, failing, guard, validation, options.seed, options.tolerance, wrong)
    # What a function of the user's calls wrong has no content that could name an attempt.
    kept = Kept(None if wrong is not None else attempts_folder(options.directory))
    tried, left_out = _attempts(case, names, options, kept, told)
    if not tried:
        raise UsageError(f"no method could be tried; {left_out[0][0]}: {left_out[0][1]}")
    plain = next((at for at, one in enumerate(tried) if one.method == BASELINE), None)
    return Mended(
        type(model).__name__,
        BASELINE,
        tried,
        verdict_on(tried, options.bound, plain),
        case.failing,
        case.guard,
        options,
        left_out,
        case.notes,
        time.monotonic() - started,
    )


def _attempts(
    case: Case, names: Sequence[str], options: MendOptions, kept: Kept, told: Told
) -> tuple[tuple[Tried, ...], tuple[tuple[str, str], ...]]:
    """Each method at its best rate."""
    from netmend.mend.torch.trying import learns

    plan = [(name, rate) for name in names for rate in (options.rates if learns(name) else (None,))]
    found: dict[str, list[Tried]] = {}
    left_out: dict[str, str] = {}
    known = 0
    for ended, (name, rate) in enumerate(plan):
        if name in left_out:
            continue

        def said(step: int, name: str = name, ended: int = ended, known: int = known) -> None:
            told(Stage(name, ended, len(plan), known, step, options.steps))

        said(0)
        try:
            one = _attempt(case, name, rate, options, kept, said)
        except NetmendError as problem:
            if name in options.methods and len(names) == 2:
                raise  # it was the only one that was asked for
            left_out[name] = str(problem)
        except Exception as problem:  # noqa: BLE001 - the user's forward may not bear what a method does with it
            first = (str(problem).strip().splitlines() or [""])[0][:200]
            left_out[name] = f"{type(problem).__name__}: {first}"
        else:
            known += one.known
            found.setdefault(name, []).append(one)
    told(Stage("", len(plan), len(plan), known, 0, options.steps))
    best = tuple(max(ones, key=lambda one: _rank(one, options.bound)) for ones in found.values())
    return best, tuple(left_out.items())


def _attempt(
    case: Case, name: str, rate: float | None, options: MendOptions, kept: Kept, said: Callable[[int], None]
) -> Tried:
    from netmend.mend.torch.trying import budget_of, code_digest, tried

    budget = asdict(budget_of(options, rate))
    key = key_of(case.digest, code_digest(), name, budget, options.seed, options.bound, options.tolerance)
    one = kept.get(key)
    if one is None:
        one = tried(case, name, rate, options, said)
        kept.put(key, one)
    return replace(one, rate=rate)


def _rank(one: Tried, bound: float) -> tuple[bool, float]:
    return within(one.validation, bound), worth(one.validation)
