"""D321 TrainedOnTestPart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.fact_examples import with_facts
from netmend.unit import Run
from netmend.vocabulary import LoaderFact, Site, Symptom, Trace


def _trace(*parts: tuple[str, str]) -> Trace:
    return with_facts(
        *(
            LoaderFact(
                f"loader{index}",
                "MNIST",
                1000,
                64,
                phase=phase,
                part=part,
                created=Site("train.py", 9 + index),
            )
            for index, (phase, part) in enumerate(parts)
        )
    )


@register
class TrainedOnTestPart:
    """The model is trained on data that says it is the test part.

    The data set was made with `train=False` or `split="test"`, and training steps are computed on it. Its score can then no longer be told
    from memory, and the larger training part is not used. Usual causes: a line copied without changing the argument, loaders exchanged.
    """

    code: ClassVar[str] = "D321"

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        trained = [loader for loader in trace.loaders if loader.phase == "training"]
        # Where both parts are trained on, it is meant: adaptation to another set, a last fit on everything.
        if not trained or any(loader.part != "test" for loader in trained):
            return
        evaluated = [loader for loader in trace.loaders if loader.phase == "evaluation"]
        parts = {loader.part for loader in evaluated}
        beside = (
            ", and so is evaluation"
            if "test" in parts
            else ", and evaluation runs on the training part"
            if "train" in parts
            else ""
        )
        yield Symptom(
            self.code,
            f"Training runs on the test part of {trained[0].dataset}{beside}.",
            component=trained[0].name,
            site=trained[0].created,
            detail={"evaluated": bool(evaluated)},
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("each part in its place", lambda: _trace(("training", "train"), ("evaluation", "test"))),
        Run("data that says nothing of parts", lambda: _trace(("training", ""), ("evaluation", "test"))),
        Run("both parts are trained on", lambda: _trace(("training", "train"), ("training", "test"))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("the test part twice", lambda: _trace(("training", "test"), ("evaluation", "test"))),
        Run("parts exchanged", lambda: _trace(("training", "test"), ("evaluation", "train"))),
        Run("no evaluation yet", lambda: _trace(("training", "test"))),
    )
