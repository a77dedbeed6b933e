"""Random changes of training pictures that teach wrong answers."""

from __future__ import annotations

from netmend.diagnose.detectors.turned_pictures import PairedPointsNotExchanged, TurnedIntoAnotherClass
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, Accusation, accuses
from netmend.localise.effects import ANY
from netmend.localise.lines.moved_pictures import turned_by_chance
from netmend.vocabulary import Symptom

_WHAT = {"mirrored": "mirrors", "upside down": "topples"}


@accuses("TRN-AUG-EXTRA", TurnedIntoAnotherClass)
def turned_into_another_class(case: Case, symptom: Symptom) -> Accusation | None:
    """Pictures are mirrored or turned where the direction is the class.

    A mirrored "turn left" is a "turn right" that is still called left. The network sees each of the two under both names and can only guess between them.
    Leave the step out, or change the label together with the picture.
    """
    how = str(symptom.detail["how"])
    site = turned_by_chance(case, _WHAT.get(how, "turns"))
    if site is None and case.sources.script:
        return None
    one, other = symptom.detail["one"], symptom.detail["other"]
    return Accusation(
        PROVEN + 1.0,
        reason=f"Classes {one} and {other} differ in their direction alone, so the network is taught both names for both.",
        remedy=f"Leave this step out, or exchange the labels {one} and {other} whenever a picture is {how}.",
        refutation="The label is changed together with the picture, somewhere that these batches do not show.",
        site=site,
        explains=ANY,
    )


@accuses("TRN-AUG-EXTRA", PairedPointsNotExchanged)
def paired_points_not_exchanged(case: Case, symptom: Symptom) -> Accusation | None:
    """A mirror moves the points of a picture but leaves them in their old order.

    After mirroring, what was the left eye is on the right. If its coordinates stay in the row of the left eye, that row is taught both sides, and the
    network answers with the middle. Exchange the rows of each pair after a mirror.
    """
    site = turned_by_chance(case, "mirrors")
    if site is None and case.sources.script:
        return None
    order = _order(symptom.detail["pairs"], int(symptom.detail["coordinates"]))
    written = f": `points = points[{order}]`" if order else ""
    return Accusation(
        PROVEN + 0.5,
        reason="The same output of the network is taught the point of either side, so it learns the middle between them.",
        remedy=f"Exchange the rows of each pair whenever a picture is mirrored{written}.",
        refutation="The points have no sides: any of the two may be first.",
        site=site,
        explains=ANY,
    )


def _order(pairs: list[list[int]], coordinates: int) -> list[int]:
    """The rows after the exchange, where each point has two coordinates one after the other."""
    order = list(range(coordinates // 2))
    if any((other - one) % 2 for one, other in pairs):
        return []
    for one, other in pairs:
        order[one // 2], order[other // 2] = other // 2, one // 2
    return order
