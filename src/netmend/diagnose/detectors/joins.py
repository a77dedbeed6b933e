"""Tables that are joined: keys that only their spelling keeps apart, rows that a join multiplies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import with_facts
from netmend.diagnose.measures.preparation import prepared
from netmend.unit import calibrated, convention
from netmend.vocabulary import PreparationFact, Site, Symptom, Trace


def _most(trace: Trace, name: str) -> Mapping[str, float]:
    shares = [float(fact.seen[name]) for fact in prepared(trace, "join", "convert") if name in fact.seen]
    return {"share_limit": max(shares)} if shares else {}


_AT = Site("prepare.py", 13, 5)


def _spelled(share: float, pairs: int = 40, how: str = "left") -> Trace:
    seen = {
        "rows": 1000,
        "rows_after": 1000,
        "how": how,
        "alone": share,
        "alone_by_spelling": share,
        "keys_by_spelling": pairs,
        "spelling": "zeros",
        "spelled": ("0042 / 42", "0147 / 147"),
    }
    return with_facts(
        PreparationFact("merge@prepare.py:13", "pandas.DataFrame.merge", "join", _AT, 2, seen=seen)
    )


class KeysApartBySpelling(Detector, code="D810"):
    """Rows of a join found no partner, and would have found one if both sides spelled their keys alike.

    "0042" and "42", "Berlin " and "berlin", 7 and "7" are different keys. The rows stay empty or are lost, a fill hides it, and the network
    never learns what the other table says about them. Usual causes: codes that one file keeps as text and another as numbers, spaces, capitals.
    """

    share_limit = calibrated(
        0.02, "share of rows that spelling keeps from their partner; healthy joins show none"
    )
    least_keys = convention(3, "different keys: one odd name alone is a slip of the data")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in prepared(trace, "join", "convert"):
            share = float(fact.seen.get("alone_by_spelling", 0.0))
            if share < self.share_limit or fact.seen.get("keys_by_spelling", 0) < self.least_keys:
                continue
            examples = ", ".join(str(pair) for pair in fact.seen.get("spelled", ())[:2])
            message = (
                f"{share:.0%} of the rows found no partner only because the keys are spelled differently on the two sides "
                f"({examples}; {fact.seen['keys_by_spelling']} such keys)."
            )
            yield self.symptom(
                message,
                (fact.name, fact.site),
                observed=share,
                limit=self.share_limit,
                detail={"spelling": fact.seen["spelling"], "how": fact.seen.get("how", "")},
            )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        return _most(trace, "alone_by_spelling")

    HEALTHY = {
        "a single odd name": lambda: _spelled(0.05, pairs=1),
        "no partner under any spelling": lambda: with_facts(
            PreparationFact(
                "merge@prepare.py:13",
                "pandas.DataFrame.merge",
                "join",
                _AT,
                2,
                seen={"rows": 1000, "alone": 0.45},
            )
        ),
    }
    FAULTY = {"leading zeros": lambda: _spelled(0.8)}


def _multiplied(rows: int, copies: float | None) -> Trace:
    seen = {
        "rows": 700,
        "rows_right": 3542,
        "rows_after": rows,
        "how": "left",
        "on": ("customer",),
        "repeated_right": 0.8,
    }
    if copies is not None:
        seen["copies_in_both"] = copies
    return with_facts(
        PreparationFact("merge@prepare.py:13", "pandas.DataFrame.merge", "join", _AT, 2, seen=seen)
    )


class CopiesByJoin(Detector, code="D811"):
    """A join made several rows of one, and copies of one row are in the training and in the evaluation data.

    The table on the right holds a key several times (every address a customer ever had, every revision of an article), so each row on the left comes
    out once for each. Parts that are drawn at random afterwards share rows with the same values and the same target: the score says how well
    rows are remembered.
    """

    share_limit = calibrated(
        0.02, "share of evaluation rows with a copy in training; without copies none agree in most columns"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in prepared(trace, "join"):
            share = float(fact.seen.get("copies_in_both", 0.0))
            if share < self.share_limit:
                continue
            before, after = int(fact.seen["rows"]), int(fact.seen["rows_after"])
            message = (
                f"The join makes {after:,} rows of {before:,}, and {share:.0%} of the evaluation rows looked at have a copy in the training data: "
                "the same target and the same values in most columns."
            )
            yield self.symptom(message, (fact.name, fact.site), observed=share, limit=self.share_limit)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        return _most(trace, "copies_in_both")

    HEALTHY = {
        "multiplied, then divided by customer": lambda: _multiplied(3542, 0.0),
        "multiplied, the evaluation not seen": lambda: _multiplied(3542, None),
    }
    FAULTY = {"every address of a customer": lambda: _multiplied(3542, 0.96)}
