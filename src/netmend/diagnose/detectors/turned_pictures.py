"""Random changes of training pictures that do not go with their targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.measures.preparation import prepared
from netmend.unit import calibrated, convention
from netmend.vocabulary import PreparationFact, Symptom, Trace


def _turned(**seen: Any) -> Trace:
    """Mirrored pictures of class 2 look like class 3, and half of those that training shows do."""
    usual = {
        "how": "mirrored",
        "one": 2,
        "other": 3,
        "like_other": 0.98,
        "in_training": 0.48,
        "as_it_is": 1.0,
    }
    return trace_of(PreparationFact("turned pictures 0", "turned", "turned", seen=usual | seen))


class TurnedIntoAnotherClass(Detector, code="D862"):
    """Pictures that training turns or mirrors look like those of another class, and keep their label.

    At the end of the run the first pictures of both parts are compared: evaluation pictures find their own class again, the other one once they are
    mirrored; of the training pictures of each of the two classes about half look like the other.
    """

    turned = convention(0.8, "of the turned pictures of each of the two classes look like the other class")
    as_it_is = convention(0.85, "of the pictures as they are look like their own class")
    mixed = calibrated(0.2, "of the training pictures of each class; healthy programs show 0.03 at most")

    HEALTHY = {
        "labels change with the pictures": lambda: _turned(in_training=0.02),
        "alike anyway": lambda: _turned(as_it_is=0.6),
    }
    FAULTY = {
        "half of them are mirrored": lambda: _turned(),
        "a third is turned": lambda: _turned(how="turned by 90°", in_training=0.3),
    }

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in prepared(trace, "turned"):
            seen = fact.seen
            if (
                "how" not in seen
                or seen["in_training"] < self.mixed
                or seen["like_other"] < self.turned
                or seen["as_it_is"] < self.as_it_is
            ):
                continue
            message = (
                f"Pictures of class {seen['one']} look like class {seen['other']} once they are {seen['how']} ({seen['like_other']:.0%} of them, and the other way round), "
                f"and {seen['in_training']:.0%} of the training pictures of these classes look like the other one; of those as they are {1 - seen['as_it_is']:.0%} do."
            )
            yield self.symptom(message, fact.name, seen["in_training"], self.mixed, dict(seen))
            return

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        shares = [float(fact.seen["in_training"]) for fact in prepared(trace, "turned") if "how" in fact.seen]
        return {"mixed": max(shares)} if shares else {}


def _points(**seen: Any) -> Trace:
    """Five points, of which two pairs have a side."""
    usual = {"pairs": [[0, 2], [4, 6]], "against": 0.47, "coordinates": 10}
    return trace_of(PreparationFact("mirrored points", "mirrored", "turned", seen=usual | seen))


class PairedPointsNotExchanged(Detector, code="D863"):
    """Points that lie on one side in evaluation lie on either side in training, as if a mirror had moved them without exchanging them.

    The left eye of a mirrored face is the right eye of the picture. Where the points keep their order, one output of the network is taught both eyes and
    learns to point between them.
    """

    share = calibrated(
        0.25, "of training samples in which a pair is the other way round; 0 where a mirror exchanges them"
    )

    HEALTHY = {"always on their sides": lambda: _points(against=0.0)}
    FAULTY = {"half of the faces are mirrored": lambda: _points()}

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in prepared(trace, "turned"):
            seen = fact.seen
            if "pairs" not in seen or seen["against"] < self.share:
                continue
            message = f"In {seen['against']:.0%} of the training samples the coordinates of {len(seen['pairs'])} pairs of points have changed sides; in evaluation each point stays on its side."
            yield self.symptom(message, fact.name, seen["against"], self.share, dict(seen))

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        shares = [float(fact.seen["against"]) for fact in prepared(trace, "turned") if "pairs" in fact.seen]
        return {"share": max(shares)} if shares else {}
