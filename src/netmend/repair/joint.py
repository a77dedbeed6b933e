"""Several knobs at once: what to combine next, asked of Optuna's sampler after what earlier combinations gave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netmend.vocabulary.change import BUDGET, Change

if TYPE_CHECKING:
    from netmend.repair.search import Attempt

_KNOBS = 4  # more cannot be searched with the few trainings that are left, …
_KNOBS_AT_MOST = 8  # … unless there are many
_TRAININGS_PER_KNOB = 5
_SHARE_OF_LONGER = 0.1  # of the trainings that are left: what one that trains longer may cost
_LEAVE = -1  # the choice of not turning a knob
_TRIES = 20  # until a combination comes that was not there before
_USELESS = -2.0  # what the sampler is told of one that cannot be made or does not end


class Joint:
    """Changes by knob; each combination takes one change, or none, of every knob."""

    def __init__(
        self, changes: Sequence[Change], attempts: Sequence[Attempt], trainings: float = 0.0, seed: int = 0
    ) -> None:
        self._options: dict[str, list[Change]] = {}
        best = {attempt.change.knob: attempt.gain for attempt in sorted(attempts, key=lambda a: a.gain)}
        for change in changes:
            affordable = change.effort < BUDGET or change.cost <= trainings * _SHARE_OF_LONGER
            if affordable and change.arguments is None:
                self._options.setdefault(change.knob, []).append(change)
        # What already helped a little comes first; what has not been tried is better than what made things worse.
        order = sorted(self._options, key=lambda knob: -best.get(knob, 0.0))
        most = max(_KNOBS, min(_KNOBS_AT_MOST, int(trainings / _TRAININGS_PER_KNOB)))
        self._options = {knob: self._options[knob] for knob in order[:most]}
        self._study: Any = _study(seed) if len(self._options) > 1 else None
        self._asked: dict[tuple[Change, ...], Any] = {}
        self._seen: set[tuple[Change, ...]] = set()

    @property
    def is_possible(self) -> bool:
        """Whether there is anything to combine, and anything that chooses (the extra `repair`)."""
        return self._study is not None

    def ask(self) -> tuple[Change, ...]:
        """A combination; empty when none was found that has at least two changes."""
        for _ in range(_TRIES):
            trial = self._study.ask()
            chosen = []
            for knob, options in self._options.items():
                index = trial.suggest_categorical(knob, [_LEAVE, *range(len(options))])
                if index != _LEAVE:
                    chosen.append(options[index])
            combination = tuple(chosen)
            if len(combination) > 1 and combination not in self._seen:
                self._seen.add(combination)
                self._asked[combination] = trial
                return combination
            self._study.tell(trial, _USELESS)
        return ()

    def tell(self, combination: tuple[Change, ...], gain: float) -> None:
        trial = self._asked.pop(combination)
        self._study.tell(trial, gain if math.isfinite(gain) else _USELESS)


def _study(seed: int) -> Any:
    try:
        import optuna
    except ImportError:
        return None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, n_startup_trials=4)
    return optuna.create_study(direction="maximize", sampler=sampler)
