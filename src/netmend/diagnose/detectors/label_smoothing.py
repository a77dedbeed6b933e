"""How much of each target a loss gives away to the other classes."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.losses import given, run_of, wanted
from netmend.unit import Run, exact
from netmend.vocabulary import Symptom, Trace


class LabelsSmoothedAway(Detector, code="D418"):
    """Labels are smoothed so much that the true class keeps the smaller part of each target.

    `label_smoothing` takes this share of every target from the true class and spreads it over all classes; 0.1 is usual. Beyond
    one half the best answer is hardly surer of the true class than of any other, and the loss stays near that of guessing.
    Usual cause: the share that the true class should keep was written down instead.
    """

    most: float = exact(0.5, "of the target; above it the true class keeps less than is given away")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for loss in trace.losses:
            share = loss.settings.get("label_smoothing")
            if isinstance(share, int | float) and share > self.most:
                yield Symptom(
                    self.code,
                    f"`{loss.criterion}` smooths labels by {share:g}: the true class keeps {1 - share:.0%} of each target, all classes share the rest.",
                    component=loss.name,
                    observed=float(share),
                    limit=self.most,
                    site=loss.created or loss.called,
                )

    HEALTHY = (
        Run("the usual share", lambda: _run(0.1)),
        Run("half, as some teachers have it", lambda: _run(0.5)),
    )
    FAULTY = (Run("the share to keep taken for the share to give away", lambda: _run(0.9)),)


def _run(share: float) -> Trace:
    settings = {"reduction": "mean", "label_smoothing": share}
    return run_of("cross_entropy", given(16, 3), wanted(16), settings=settings)
