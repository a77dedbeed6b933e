"""D802 LooksAhead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import probed
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace

WHAT = "looking ahead"


def predicting(offset: int = 1, **values: Any) -> Trace:
    """A model of sequences, one element of which was changed."""
    asked = {"offset": offset, "share": 1.0, "distinct": 60, "ahead": 0.0, "behind": 0.2, "answer": 0.0}
    return probed(WHAT, asked | values)


@register
class LooksAhead:
    """Each target is the next input, and the model's output at a position depends on later inputs.

    The answer is among what the model is given, so the loss falls far below what prediction can reach, and a text that is generated
    token by token, where nothing comes after, is nonsense. One element of the first batch was changed: in a causal model everything before it stays
    exactly as it was. Usual causes: attention without a causal mask, a recurrent layer in both directions, a convolution padded on both sides.
    """

    code: ClassVar[str] = "D802"

    change_limit: float = threshold(
        1e-4,
        "exact",
        "change before the changed position, as a share of the largest change: 0 in a causal model; rounding is allowed for",
    )
    distinct_limit: int = threshold(
        5, "convention", "different tokens; fewer agree with their neighbours by chance"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes(WHAT):
            values = probe.values
            ahead = float(values.get("ahead") or 0.0)
            if (
                values["offset"] != 1
                or 0 < values["distinct"] < self.distinct_limit
                or ahead <= self.change_limit
            ):
                continue
            yield Symptom(
                self.code,
                f"Each target is the next input, and changing one input changed what {probe.component} outputs at earlier positions.",
                component=str(values.get("module") or probe.component),
                first_step=probe.step,
                observed=ahead,
                limit=self.change_limit,
                site=probe.site,
                detail=dict(values),
            )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found = [float(p.values.get("ahead") or 0.0) for p in trace.probes(WHAT) if p.values["offset"] == 1]
        return {"change_limit": max(found)} if found else {}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("causal", lambda: predicting(ahead=9e-5)),
        Run("an autoencoder sees everything", lambda: predicting(0, ahead=0.3, answer=1.0)),
        Run("could not be replayed", lambda: predicting(ahead=None, behind=None, answer=None)),
        Run("two symbols that repeat", lambda: predicting(ahead=0.1, distinct=2)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "attention without a mask",
            lambda: predicting(ahead=0.02, operation="softmax", module="model.a", kind="Attention"),
        ),
        Run(
            "real numbers",
            lambda: predicting(ahead=0.5, distinct=0, operation="lstm", module="model.rnn", kind="LSTM"),
        ),
    )
