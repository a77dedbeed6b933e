"""Parts of the objective that outweigh the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import flat, trace_of
from netmend.diagnose.examples.losses import CALLED, given, run_of, wanted
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.motion import motions
from netmend.diagnose.measures.objective import objective
from netmend.diagnose.measures.progress import Progress, progress
from netmend.diagnose.measures.rates import decays, most_shrunk, penalty
from netmend.library.losses import NEVER_NEGATIVE
from netmend.unit import calibrated, convention, exact
from netmend.vocabulary import LossFact, OptimizerFact, Site, Symptom, Table, Trace


def penalised(growth: float) -> Trace:
    """One criterion and a penalty of about its size beside it; the third layer ends at `growth` of its start, the others grow."""
    trace = net_run(losses=[2.0] * 200)
    name, weight = "cross_entropy@train.py:20", trace.table("weight", "model.2.weight")
    size = float(weight.column("rms")[0])
    sizes = {int(step): (0.0, size * (growth if step else 1.0)) for step in weight.steps}
    return trace_of(
        LossFact(name, "cross_entropy", called=Site("train.py", 20)),
        LossFact("objective@train.py:21", settings={"terms": (name,)}, backward=Site("train.py", 21)),
        Table.of("progress", name, dict.fromkeys(range(200), (0.9, 1.0))),
        Table.of("weight", "model.2.weight", sizes),
        onto=trace,
    )


class RegulariserDominates(Detector, code="D117"):
    """The pull of regularisation on the weights is stronger than that of the data, and little was learned.

    Weights then follow the penalty instead of the loss and go to zero. Usual causes: a weight decay taken from another optimiser or
    task, a penalty summed over all weights without a small factor. Near the optimum both pulls balance, so a run that learned is not judged.
    """

    share_limit = calibrated(
        0.5,
        "decay over the data's gradient, which is 1 where both hold each other in balance; healthy programs that have not converged "
        "stay below 0.03",
    )
    penalty_limit = calibrated(
        0.3,
        "share of the objective that is not the criterion; other terms reach 0.9 in healthy programs, but weights do not shrink there",
    )
    shrink_limit = calibrated(
        0.7, "weights at the end over their start; healthy programs that learned little stay above 0.86"
    )
    layer_limit = calibrated(
        0.5,
        "the same of one layer that alone is penalised; no layer of a healthy program with a penalty shrinks at all",
    )
    layer_relative = convention(
        0.1, "of the constant prediction's loss: below that the penalty of one layer did not cost much"
    )
    least_relative = convention(0.3, "below that of the constant prediction much was learned")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        yield from self._one_layer(trace)
        if not self._poor(trace):
            return
        smallest = min((m.growth for m in motions(trace) if m.growth is not None), default=1.0)
        for decay in decays(trace):
            if decay.share >= self.share_limit and smallest <= self.shrink_limit:
                message = (
                    f"The weight decay of {decay.setting:g} pulls {decay.share:.2g} times as hard as the data, and the weights shrank "
                    f"to {smallest:.2g} of their initial size."
                )
                detail = {"form": "decay", "setting": decay.setting}
                yield self.symptom(message, decay.optimizer, decay.share, self.share_limit, detail)
        term = penalty(trace)
        if term is not None and term.share >= self.penalty_limit and smallest <= self.shrink_limit:
            message = (
                f"Up to {term.share:.0%} of the objective was a penalty on top of the criterion, and the weights shrank to "
                f"{smallest:.2g} of their initial size."
            )
            detail = {"form": "penalty"}
            yield self.symptom(message, term.objective, term.share, self.penalty_limit, detail)

    def _one_layer(self, trace: Trace) -> Iterator[Symptom]:
        """A penalty beside the criterion, and one layer that shrank while the others kept their size or grew."""
        term, found = penalty(trace), most_shrunk(trace)
        usual = min((m.growth for m in motions(trace) if m.growth is not None), default=0.0)
        if term is None or found is None or term.share < self.penalty_limit or usual <= self.shrink_limit:
            return
        weight, shrink = found
        if shrink > self.layer_limit or not self._poor(trace, self.layer_relative):
            return
        message = (
            f"Up to {term.share:.0%} of the objective was a penalty on top of the criterion, and the weights of {weight.module} alone shrank "
            f"to {shrink:.2g} of their initial size."
        )
        detail = {"form": "penalty", "layer": weight.module}
        yield self.symptom(message, term.objective, term.share, self.penalty_limit, detail)

    def _poor(self, trace: Trace, limit: float | None = None) -> bool:
        course = objective(trace)
        least = self.least_relative if limit is None else limit
        return course is not None and (course.last_relative is None or course.last_relative >= least)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        if not self._poor(trace):
            return {}
        sizes = [m.growth for m in motions(trace) if m.growth is not None]
        found = {"shrink_limit": min(sizes)} if sizes else {}
        shares = [decay.share for decay in decays(trace)]
        term = penalty(trace)
        found |= {"share_limit": max(shares)} if shares else {}
        if term is not None and (one := most_shrunk(trace)) is not None:
            found["layer_limit"] = one[1]
        return found | {"penalty_limit": 0.0 if term is None else term.share}

    HEALTHY = {
        "ordinary decay": lambda: net_run(optimizer="SGD", settings={"weight_decay": 1e-4}),
        "strong decay, but it learned": lambda: net_run(
            optimizer="SGD", settings={"weight_decay": 0.5}, growth=0.3
        ),
        "another term beside the criterion, and nothing shrinks": lambda: penalised(0.9),
    }
    FAULTY = {
        "decay of one": lambda: net_run(
            losses=flat(200),
            optimizer="SGD",
            settings={"weight_decay": 1.0, "lr": 0.1},
            growth=0.05,
            gradients=0.002,
        ),
        "a penalty on one layer": lambda: penalised(0.05),
    }


def _with_terms(objective: Sequence[float], loss: Sequence[float], players: int = 1) -> Trace:
    """An objective that is a squared error and something else, over the steps."""
    name = "mse_loss@train.py:28"
    return run_of(
        "expression",
        LossFact(name, "mse_loss", "function", operands=(given(16, 1), wanted(16, 1)), called=CALLED),
        *(OptimizerFact(f"player{index}", "Adam") for index in range(1, players)),
        Table.of("progress", name, {step: (value,) for step, value in enumerate(loss)}),
        Table.of("step", "optimizer", {step: (value,) for step, value in enumerate(objective)}),
        terms=[name],
    )


class TermWithoutBound(Detector, code="D415", needs_fixed_data=True):
    """The objective falls far below zero because of what is added to its loss, and the loss itself gets worse.

    The loss can never be negative. What is added to it has no lower bound, so that the optimiser makes it ever smaller and gives up
    everything else for it. Usual causes: a divergence or penalty with its sign turned, or subtracted where it should be added.
    """

    depth_limit = exact(1.0, "times the first value, below zero: no loss that may end at zero gets there")
    growth_limit = convention(1.2, "of the loss from its beginning to its end")
    least_looks = convention(5, "values of the loss that are needed to see it grow")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        if len(trace.optimizers) > 1:
            return  # players of a game
        courses = {course.loss: course for course in progress(trace)}
        for loss in trace.losses:
            terms = [trace.get(LossFact, name) for name in loss.settings.get("terms", ())]
            known = [term for term in terms if term is not None and term.criterion in NEVER_NEGATIVE]
            if loss.backward is None or not known or len(known) < len(terms) or loss.settings.get("negated"):
                continue
            grown = next((c for term in known if (c := courses.get(term.name)) and self._grew(c)), None)
            values = trace.loss[1]
            if grown is None or len(values) < self.least_looks or values[0] <= 0:
                continue
            first, last = float(values[0]), float(values[-1])
            if last < -self.depth_limit * first:
                message = (
                    f"The objective fell from {first:.3g} to {last:.3g}, while `{known[0].criterion}` in it grew from {grown.first:.3g} to "
                    f"{grown.last:.3g}: another term of it has no lower bound."
                )
                yield self.symptom(
                    message,
                    (loss.name, loss.called or loss.backward),
                    observed=last,
                    limit=-self.depth_limit * first,
                    detail={"loss": loss.name, "criterion": known[0].criterion},
                )

    def _grew(self, course: Progress) -> bool:
        return course.looks >= self.least_looks and course.last > self.growth_limit * course.first

    HEALTHY = {
        "a penalty": lambda: _with_terms([2.0, 1.5, 1.0, 0.8, 0.7, 0.6], [1.0, 0.8, 0.5, 0.4, 0.3, 0.3]),
        "a loss weighted by its own uncertainty, below zero where data has no noise": lambda: _with_terms(
            [1.0, 0.5, 0.0, -1.0, -2.0, -3.0], [1.0, 0.5, 0.2, 0.1, 0.01, 0.001]
        ),
        "two players": lambda: _with_terms(
            [1.0, 0.5, -1.0, -2.0, -4.0, -9.0], [1.0, 2.0, 3.0, 4.0, 5.0, 9.0], players=2
        ),
        "diverges": lambda: _with_terms([1.0, 5.0, 50.0, 500.0, 5e3, 5e4], [1.0, 5.0, 50.0, 500.0, 5e3, 5e4]),
    }
    FAULTY = {
        "the sign of a divergence": lambda: _with_terms(
            [1.0, 0.9, 0.5, -3.0, -40.0, -900.0], [1.0, 1.0, 1.1, 1.5, 3.0, 9.0]
        )
    }
