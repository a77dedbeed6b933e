"""D601 SamplesMixed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import mixed, recurrent
from netmend.unit import Run, threshold
from netmend.vocabulary import ProbeFact, Symptom, Trace


@register
class SamplesMixed:
    """The model's output for one sample depends on the other samples of the batch.

    In eval mode, one sample of the first batch was replaced, and the outputs for others changed: information leaks between samples
    that have nothing to do with each other, and the model cannot work on one sample alone.
    Usual causes: a recurrent or attention layer that takes the first axis for time, view() instead of transpose(), an index or
    a mean over the wrong axis.
    """

    code: ClassVar[str] = "D601"

    change_limit: float = threshold(
        1e-3,
        "calibrated",
        "change of other samples' outputs, as a share of the spread between samples: rounding makes below 1e-6 of it, "
        "and healthy programs of the calibration corpus show exactly 0; a mix-up shows 0.05 and more",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("batch independence"):
            values = probe.values
            if not _is_sample_axis(trace, values):
                continue
            lost = values.get("axis") == "lost"
            if not lost and not self._change(probe) > self.change_limit:
                continue
            yield Symptom(
                self.code,
                _message(probe, lost),
                component=probe.component,
                first_step=probe.step,
                observed=None if lost else self._change(probe),
                limit=self.change_limit,
                site=probe.site,
                detail=dict(values),
            )

    def _change(self, probe: ProbeFact) -> float:
        return float(probe.values.get("others") or 0.0)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found = [
            self._change(p) for p in trace.probes("batch independence") if _is_sample_axis(trace, p.values)
        ]
        return {"change_limit": max(found)} if found else {}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("nothing but rounding", lambda: mixed(2e-4)),
        Run(
            "time comes first on purpose",
            lambda: recurrent(given=(32, 10, 6), output=(32, 10, 3), target=(320,)),
        ),
        Run("points of one cloud", lambda: mixed(given=(500, 3), output=(500, 4), target=(500,), loader=0)),
        Run(
            "batch norm without running averages",
            lambda: mixed(kind="BatchNorm1d", operation="native_batch_norm"),
        ),
        Run("discriminator that looks at its batch", lambda: mixed(optimizers=2)),
        Run("targets of another size", lambda: mixed(target=(8,))),
        Run(
            "as many steps as samples, time first",
            lambda: mixed(axis="lost", layers_batch_first=False, loader=0),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("a view that is no transpose", lambda: mixed()),
        Run("recurrent layer over samples", lambda: recurrent()),
        Run(
            "the last sample instead of the last step",
            lambda: mixed(
                operation="select",
                axis="lost",
                layers_batch_first=True,
                loader=0,
                given=(16, 16),
                output=(16, 1),
                target=(16,),
            ),
        ),
    )


def _message(probe: ProbeFact, lost: bool) -> str:
    values = probe.values
    batch = values["batch"]
    if lost:
        return (
            f"`{probe.component}` returns {batch} rows for {batch} samples only by chance: "
            f"with {values['rows']} samples it still returns {batch}."
        )
    return (
        f"Replacing one sample of the first batch changed the output of {probe.component} for others "
        f"by {float(values['others']):.0%} of the spread between samples."
    )


def _is_sample_axis(trace: Trace, values: Mapping[str, Any]) -> bool:
    """Whether the first axis surely holds samples that have nothing to do with each other."""
    given, output, target = (tuple(values.get(f"{name}_shape", ())) for name in ("input", "output", "target"))
    batch = values.get("batch")
    if not given or not target or target[0] != batch or not output or output[0] != batch:
        return False
    if str(values.get("kind", "")).startswith("BatchNorm"):
        return False
    if sum(optimizer.stepped is not None for optimizer in trace.optimizers) > 1:
        return False  # adversaries may compare whole batches
    from_loader = values.get("loader_batch") == batch and batch not in given[1:]
    if values.get("axis") == "lost":
        return bool(values.get("layers_batch_first"))
    if values.get("batch_first") is not None:
        inner = tuple(values.get("module_input", ()))
        steps = inner[1] if len(inner) == 3 and inner[0] == batch else 1
        return from_loader or (steps > 1 and steps not in output[1:])
    return from_loader or (len(given) > 2 and len(output) <= 2)
