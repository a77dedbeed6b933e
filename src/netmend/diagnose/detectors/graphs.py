"""Graphs of earlier steps that are kept."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.unit import calibrated, convention
from netmend.vocabulary import LossFact, Site, Symptom, Table, Trace

LOSS = "cross_entropy@train.py:20"


def graphs(*rows: tuple[float, float, float]) -> Trace:
    """A run with looks at the graphs of earlier steps."""
    table = Table.of("graphs", LOSS, {8 * number: row for number, row in enumerate(rows)})
    loss = LossFact(LOSS, "cross_entropy", backward=Site("train.py", 21))
    return trace_of(loss, table)


class GraphsKept(Detector, code="D219"):
    """The graphs of earlier steps are still alive: something holds on to their losses.

    Each step then leaves its graph in memory until the holder is dropped, at the end of the epoch or never.
    Usual cause: losses are added up or collected as tensors (`total += loss`) instead of numbers.
    """

    least_alive = calibrated(
        3, "graphs of more than three steps ago: 196 healthy runs had none; keeping the best one makes 1"
    )
    share = convention(0.5, "most of the graphs ever marked: nothing is let go during the run")
    often = convention(
        0.15, "share of the looks at which old graphs were alive, where they are let go now and then"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for table in trace.tables_of("graphs"):
            alive, marked = table.column("alive"), table.column("marked")
            if not len(alive) or alive.max() < self.least_alive:
                continue
            never = alive[-1] >= self.share * marked[-1]
            if not never and (alive > 0).mean() < self.often:
                continue
            loss = trace.get(LossFact, table.component)
            most = int(alive.max())
            message = (
                f"Of {int(marked[-1])} graphs of earlier steps that were tracked, up to {most} were still in memory"
                + (", and none was freed." if never else " at a time.")
            )
            yield self.symptom(
                message,
                (table.component, loss.backward if loss is not None else None),
                observed=float(most),
                limit=float(self.least_alive),
                detail={"never": bool(never), "alive": most},
                first_step=int(table.steps[np.argmax(alive >= self.least_alive)]),
            )

    def extremes(self, trace: Trace) -> dict[str, float]:
        most = [float(table.column("alive").max()) for table in trace.tables_of("graphs") if len(table)]
        return {"least_alive": max(most)} if most else {}

    HEALTHY = {
        "let go at once": lambda: graphs((4, 0, 0), (8, 0, 0), (12, 0, 0), (16, 0, 0)),
        "one is kept": lambda: graphs((4, 1, 1), (8, 1, 1), (12, 1, 1), (16, 1, 1)),
    }
    FAULTY = {
        "all are kept": lambda: graphs((4, 4, 4), (8, 8, 8), (12, 12, 12), (16, 16, 16)),
        "kept until the epoch ends": lambda: graphs((4, 2, 2), (8, 4, 4), (12, 1, 1), (16, 3, 3)),
    }


class CarriedState(Detector, code="D221"):
    """The graph of a step reaches back into the steps before it, further and further.

    A state that is carried from batch to batch brings its whole history along: every backward pass goes through all of it, so steps
    become slower and memory grows.
    Usual cause: a hidden state is used again without detach(), and backward(retain_graph=True) hides the error.
    """

    least_alive = convention(8, "steps; truncated back-propagation over a few steps keeps fewer than that")
    share = convention(0.5, "most of the graphs ever marked: nothing is let go")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for table in trace.tables_of("graphs"):
            if not len(table):
                continue
            marked, alive, inside = (float(table.column(n)[-1]) for n in ("marked", "alive", "alive_inside"))
            if inside < self.least_alive or inside < self.share * marked or alive > inside / 2:
                continue
            loss = trace.get(LossFact, table.component)
            yield self.symptom(
                f"The graph still includes {int(inside)} of {int(marked)} earlier steps that were tracked.",
                (table.component, loss.backward if loss is not None else None),
                observed=inside,
                limit=float(self.least_alive),
                first_step=int(table.steps[0]),
            )

    HEALTHY = {
        "nothing is carried": lambda: graphs((8, 0, 0), (16, 0, 0)),
        "a few steps": lambda: graphs((8, 0, 4), (16, 0, 4)),
    }
    FAULTY = {"everything is carried": lambda: graphs((8, 0, 8), (16, 0, 16))}
