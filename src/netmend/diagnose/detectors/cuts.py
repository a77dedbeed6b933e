"""What is cut away from the data and would have said the class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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


def _without_stop_words() -> PreparationFact:
    seen = {
        "left_out": "120 stop words",
        "texts": 600,
        "cut_share": 0.4,
        "whole": 0.9,
        "kept": 0.52,
        "shown": 0.55,
        "lift": 14.0,
        "chance": 0.5,
    }
    return PreparationFact("cut@train.py:20", "cut", "cut", SITE, seen=seen)


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
        "a stop word decides": lambda: trace_of(_without_stop_words()),
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
                f"{_what(seen)} From whole texts a simple model says the class in {seen['whole']:.0%}, "
                f"from what is kept in {seen['kept']:.0%} (by chance {seen['chance']:.0%})."
            )
            yield self.symptom(message, fact.name, gain, self.gain, dict(seen), site=fact.site)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        sure = [fact.seen for fact in _tried(trace) if fact.seen["lift"] >= self.surely]
        gains = [min(seen["whole"] - seen["kept"], seen["whole"] - seen["shown"]) for seen in sure]
        return {"gain": max(gains), "shown_gain": max(gains)} if gains else {}


def _what(seen: Mapping[str, Any]) -> str:
    if "left_out" in seen:
        return f"Left out of the texts: {seen['left_out']}, {seen['cut_share']:.0%} of all words."
    return f"The {seen['keeps']} {seen['size']} {seen['unit']} are kept of texts with {seen['usual']} words (median); {seen['cut_share']:.0%} of them are cut."


def _tried(trace: Trace) -> Iterator[PreparationFact]:
    return (fact for fact in prepared(trace, "cut") if "whole" in fact.seen)


def _shrunk(**seen: float | str) -> Trace:
    """Pictures resized by looking at single pixels; what decides is two pixels wide."""
    usual: dict[str, float | str] = {
        "how": "resize", "words": "only 36 × 36 single pixels", "files": 160, "is_sound": False,
        "whole": 1.0, "kept": 0.65, "shown": 0.62, "lift": 7.5, "chance": 0.5, "better": 0.95,
    }  # fmt: skip
    return trace_of(PreparationFact("shrink@train.py:20", "cut", "shrink", SITE, seen=usual | seen))


class DetailShrunkAway(Detector, code="D871"):
    """What is resized, cropped or filtered away of pictures or recordings says the class, and what is left does not.

    At the end of the run a simple model (brightness, contrast, fine detail and layout of a picture; bands and loudness of a recording) is asked for the class from some of the
    files as they are, from what the line leaves of them, and from what reached the network. Where only the files say it, no network can learn it.
    """

    gain = calibrated(0.2, "accuracy from the files above that from what is left")
    surely = convention(4.5, "standard deviations of that gain")
    shown_gain = calibrated(0.2, "the same against what reached the network")
    sure = calibrated(0.8, "accuracy from the files, from which a simple model has found what decides")
    apart = convention(
        0.2, "between what the line leaves and what reached the network: another line did it, otherwise"
    )

    HEALTHY = {
        "all is left": lambda: _shrunk(kept=0.97, shown=0.98, lift=1.0),
        "the network gets it another way": lambda: _shrunk(shown=0.95),
        "the files do not say it either": lambda: _shrunk(whole=0.72, kept=0.5, shown=0.5),
        "averaging would lose it as well": lambda: _shrunk(better=0.66),
    }  # fmt: skip
    FAULTY = {
        "dots that are skipped": lambda: _shrunk(),
        "calls above the new band": lambda: _shrunk(
            how="rate", words="only frequencies below 8 kHz", is_sound=True, kept=0.53, shown=0.53, lift=8.7, chance=0.25, better=-1.0
        ),
    }  # fmt: skip

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in sorted(
            _shrunk_lines(trace), key=lambda fact: abs(fact.seen["kept"] - fact.seen["shown"])
        ):
            seen = fact.seen
            gain = seen["whole"] - seen["kept"]
            is_lost = gain >= self.gain and seen["whole"] - seen["shown"] >= self.shown_gain
            if not is_lost or not self._is_sure(seen):
                continue
            things = "recordings" if seen["is_sound"] else "pictures"
            message = (
                f"Of {things} {seen['words']} are left. From the files a simple model says the class in {seen['whole']:.0%}, "
                f"from what is left in {seen['kept']:.0%} (by chance {seen['chance']:.0%})."
            )
            yield self.symptom(message, fact.name, gain, self.gain, dict(seen), site=fact.site)

    def _is_sure(self, seen: Mapping[str, Any]) -> bool:
        """Do the files say it, is it this line that loses it, and does the library's other way keep it?"""
        if (
            seen["lift"] < self.surely
            or seen["whole"] < self.sure
            or seen["shown"] - seen["kept"] > self.apart
        ):
            return False
        return bool(seen["better"] < 0 or seen["better"] >= seen["kept"] + self.gain / 2)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        gains = [
            min(fact.seen["whole"] - fact.seen["kept"], fact.seen["whole"] - fact.seen["shown"])
            for fact in _shrunk_lines(trace)
            if self._is_sure(fact.seen)
        ]
        wholes = [fact.seen["whole"] for fact in _shrunk_lines(trace)]
        return {"gain": max(gains), "shown_gain": max(gains), "sure": max(wholes)} if gains else {}


def _likeliest(fact: PreparationFact) -> tuple[bool, float]:
    """First what leaves the very form that reached the network, then what leaves as much."""
    return not fact.seen.get("fits"), abs(fact.seen["kept"] - fact.seen["shown"])


def _shrunk_lines(trace: Trace) -> list[PreparationFact]:
    return [fact for fact in prepared(trace, "shrink") if "whole" in fact.seen]
