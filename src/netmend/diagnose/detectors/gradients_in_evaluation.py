"""D224 GradientsInEvaluation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop_examples import optimizer, trained
from netmend.unit import Run, threshold
from netmend.vocabulary import LossFact, OperandFact, Site, Symptom, Table, Trace


def _evaluated(passes: int, grad: float) -> Trace:
    rows = {100 * number: (0.5, 1.0, 0.8, 100.0, 4.0, 0.0, grad) for number in range(passes)}
    return Trace(
        tables={("evaluation", "loss@train.py:40"): Table.of("evaluation", "loss@train.py:40", rows)}
    )


@register
class GradientsInEvaluation:
    """Evaluation passes record gradients that are never used.

    It costs memory and time, and nothing else.
    Usual cause: no torch.no_grad() around validation.
    """

    code: ClassVar[str] = "D224"

    least_passes: int = threshold(2, "convention", "a single pass may be a look at gradients")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for table in trace.tables_of("evaluation"):
            recorded = (table.column("grad_enabled") == 1) & (table.column("training_mode") == 0)
            if recorded.sum() < self.least_passes:
                continue
            loss = trace.get(LossFact, table.component)
            yield Symptom(
                self.code,
                f"{int(recorded.sum())} evaluation passes recorded gradients that were never used.",
                component=table.component,
                first_step=int(table.steps[recorded][0]),
                observed=float(recorded.sum()),
                limit=float(self.least_passes),
                site=loss.called if loss is not None else None,
            )

        for loss in trace.losses:
            steps = _unused(trace, loss)
            if steps >= self.least_passes:
                yield Symptom(
                    self.code,
                    f"{loss.criterion} was computed with gradients on {steps} steps and never backpropagated.",
                    component=loss.name,
                    first_step=0,
                    observed=float(steps),
                    limit=float(self.least_passes),
                    site=loss.called,
                )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("without gradients", lambda: _evaluated(5, 0.0)),
        Run("one look", lambda: _evaluated(1, 1.0)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("with gradients", lambda: _evaluated(5, 1.0)),
        Run(
            "the training loss once more, for the records",
            lambda: trained(
                optimizer(),
                LossFact(
                    "mse_loss@train.py:42",
                    "mse_loss",
                    operands=(OperandFact("prediction", requires_grad=True),),
                    called=Site("train.py", 42),
                ),
                loop=[
                    (
                        "forward=train,grad@42 loss:mse_loss@42 zero_grad forward=train,grad@38 loss@38 backward@39 "
                        "step:optimizer",
                        20,
                    )
                ],
            ),
        ),
    )


def _unused(trace: Trace, loss: LossFact) -> int:
    """Steps on which a loss with a graph was followed by another training pass before anything was passed back."""
    graded = any(operand.requires_grad for operand in loss.operands)
    terms = [name for other in trace.losses for name in other.settings.get("terms", ())]
    if not graded or loss.backward is not None or loss.name in terms:
        return 0
    steps = 0
    for pattern in trace.patterns:
        waiting = False
        for call in pattern.calls:
            if call.what == "loss" and call.site == loss.called and call.detail != "no_grad":
                waiting = True
            elif waiting and call.what == "zero_grad":
                steps += pattern.steps
                break
            elif call.what == "backward":
                waiting = False
    return steps
