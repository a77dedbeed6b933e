"""Hidden units that are silent or saturated, and whole networks that die."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import flat
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.chain import RECTIFIERS, Link, activations, chain, last_weighted, positions
from netmend.diagnose.measures.motion import weights
from netmend.diagnose.measures.objective import objective
from netmend.diagnose.measures.words import plural
from netmend.library.activations import SQUASHING
from netmend.unit import calibrated, convention
from netmend.vocabulary import Symptom, Trace


class DeadUnits(Detector, code="D104", figure="silent share"):
    """Most units of a layer are zero for every sample, so they neither contribute nor learn.

    A rectifier whose input is negative for all samples passes no gradient back: such a unit stays dead. Usual causes: a learning rate that is
    too high (units die during training), strongly negative biases or unscaled inputs (dead from the start).
    """

    dead_limit = calibrated(0.95, "share of silent units at the end; healthy programs stay below 0.4")
    died_limit = calibrated(0.6, "the same where units died during training; healthy programs stay below 0.4")
    rise_limit = calibrated(0.4, "by how much the share rose; healthy programs stay below 0.38")
    least_positions = convention(16, "samples in a look: a unit is silent in a small batch by chance")
    looks = convention(3, "a unit must be silent in several batches in a row")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for link in activations(trace, RECTIFIERS):
            found = self._shares(trace, link)
            if found is None:
                continue
            first, last, step = found
            rise = last - first
            died = last >= self.died_limit and rise >= self.rise_limit
            if last < self.dead_limit and not died:
                continue
            since = (
                f", {first:.0%} at the start"
                if died
                else ", from the start"
                if first >= self.died_limit
                else ""
            )
            yield self.symptom(
                f"{last:.0%} of the units of {link.name} were zero for all samples{since}.",
                link,
                observed=last,
                limit=self.died_limit if died else self.dead_limit,
                detail={"first": first, "rise": rise if died else 0.0},
                first_step=step if died else 0,
            )

    def _shares(self, trace: Trace, link: Link) -> tuple[float, float, int] | None:
        """Share of silent units in the first and in the last looks (the least of them), and the step at which half of the rise was done."""
        steps, shares = trace.series("activation", link.name, "silent_share")
        if len(shares) <= self.looks or positions(link.shape) < self.least_positions:
            return None
        first, last = float(shares[:2].min()), float(shares[-self.looks :].min())
        beyond = steps[shares >= (first + last) / 2]
        return first, last, int(beyond[0]) if len(beyond) else int(steps[-1])

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found = [
            shares
            for link in activations(trace, RECTIFIERS)
            if (shares := self._shares(trace, link)) is not None
        ]
        if not found:
            return {}
        most = max(found, key=lambda shares: shares[1] - shares[0])
        return {
            "dead_limit": max(last for _, last, _ in found),
            "died_limit": most[1],
            "rise_limit": most[1] - most[0],
        }

    HEALTHY = {
        "few silent units": lambda: net_run(),
        "a sparse network": lambda: net_run(activations={1: {"silent_share": 0.6}}),
        "silent in a batch of four": lambda: net_run(activations={1: {"silent_share": 0.97}}, batch=4),
        "a rectifier at the output": lambda: net_run(
            "Linear(9,20) ReLU Linear(20,5) ReLU", activations={3: {"silent_share": 1.0}}
        ),
    }
    FAULTY = {
        "dead from the start": lambda: net_run(activations={1: {"silent_share": 1.0}}),
        "died": lambda: net_run(activations={3: {"silent_share": lambda step: min(0.02 + step / 30, 0.8)}}),
    }


class SaturatedUnits(Detector, code="D105"):
    """Nearly all values of a hidden sigmoid or tanh lie on its flat ends.

    There the slope is close to zero, so that hardly any gradient passes. Usual causes: unscaled inputs, weights that start or become too
    large, a learning rate that is too high. A saturated output of a trained classifier is no fault.
    """

    share_limit = calibrated(
        0.85,
        "share of saturated values in the last looks; hidden layers of healthy programs: 0.4 at most, codes that are meant to be binary aside",
    )
    looks = convention(3, "several batches in a row")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for link in activations(trace, SQUASHING):
            found = self._shares(trace, link)
            if found is None or found[1] < self.share_limit:
                continue
            first, last = found
            message = f"{last:.0%} of the values of {link.name} ({link.function}) were saturated, {first:.0%} at the start."
            yield self.symptom(
                message,
                link,
                observed=last,
                limit=self.share_limit,
                detail={"first": first, "function": link.function},
                first_step=0 if first >= self.share_limit else None,
            )

    def _shares(self, trace: Trace, link: Link) -> tuple[float, float] | None:
        _, shares = trace.series("activation", link.name, "saturated_share")
        if len(shares) <= self.looks:
            return None
        return float(shares[:2].min()), float(shares[-self.looks :].min())

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found = [
            shares
            for link in activations(trace, SQUASHING)
            if (shares := self._shares(trace, link)) is not None
        ]
        return {"share_limit": max(last for _, last in found)} if found else {}

    HEALTHY = {
        "tanh in its middle": lambda: net_run("Linear(9,20) Tanh Linear(20,1)"),
        "a confident output": lambda: net_run(
            "Linear(9,20) Tanh Linear(20,1) Sigmoid", activations={3: {"saturated_share": 0.99}}
        ),
        "half saturated": lambda: net_run(
            "Linear(9,20) Tanh Linear(20,1)", activations={1: {"saturated_share": 0.6}}
        ),
    }
    FAULTY = {
        "flat": lambda: net_run(
            "Linear(9,20) Sigmoid Linear(20,1)", activations={1: {"saturated_share": 0.97}}
        )
    }


class ActivationDrift(Detector, code="D115", needs_fixed_data=True):
    """The signal in a hidden layer grew by orders of magnitude during training.

    The layers after it were tuned to another scale, and units saturate, die or overflow. Usual causes: a learning rate that is too
    high, a deep stack without normalisation, a loss without a lower bound.
    """

    growth_limit = calibrated(
        1000.0,
        "last over first size of a hidden signal; healthy programs stay below 70, 500 where the stack starts faint",
    )
    looks = convention(3, "several batches at each end")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        grown = [(growth, link) for growth, link in self._growths(trace) if growth >= self.growth_limit]
        if not grown:
            return
        growth, link = max(grown, key=lambda item: item[0])
        message = f"The signal in {link.name} grew to {growth:.3g} times its initial size."
        detail = {"layers": [other.name for _, other in grown]}
        yield self.symptom(message, link, growth, self.growth_limit, detail)

    def _growths(self, trace: Trace) -> Iterator[tuple[float, Link]]:
        for link in chain(trace):
            _, sizes = trace.series("activation", link.name, "rms")
            sizes = sizes[np.isfinite(sizes)]
            if (
                link.position < last_weighted(trace, link.model)
                and len(sizes) > 2 * self.looks
                and sizes[0] > 0
            ):
                yield float(np.median(sizes[-self.looks :]) / np.median(sizes[:2])), link

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found = [growth for growth, _ in self._growths(trace)]
        return {"growth_limit": max(found)} if found else {}

    HEALTHY = {
        "steady": lambda: net_run(),
        "grows tenfold": lambda: net_run(activations={1: {"rms": lambda step: 0.5 + step / 40}}),
        "scores grow at the output": lambda: net_run(activations={4: {"rms": lambda step: 0.01 + step}}),
    }
    FAULTY = {"grows without end": lambda: net_run(activations={1: {"rms": lambda step: 0.5 * 1.1**step}})}


class NetworkDied(Detector, code="D130", needs_fixed_data=True):
    """The gradients of most weights are exactly zero, and the task is not learned.

    Nothing that passes no gradient at all comes back: the remaining layers can at best learn the constant prediction. Usual causes: one step that
    was far too large (the loss explodes, then every rectifier is silent), inputs of hundreds, weights or biases that start far off.
    """

    share = convention(0.5, "of the weights; a frozen branch or one dead layer is less")
    least_looks = convention(3, "looks in a row at the end, all of them exactly zero")
    least_relative = convention(0.5, "a loss below that is met, and no gradient is what should be left")
    jump = convention(3.0, "times the first loss: an explosion that is worth telling")

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
        yield self.symptom(
            " ".join(told) + quiet,
            silent[0] if silent else next(iter(gone)),
            observed=len(gone) / len(held),
            limit=self.share,
            detail={"since": since},
            first_step=since if peak is None else min(since, peak[2]),
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

    HEALTHY = {
        "gradients flow": lambda: net_run(losses=flat(200)),
        "the task is solved exactly": lambda: net_run(
            gradients={place: lambda step: 0.01 if step < 50 else 0.0 for place in (0, 2, 4)}
        ),
        "one layer of three": lambda: net_run(losses=flat(200), gradients={2: 0.0}),
        "zero now and then": lambda: net_run(
            losses=flat(200), gradients={0: lambda step: 0.01 * (step % 3), 2: lambda step: 0.01 * (step % 3)}
        ),
    }
    FAULTY = {
        "dead after an explosion": lambda: net_run(
            losses=[1.0, 3.0, 400.0, 20.0, *flat(196)],
            gradients={place: lambda step: 0.01 if step < 4 else 0.0 for place in (0, 2)},
            activations={1: {"silent_share": lambda step: 0.0 if step < 3 else 1.0}},
        ),
        "dead from the start": lambda: net_run(losses=flat(200), gradients={0: 0.0, 2: 0.0}),
    }


def _named(silent: list[str]) -> str:
    return (
        f"{silent[0]} is"
        if len(silent) == 1
        else f"{silent[0]} and {plural(len(silent) - 1, 'other activation')} are"
    )
