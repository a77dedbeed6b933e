"""D117 RegulariserDominates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.decay import decays, most_shrunk, penalty
from netmend.diagnose.measures.examples import flat
from netmend.diagnose.measures.motion import motions
from netmend.diagnose.measures.net_examples import net_run
from netmend.diagnose.measures.objective import objective
from netmend.unit import Run, threshold
from netmend.vocabulary import LossFact, Site, Symptom, Table, Trace


def penalised(growth: float) -> Trace:
    """One criterion and a penalty of about its size beside it; the third layer ends at `growth` of its start, the others grow."""
    trace = net_run(losses=[2.0] * 200)
    name, total = "cross_entropy@train.py:20", "objective@train.py:21"
    criterion = LossFact(name, "cross_entropy", called=Site("train.py", 20))
    objective_fact = LossFact(total, settings={"terms": (name,)}, backward=Site("train.py", 21))
    weight = trace.table("weight", "model.2.weight")
    size = float(weight.column("rms")[0])
    sizes = {int(step): (0.0, size * (growth if step else 1.0)) for step in weight.steps}
    tables = {key: table for key, table in trace.tables.items() if key[0] != "progress"}
    tables["progress", name] = Table.of("progress", name, dict.fromkeys(range(200), (0.9, 1.0)))
    tables["weight", "model.2.weight"] = Table.of("weight", "model.2.weight", sizes)
    facts = {**trace.facts, "loss": {name: criterion, total: objective_fact}}
    return replace(trace, facts=facts, tables=tables)


@register
class RegulariserDominates:
    """The pull of regularisation on the weights is stronger than that of the data, and little was learned.

    Weights then follow the penalty instead of the loss and go to zero. Usual causes: a weight decay taken from another optimiser or
    task, a penalty summed over all weights without a small factor. Near the optimum both pulls balance, so a run that learned is not judged.
    """

    code: ClassVar[str] = "D117"

    share_limit: float = threshold(
        0.5,
        "calibrated",
        "decay over the data's gradient, which is 1 where both hold each other in balance; healthy programs that have not converged "
        "stay below 0.03",
    )
    penalty_limit: float = threshold(
        0.3,
        "calibrated",
        "share of the objective that is not the criterion; other terms reach 0.9 in healthy programs, but weights do not shrink there",
    )
    shrink_limit: float = threshold(
        0.7,
        "calibrated",
        "weights at the end over their start; healthy programs that learned little stay above 0.86",
    )
    layer_limit: float = threshold(
        0.5,
        "calibrated",
        "the same of one layer that alone is penalised; no layer of a healthy program with a penalty shrinks at all",
    )
    layer_relative: float = threshold(
        0.1,
        "convention",
        "of the constant prediction's loss: below that the penalty of one layer did not cost much",
    )
    least_relative: float = threshold(
        0.3, "convention", "below that of the constant prediction much was learned"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        yield from self._one_layer(trace)
        if not self._poor(trace):
            return
        smallest = min((m.growth for m in motions(trace) if m.growth is not None), default=1.0)
        for decay in decays(trace):
            if decay.share >= self.share_limit and smallest <= self.shrink_limit:
                yield Symptom(
                    self.code,
                    f"The weight decay of {decay.setting:g} pulls {decay.share:.2g} times as hard as the data, and the weights shrank "
                    f"to {smallest:.2g} of their initial size.",
                    component=decay.optimizer,
                    observed=decay.share,
                    limit=self.share_limit,
                    detail={"form": "decay", "setting": decay.setting, "shrink": smallest},
                )
        term = penalty(trace)
        if term is not None and term.share >= self.penalty_limit and smallest <= self.shrink_limit:
            yield Symptom(
                self.code,
                f"Up to {term.share:.0%} of the objective was a penalty on top of the criterion, and the weights shrank to "
                f"{smallest:.2g} of their initial size.",
                component=term.objective,
                observed=term.share,
                limit=self.penalty_limit,
                detail={"form": "penalty", "shrink": smallest},
            )

    def _one_layer(self, trace: Trace) -> Iterator[Symptom]:
        """A penalty beside the criterion, and one layer that shrank while the others kept their size or grew."""
        term, found = penalty(trace), most_shrunk(trace)
        usual = min((m.growth for m in motions(trace) if m.growth is not None), default=0.0)
        if term is None or found is None or term.share < self.penalty_limit or usual <= self.shrink_limit:
            return
        weight, shrink = found
        if shrink > self.layer_limit or not self._poor(trace, self.layer_relative):
            return
        yield Symptom(
            self.code,
            f"Up to {term.share:.0%} of the objective was a penalty on top of the criterion, and the weights of {weight.module} alone shrank "
            f"to {shrink:.2g} of their initial size.",
            component=term.objective,
            observed=term.share,
            limit=self.penalty_limit,
            detail={"form": "penalty", "shrink": shrink, "layer": weight.module},
        )

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

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("ordinary decay", lambda: net_run(optimizer="SGD", settings={"weight_decay": 1e-4})),
        Run(
            "strong decay, but it learned",
            lambda: net_run(optimizer="SGD", settings={"weight_decay": 0.5}, growth=0.3),
        ),
        Run("another term beside the criterion, and nothing shrinks", lambda: penalised(0.9)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "decay of one",
            lambda: net_run(
                losses=flat(200),
                optimizer="SGD",
                settings={"weight_decay": 1.0, "lr": 0.1},
                growth=0.05,
                gradients=0.002,
            ),
        ),
        Run("a penalty on one layer", lambda: penalised(0.05)),
    )
