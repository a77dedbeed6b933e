"""D221 CarriedState."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.detectors.graphs_kept import graphs
from netmend.unit import Run, threshold
from netmend.vocabulary import LossFact, Symptom, Trace


@register
class CarriedState:
    """The graph of a step reaches back into the steps before it, further and further.

    A state that is carried from batch to batch brings its whole history along: every backward pass goes through all of it, so steps
    become slower and memory grows.
    Usual cause: a hidden state is used again without detach(), and backward(retain_graph=True) hides the error.
    """

    code: ClassVar[str] = "D221"

    least_alive: int = threshold(
        8, "convention", "steps; truncated back-propagation over a few steps keeps fewer than that"
    )
    share: float = threshold(0.5, "convention", "most of the graphs ever marked: nothing is let go")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for table in trace.tables_of("graphs"):
            if not len(table):
                continue
            marked, alive, inside = (float(table.column(n)[-1]) for n in ("marked", "alive", "alive_inside"))
            if inside < self.least_alive or inside < self.share * marked or alive > inside / 2:
                continue
            loss = trace.get(LossFact, table.component)
            yield Symptom(
                self.code,
                f"The graph still includes {int(inside)} of {int(marked)} earlier steps that were tracked.",
                component=table.component,
                first_step=int(table.steps[0]),
                observed=inside,
                limit=float(self.least_alive),
                site=loss.backward if loss is not None else None,
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("nothing is carried", lambda: graphs((8, 0, 0), (16, 0, 0))),
        Run("a few steps", lambda: graphs((8, 0, 4), (16, 0, 4))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("everything is carried", lambda: graphs((8, 0, 8), (16, 0, 16))),
    )
