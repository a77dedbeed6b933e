"""What is cut away from the data and would have said the class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import SITE, trace_of
from netmend.diagnose.measures.preparation import prepared
from netmend.unit import calibrated, convention
from netmend.vocabulary import PreparationFact, Symptom, Trace


def _cut(**seen: float | str) -> Trace:
    """Texts of which 24 words are kept; the words behind say the class."""
    usual: dict[str, float | str] = {
        "size": 24, "unit": "words", "keeps": "first", "texts": 600, "cut_share": 1.0, "usual": 44, "longest": 62,
        "whole": 0.93, "kept": 0.32, "lost": 0.95, "other_end": 0.94, "shown": 0.34, "lift": 21.0, "chance": 0.25,
    }  # fmt: skip
    return trace_of(PreparationFact("cut@train.py:20", "cut", "cut", SITE, seen=usual | seen))


class DecidingPartCut(Detector, code="D870"):
    """What is cut off the texts says the class, and what is left does not.

    At the end of the run a simple model (words counted, out of fold) is asked for the class three times: from whole texts as they stand in the file,
    from the part that the cut keeps, and from what reached the network. Where whole texts say it and the other two do not, no network can learn it.
    """

    gain = calibrated(
        0.15, "accuracy from whole texts above that from what is kept; healthy cuts lose nothing"
    )
    surely = convention(5.0, "standard deviations of that gain")
    shown_gain = calibrated(
        0.12, "the same against what reached the network: another cut, or none, otherwise"
    )

    HEALTHY = {
        "the beginning says it": lambda: _cut(whole=0.75, kept=0.99, lost=0.23, other_end=0.28, shown=0.99, lift=-13.0),
        "a little is lost": lambda: _cut(whole=0.93, kept=0.82, shown=0.81, lift=6.0),
        "cut for showing it alone": lambda: _cut(shown=0.92),
        "few texts": lambda: _cut(lift=3.0),
    }  # fmt: skip
    FAULTY = {
        "the end says it": lambda: _cut(),
        "a third is not cut": lambda: _cut(
            whole=1.0, kept=0.55, shown=0.55, lost=0.78, cut_share=0.67, lift=16.0
        ),
    }

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in sorted(_tried(trace), key=lambda fact: abs(fact.seen["kept"] - fact.seen["shown"])):
            seen = fact.seen
            gain, shown = seen["whole"] - seen["kept"], seen["whole"] - seen["shown"]
            if gain < self.gain or seen["lift"] < self.surely or shown < self.shown_gain:
                continue
            message = (
                f"The {seen['keeps']} {seen['size']} {seen['unit']} are kept of texts with {seen['usual']} words (median); {seen['cut_share']:.0%} of them are cut. "
                f"From whole texts a simple model says the class in {seen['whole']:.0%}, from what is kept in {seen['kept']:.0%} (by chance {seen['chance']:.0%})."
            )
            yield self.symptom(message, fact.name, gain, self.gain, dict(seen), site=fact.site)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        sure = [fact.seen for fact in _tried(trace) if fact.seen["lift"] >= self.surely]
        gains = [min(seen["whole"] - seen["kept"], seen["whole"] - seen["shown"]) for seen in sure]
        return {"gain": max(gains), "shown_gain": max(gains)} if gains else {}


def _tried(trace: Trace) -> Iterator[PreparationFact]:
    return (fact for fact in prepared(trace, "cut") if "whole" in fact.seen)
