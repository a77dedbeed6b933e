"""Cuts that remove what decides."""

from __future__ import annotations

from netmend.diagnose.detectors.cuts import DecidingPartCut, DetailShrunkAway
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, Accusation, accuses
from netmend.vocabulary import Symptom

_AS_GOOD = 0.05  # the other end says nearly as much as the whole


@accuses("PRE-WRONG-STEP", DecidingPartCut)
def deciding_part_cut(case: Case, symptom: Symptom) -> Accusation:
    """What decides is cut away from the texts.

    A limit on the length keeps one end of every text. Where the telling words stand at the other end, the network sees greetings and history and can only
    learn how often each class occurs. Keep the other end, both ends, or enough of the text.
    """
    seen = symptom.detail
    if "left_out" in seen:
        return _kept_in(symptom)
    size, unit = seen["size"], seen["unit"]
    other = "end" if seen["keeps"] == "first" else "beginning"
    if seen["other_end"] >= seen["whole"] - _AS_GOOD:
        written = f"`[-{size}:]`" if other == "end" else f"`[:{size}]`"
        side = "left" if other == "end" else "right"
        way = f'Keep the {other} of the texts instead ({written}, for a tokenizer `enable_truncation({size}, direction="{side}")`), which says the class in {seen["other_end"]:.0%}'
    else:
        way = f"Keep more: the longest text has {seen['longest']} words, the usual one {seen['usual']}"
    return Accusation(
        PROVEN + 1.0,
        reason=f"What reaches the network says the class in {seen['shown']:.0%} only, so no network can learn what is not there.",
        remedy=f"{way}; or raise the limit of {size} {unit}.",
        refutation="The longer input scores no better on texts that were not trained on.",
        summary=symptom.message,
        explains=_POOR,
    )


def _kept_in(symptom: Symptom) -> Accusation:
    """Words are left out that decide."""
    return Accusation(
        PROVEN + 1.0,
        reason=f'What reaches the network says the class in {symptom.detail["shown"]:.0%} only: words that decide, such as "not" or rare names, are gone.',
        remedy="Keep these words: take them off the list of stop words, or raise the limit of the vocabulary (`max_features`, `min_df`).",
        refutation="The network scores no better on texts that were not trained on when it is given these words.",
        summary=symptom.message,
        explains=_POOR,
    )


_POOR = frozenset({"D311", "D506", "D507"})


@accuses("PRE-WRONG-STEP", DetailShrunkAway, once=True)
def detail_shrunk_away(case: Case, symptom: Symptom) -> Accusation:
    """What decides is resized, cropped or filtered away.

    Bilinear and nearest sampling look at single pixels of a large picture and skip the rest, a crop keeps a part of it, and a lower rate removes
    every frequency above its half. What tells the classes apart can be just there.
    """
    seen = symptom.detail
    return Accusation(
        PROVEN + 1.0,
        reason=f"What reaches the network says the class in {seen['shown']:.0%} only, so no network can learn what is not there.",
        remedy=_REMEDIES[str(seen["how"])],
        refutation="The network scores no better on new data when it is given all of it.",
        summary=symptom.message,
        explains=_POOR,
    )


_REMEDIES = {
    "resize": "Average over all pixels instead: `cv2.resize(…, interpolation=cv2.INTER_AREA)`, `F.interpolate(…, mode=\"area\")`, PIL's `resize` with its default filter; or make the picture larger.",
    "crop": "Keep the whole picture, or crop where the object is.",
    "rate": "Keep the rate of the recordings, or one whose half lies above what tells the classes apart.",
    "length": "Keep more of each recording, or the part that tells the classes apart.",
}  # fmt: skip
