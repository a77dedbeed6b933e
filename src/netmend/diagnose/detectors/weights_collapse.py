"""D108 WeightsCollapse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.motion import motions
from netmend.diagnose.measures.net_examples import net_run
from netmend.diagnose.measures.words import plural
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class WeightsCollapse:
    """The weights shrank to a small part of their initial size.

    A network whose weights go to zero answers the same for every input. Usual causes: weight decay or a penalty in the loss that is far too
    strong for the size of the gradients, or the only pull left when gradients vanish.
    """

    code: ClassVar[str] = "D108"

    shrink_limit: float = threshold(
        0.15, "calibrated", "last over initial size, median over tensors; healthy programs stay above 0.5"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for motion in motions(trace):
            if motion.growth is None or motion.growth > self.shrink_limit:
                continue
            yield Symptom(
                self.code,
                f"The weights shrank to {motion.growth:.2g} of their initial size by step {motion.last_look} "
                f"(median of {plural(motion.tensors, 'tensor')}).",
                component=motion.optimizer,
                first_step=motion.last_look,
                observed=motion.growth,
                limit=self.shrink_limit,
            )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        sizes = [motion.growth for motion in motions(trace) if motion.growth is not None]
        return {"shrink_limit": min(sizes)} if sizes else {}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("keeps its size", lambda: net_run()),
        Run("shrinks under ordinary decay", lambda: net_run(growth=0.5)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("shrinks to nothing", lambda: net_run(growth=0.01)),)
