"""D701 Crashed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.measures.ending import failing_layer
from netmend.unit import convention
from netmend.vocabulary import RunFact, Site, Symptom, Trace

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # some messages are written for a terminal


def _ended(status: str, exception: str | None) -> Trace:
    run = RunFact(
        "example", "train.py", status=status, exception=exception, exception_site=Site("train.py", 20)
    )
    return trace_of(run)


class Crashed(Detector, code="D701"):
    """The program ended with an exception.

    Where it was raised is often not where the mistake is: a shape that does not fit shows at the layer that notices it.
    Usual causes: shapes or types that do not fit, labels out of range, a graph that is used twice, a missing file.
    """

    longest = convention(200, "characters of the message that are shown; the rest is in the traceback")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        run = trace.run
        if run.status != "failed" or not run.exception or run.exception.startswith("SystemExit"):
            return
        layer = failing_layer(trace)
        message = " ".join(_COLOURS.sub("", run.exception).split())
        shown = message if len(message) <= self.longest else message[: self.longest] + "…"
        yield self.symptom(
            f"The program ended with {shown.rstrip('.')}.",
            (layer.name if layer is not None else "", run.exception_site),
            detail={"exception": run.exception, "layer": None if layer is None else layer.name},
            first_step=run.steps,
        )

    HEALTHY = {
        "finished": lambda: _ended("finished", None),
        "interrupted": lambda: _ended("interrupted", "KeyboardInterrupt: "),
        "left with a code of its own": lambda: _ended("failed", "SystemExit: 3"),
    }
    FAULTY = {
        "shapes that do not fit": lambda: _ended(
            "failed", "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x32 and 16x4)"
        )
    }
