"""Several knobs at once: what to combine next, asked of Optuna's sampler after what earlier combinations gave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from netmend.repair.apply import by_file
from netmend.vocabulary.change import BUDGET, SHORT_SEARCH, Change

if TYPE_CHECKING:
    from netmend.repair.search import Attempt

_KNOBS = 4  # more cannot be searched with the few trainings that are left
_LEAVE = -1  # the choice of not turning a knob


class Joint:
    """Changes by knob; each combination takes one change, or none, of every knob."""

    def __init__(self, changes: Sequence[Change], attempts: Sequence[Attempt], seed: int = 0) -> None:
        self._options: dict[str, list[Change]] = {}
        best = {attempt.change.knob: attempt.gain for attempt in sorted(attempts, key=lambda a: a.gain)}
        for change in changes:
            if change.effort < BUDGET and change.arguments is None:
                self._options.setdefault(change.knob, []).append(change)
        # What already helped a little comes first; what has not been tried is better than what made things worse.
        order = sorted(self._options, key=lambda knob: -best.get(knob, 0.0))
        self._options = {knob: self._options[knob] for knob in order[:_KNOBS]}
        self._study: Any = _study(seed) if len(self._options) > 1 else None
        self._asked: list[tuple[Change, Any]] = []

    @property
    def is_possible(self) -> bool:
        """Whether there is anything to combine, and anything that chooses (the extra `repair`)."""
        return self._study is not None

    def ask(self) -> Change:
        """A combination that has not been tried, as one change."""
        trial: Any = None
        for _ in range(20):
            trial = self._study.ask()
            chosen = []
            for knob, options in self._options.items():
                index = trial.suggest_categorical(knob, [_LEAVE, *range(len(options))])
                if index != _LEAVE:
                    chosen.append(options[index])
            combined = _combined(chosen) if len(chosen) > 1 else None
            if combined is not None:
                self._asked.append((combined, trial))
                return combined
            self._study.tell(trial, -1.0)
        empty = Change("", "", "")
        self._asked.append((empty, trial))
        return empty

    def tell(self, change: Change, gain: float) -> None:
        for asked, trial in self._asked:
            if asked is change:
                self._study.tell(trial, gain if math.isfinite(gain) else -2.0)
        self._asked = [(asked, trial) for asked, trial in self._asked if asked is not change]


def _combined(changes: Sequence[Change]) -> Change | None:
    """All of them as one change; None when their edits meet."""
    edits = tuple(edit for change in changes for edit in (change.forced or change.edits))
    for own in by_file(edits).values():
        places = sorted((e.line, e.column, e.end_line, e.end_column) for e in own)
        for one, other in pairwise(places):
            if one[2:] > other[:2]:
                return None
    first = changes[0]
    title = ", ".join(change.title for change in changes)
    return Change(
        first.repair, first.cause, title, edits, knob=" + ".join(c.knob for c in changes), effort=SHORT_SEARCH
    )


def _study(seed: int) -> Any:
    try:
        import optuna
    except ImportError:
        return None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(
        seed=seed, multivariate=True, n_startup_trials=4, warn_independent_sampling=False
    )
    return optuna.create_study(direction="maximize", sampler=sampler)
