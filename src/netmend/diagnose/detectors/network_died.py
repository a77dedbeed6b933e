"""D130 NetworkDied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.chain import RECTIFIERS, activations
from netmend.diagnose.measures.examples import flat
from netmend.diagnose.measures.motion import weights
from netmend.diagnose.measures.net_examples import net_run
from netmend.diagnose.measures.objective import objective
from netmend.diagnose.measures.words import plural
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
@dataclass(frozen=True)
class NetworkDied:
    """The gradients of most weights are exactly zero, and the task is not learned.

    Nothing that passes no gradient at all comes back: the remaining layers can at best learn the constant prediction. Usual causes: one step that
    was far too large (the loss explodes, then every rectifier is silent), inputs of hundreds, weights or biases that start far off.
    """

    code: ClassVar[str] = "D130"

    share: float = threshold(0.5, "convention", "of the weights; a frozen branch or one dead layer is less")
    least_looks: int = threshold(3, "convention", "looks in a row at the end, all of them exactly zero")
    least_relative: float = threshold(
        0.5, "convention", "a loss below that is met, and no gradient is what should be left"
    )
    jump: float = threshold(3.0, "convention", "times the first loss: an explosion that is worth telling")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        held = [fact for fact in weights(trace) if len(trace.table("gradient", fact.name))]
        gone = {fact.name: step for fact in held if (step := self._since(trace, fact.name)) is not None}
        left = None if course is None else course.last_relative
        if course is None or len(gone) < 2 or len(gone) < self.share * len(held):
            return
        if (left if left is not None else 1.0 - course.fell) < self.least_relative:
            return
        since = sorted(gone.values())[int(np.ceil(self.share * len(held))) - 1]
        silent = [
            link.name
            for link in activations(trace, RECTIFIERS)
            if (shares := trace.series("activation", link.name, "silent_share")[1])[-1:].tolist() == [1.0]
            and len(shares) >= self.least_looks
        ]
        peak = self._explosion(trace, since)
        told = (
            []
            if peak is None
            else [f"The loss shot up from {peak[0]:.3g} to {peak[1]:.3g} at step {peak[2]}."]
        )
        when = "from the start" if since == 0 else f"since step {since}"
        told.append(f"The gradients of {len(gone)} of {len(held)} weights are exactly zero {when}")
        quiet = f", and {_named(silent)} zero for every sample." if silent else "."
        yield Symptom(
            self.code,
            " ".join(told) + quiet,
            component=silent[0] if silent else next(iter(gone)),
            first_step=since if peak is None else min(since, peak[2]),
            observed=len(gone) / len(held),
            limit=self.share,
            detail={"since": since, "silent": silent, "exploded": None if peak is None else peak[2]},
        )

    def _since(self, trace: Trace, parameter: str) -> int | None:
        """The first look from which a gradient is exactly zero to the end."""
        steps, sizes = trace.series("gradient", parameter, "rms")
        alive = np.flatnonzero(sizes != 0)
        first = int(alive[-1]) + 1 if len(alive) else 0
        return int(steps[first]) if len(steps) - first >= self.least_looks else None

    def _explosion(self, trace: Trace, until: int) -> tuple[float, float, int] | None:
        """First loss, highest loss and its step, where it shot up before the gradients were gone."""
        steps, losses = trace.loss
        there = np.isfinite(losses) & (steps <= until)
        if until == 0 or not there.any() or losses[there][0] <= 0:
            return None
        first, peak = float(losses[there][0]), int(np.argmax(losses[there]))
        highest = float(losses[there][peak])
        return (first, highest, int(steps[there][peak])) if highest > self.jump * first else None

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("gradients flow", lambda: net_run(losses=flat(200))),
        Run(
            "the task is solved exactly",
            lambda: net_run(
                gradients={place: lambda step: 0.01 if step < 50 else 0.0 for place in (0, 2, 4)}
            ),
        ),
        Run("one layer of three", lambda: net_run(losses=flat(200), gradients={2: 0.0})),
        Run(
            "zero now and then",
            lambda: net_run(
                losses=flat(200),
                gradients={0: lambda step: 0.01 * (step % 3), 2: lambda step: 0.01 * (step % 3)},
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "dead after an explosion",
            lambda: net_run(
                losses=[1.0, 3.0, 400.0, 20.0, *flat(196)],
                gradients={place: lambda step: 0.01 if step < 4 else 0.0 for place in (0, 2)},
                activations={1: {"silent_share": lambda step: 0.0 if step < 3 else 1.0}},
            ),
        ),
        Run("dead from the start", lambda: net_run(losses=flat(200), gradients={0: 0.0, 2: 0.0})),
    )


def _named(silent: list[str]) -> str:
    return (
        f"{silent[0]} is"
        if len(silent) == 1
        else f"{silent[0]} and {plural(len(silent) - 1, 'other activation')} are"
    )
