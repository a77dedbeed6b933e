"""LYR-DROPOUT-RATE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.diagnose.measures.examples import flat, run_with
from netmend.diagnose.measures.loop import is_training, main_pattern
from netmend.diagnose.measures.objective import objective
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.lines.follow import argument_origin
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, FunctionFact, ModuleFact, Site, Trace


@dataclass(frozen=True)
class _Dropout:
    name: str
    rate: float
    site: Site | None
    functional: bool
    last: bool  # nothing with weights follows it


@register
class DropoutRateWrong:
    """The dropout rate is so high that hardly anything of the signal is left, or dropout hits the output itself.

    At a rate of 0.9 nine of ten units are silenced at every step: what is left carries little, and the loss in training stays high.
    Use 0.1 to 0.5 in hidden layers and none behind the last layer.
    """

    code: ClassVar[str] = "LYR-DROPOUT-RATE"

    high_rate: float = threshold(
        0.65, "published", "0.2 to 0.5 is what the inventors and every textbook advise"
    )
    hopeless_rate: float = threshold(
        0.9, "convention", "a rate at which nine of ten numbers are lost; below it some networks do well"
    )
    good_relative: float = threshold(0.3, "convention", "a training loss below that is no victim of dropout")

    def accuse(self, case: Case) -> Iterator[Fault]:
        layers = [drop for drop in dropouts(case.trace) if drop.rate >= self.high_rate or drop.last]
        if not layers:
            return
        worst = max(layers, key=lambda drop: drop.rate)
        rate = worst.rate
        evidence = []
        if rate >= self.high_rate:
            evidence.append(Evidence(f"`{worst.name}` drops {rate:.0%} of its input.", STRONG))
        if worst.last:
            evidence.append(Evidence(f"`{worst.name}` comes after the last layer with weights.", STRONG))
        suffers = False
        for code, weight in (
            ("D509", STRONG),
            ("D605", FAIR),
            ("D501", FAIR),
            ("D504", WEAK),
            ("D508", WEAK),
            ("D503", WEAK),
        ):
            if (symptom := case.first(code)) is not None:
                evidence.append(for_symptom(symptom, weight))
                suffers = True
        if not suffers and rate < self.hopeless_rate:
            evidence.append(Evidence("There is no sign that training suffers from it.", -FAIR))
        course = objective(case.trace)
        if (
            course is not None
            and course.last_relative is not None
            and course.last_relative < self.good_relative
        ):
            evidence.append(
                Evidence(f"The training loss gets low anyway ({course.last_relative:.2f}).", -2 * STRONG)
            )
        origin = argument_origin(case.sources, worst.site, "p", 1 if worst.functional else 0)
        yield fault(
            self.code,
            evidence,
            component=worst.name,
            site=worst.site if origin is None else origin.site,
            summary=f"`{worst.name}` silences {rate:.0%} of its input in training"
            + (", and nothing with weights follows it." if worst.last else "."),
            reason="Too little of the signal is left for the network to learn from.",
            remedy="Remove this dropout: it corrupts the output itself."
            if worst.last
            else f"Lower the rate from {rate:g} to between 0.1 and 0.5.",
            refutation="The training loss is no lower with a rate of 0.2.",
            related=(worst.site,),
            explains=("D509", "D605", "D504", "D508", "D501", "D503"),
        )

    FAULTY: ClassVar[tuple[Run, ...]]


def dropouts(trace: Trace) -> Iterator[_Dropout]:
    """Every dropout that is really used, as a layer or as a call."""
    ending = _ending(trace)
    for module in trace.layers():
        if "Dropout" in module.kind and module.order is not None:
            rate = float(module.settings.get("p", 0.5))
            behind = (
                ending is not None and ending.model == module.model and module.order > (ending.order or 0)
            )
            if rate > 0:
                yield _Dropout(module.name, rate, module.created, False, behind)
    for function in trace.all(FunctionFact):
        if function.kind == "dropout":
            rate = float(function.settings.get("p", 0.5))
            if rate > 0:
                behind = ending is not None and function.after == ending.name
                yield _Dropout(function.name, rate, function.site, True, behind)


def _ending(trace: Trace) -> ModuleFact | None:
    """The last layer with weights of the network that is called last: what several in a row compute ends there."""
    pattern = main_pattern(trace)
    called = [call.component for call in pattern.calls if is_training(call)] if pattern is not None else []
    weighted = [
        module for module in trace.layers() if module.order is not None and _has_weights(trace, module)
    ]
    models = {module.model for module in weighted}
    final = next((name for name in reversed(called) if name in models), None)
    own = [module for module in weighted if final is None or module.model == final]
    return max(own, key=lambda module: module.order or 0, default=None)


def _has_weights(trace: Trace, module: ModuleFact) -> bool:
    return any(parameter.module == module.name for parameter in trace.parameters)


def _example() -> Trace:
    trace = run_with(flat(200, 0.9), evaluations=[0.6, 0.5, 0.35, 0.3])
    layer = ModuleFact("net.1", "Dropout", settings={"p": 0.95}, order=1, created=Site("train.py", 9))
    return Trace({**trace.facts, "module": {"net.1": layer}}, trace.tables)


DropoutRateWrong.FAULTY = (Run("0.95 in a hidden layer", lambda: _example()),)
