"""D803 TargetsNotNext."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.detectors.looks_ahead import WHAT, LooksAhead, predicting
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace

_WORDS = {
    0: "The target at each position is the same token as the input there",
    -1: "The target at each position is the previous token, which the model has already seen",
    2: "The target at each position is the token after the next",
}


@register
class TargetsNotNext:
    """A causal model of tokens gets targets that are not the next tokens, but the same, the last, or those after the next.

    A model that is asked for what it was just given copies it: accuracy is soon 100 %, and nothing is learned about the text. Targets shifted
    twice leave one token out. Usual causes: a forgotten `+ 1` in the slice that makes the targets, a shift in the data and once more
    in the model.
    """

    code: ClassVar[str] = "D803"

    noise: float = threshold(1e-4, "exact", "change that is none, as a share of the largest")
    distinct_limit: int = threshold(
        5, "convention", "different tokens; echoing a few symbols is an exercise in memory"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes(WHAT):
            values = probe.values
            offset, ahead = values["offset"], values.get("ahead")
            if offset not in _WORDS or values["distinct"] < self.distinct_limit or ahead is None:
                continue
            # What looks ahead may be an autoencoder; what no later position hears of is no model of sequences.
            if ahead > self.noise or values["behind"] <= self.noise:
                continue
            if offset < 1 and values["answer"] <= self.noise:
                continue  # the model itself moves its input by one
            yield Symptom(
                self.code,
                f"{_WORDS[offset]} ({values['share']:.0%} of the first batch).",
                component=probe.component,
                first_step=probe.step,
                observed=float(offset),
                limit=1.0,
                site=probe.site,
                detail=dict(values),
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        *LooksAhead.HEALTHY,
        Run("the model moves its input by one", lambda: predicting(0)),
        Run("each position on its own", lambda: predicting(0, behind=0.0, answer=1.0)),
        Run("real numbers, two steps ahead", lambda: predicting(2, distinct=0)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("the inputs themselves", lambda: predicting(0, answer=1.0)),
        Run("shifted the wrong way", lambda: predicting(-1, answer=0.3)),
        Run("shifted twice", lambda: predicting(2)),
    )
