"""D320 LabelsPermuted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.fact_examples import with_facts
from netmend.unit import Run, threshold
from netmend.vocabulary import ProbeFact, Site, Symptom, Trace

_WHAT = "handed labels"


def _trace(*losses: tuple[str, int, int], shifted: int = 0) -> Trace:
    """Losses with how often they were given the loader's labels as they came, and in another order."""
    return with_facts(
        *(
            ProbeFact(
                f"{_WHAT}@{name}",
                _WHAT,
                name,
                3,
                {"same": same, "permuted": permuted, "shifted": shifted, "other": 0},
                Site("train.py", 31),
            )
            for name, same, permuted in losses
        )
    )


@register
class LabelsPermuted:
    """The loss gets the loader's labels in a different order than the inputs, or shifted by some class numbers.

    The model sees the samples in the order in which the loader handed them out, the loss sees the very same labels in another one: each
    sample is taught the label of another. Usual causes: labels indexed by a random permutation, rolled by one place, or sorted, while the
    inputs stay where they are; `(labels + 1) % classes`.
    """

    code: ClassVar[str] = "D320"

    least_looks: int = threshold(3, "convention", "steps on which the order differed")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = trace.probes(_WHAT)
        # Mixed samples have two losses, one for the labels in place and one for those mixed in.
        if any(probe.values["same"] for probe in found):
            return
        for probe in found:
            permuted, shifted = int(probe.values["permuted"]), int(probe.values.get("shifted", 0))
            times = permuted + shifted
            how = "in another order than the inputs" if permuted else "shifted to the next class number"
            if times >= self.least_looks and not probe.values["other"]:
                yield Symptom(
                    self.code,
                    f"On all {times} recorded steps the loss got the loader's labels {how}.",
                    component=probe.component,
                    observed=float(times),
                    limit=float(self.least_looks),
                    site=probe.site,
                    detail={"loss": probe.component, "shifted": not permuted},
                )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("labels as they came", lambda: _trace(("cross_entropy@train.py:31", 8, 0))),
        Run(
            "mixed samples: two losses",
            lambda: _trace(("cross_entropy@train.py:31", 8, 0), ("cross_entropy@train.py:32", 0, 8)),
        ),
        Run("two looks", lambda: _trace(("cross_entropy@train.py:31", 0, 2))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("shuffled apart", lambda: _trace(("cross_entropy@train.py:31", 0, 8))),
        Run("the next class", lambda: _trace(("cross_entropy@train.py:31", 0, 0), shifted=8)),
    )
