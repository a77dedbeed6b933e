"""D609 AxesSwapped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import swapped
from netmend.unit import Run
from netmend.vocabulary import Symptom, Trace


@register
class AxesSwapped:
    """A view or reshape in the forward pass, or between network and loss, gives back the same axes in another order.

    view() only reads the same numbers in rows of another length. It does not move an axis: what comes out as one axis is a medley of
    both, and neighbouring values have nothing to do with each other.
    Usual cause: view() or reshape() where transpose() or permute() was meant.
    """

    code: ClassVar[str] = "D609"

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("axis order"):
            before, after = tuple(probe.values["before"]), tuple(probe.values["after"])
            sizes = [[n for n in shape if n != 1] for shape in (before, after)]
            classes = bool(
                probe.values.get("classes")
            )  # seen in memory: the loss reads scores of different samples as one's
            if not classes and (sizes[0] == sizes[1] or sorted(sizes[0]) != sorted(sizes[1])):
                continue
            yield Symptom(
                self.code,
                f"A {probe.values['operation']}() turns {_shape(before)} into {_shape(after)}: the axes are swapped, but the values are not moved.",
                component=str(probe.values.get("module", "")) or probe.component,
                first_step=probe.step,
                site=probe.site,
                detail={
                    "before": before,
                    "after": after,
                    "operation": probe.values["operation"],
                    "classes": classes,
                },
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("an axis of one element moves", lambda: swapped((32, 1, 30), (32, 30, 1))),
        Run("frames in pairs", lambda: swapped((32, 30, 6), (32, 15, 12))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("time and channels", lambda: swapped()),
        Run("pixels and classes, before the loss", lambda: swapped((8, 5, 32, 32), (8192, 5), classes=True)),
        Run("samples and time", lambda: swapped((32, 10, 6), (10, 32, 6))),
    )


def _shape(sizes: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, sizes)) + "]"
