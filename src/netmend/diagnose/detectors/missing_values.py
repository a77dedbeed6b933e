"""Missing values in disguise, words taken for missing values, and gaps filled from rows that have nothing to do with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.measures.losses_of_values import call_of
from netmend.diagnose.measures.preparation import downstream, prepared
from netmend.unit import convention
from netmend.vocabulary import PreparationFact, Site, Symptom, Trace


def did(call: str, kind: str, settings: Mapping[str, Any] | None = None, **seen: Any) -> Trace:
    """A run in which one line did this."""
    name = f"{call.rpartition('.')[2]}@prepare.py:7"
    return trace_of(
        PreparationFact(name, call, kind, Site("prepare.py", 7), settings=settings or {}, seen=seen)
    )


_FAR = ["nox", -200.0, 0.09, 20.0]


class SentinelFed(Detector, code="D823"):
    """A number that stands for "not measured" goes into the model like a measurement: -200, -999, 9999, 0 where nothing is near 0.

    It lies far from all real values and stands in many rows. It rules mean and spread, so that scaling squeezes the real values
    together, and the network takes a gap for the most extreme measurement of all. Nothing fills it, as it is not missing.
    """

    least = convention(0.005, "share of the rows of a column")
    least_filled = convention(0.02, "share of the rows, of a number that was filled in")
    for_zero = convention(
        2, "columns with a 0 far from all else, before it is told: one alone may well be a value"
    )
    far_zero = convention(2.0, "quartile ranges between 0 and all else, from which one column is enough")

    HEALTHY = {
        "no such number": lambda: did("pandas.read_csv", "fed", sentinels=[]),
        "one column with a far 0": lambda: did(
            "pandas.read_csv", "fed", sentinels=[["pool_area", 0.0, 0.4, 1.5]]
        ),
        "read, and not fed": lambda: did("pandas.read_csv", "read", sentinels=[_FAR]),
    }
    FAULTY = {
        "-200": lambda: did("pandas.read_csv", "fed", sentinels=[_FAR, ["o3", -200.0, 0.08, 30.0]]),
        "0 for what is missing": lambda: did(
            "pandas.Series.fillna", "fed", sentinels=[["pressure", 0.0, 0.12, 9.5]], filled_in=True
        ),
        "zeros in two columns": lambda: did(
            "pandas.read_csv", "fed", sentinels=[["glucose", 0.0, 0.02, 1.4], ["pressure", 0.0, 0.05, 2.5]]
        ),
    }

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        seen: list[tuple[float, set[str]]] = []
        for fact in prepared(trace, "fed"):
            filled = bool(fact.seen.get("filled_in"))
            columns: dict[float, dict[str, tuple[float, float]]] = {}
            for name, value, share, gap in fact.seen.get("sentinels", ()):
                if share >= (self.least_filled if filled else self.least):
                    columns.setdefault(float(value), {}).setdefault(name, (share, gap))
            for value, found in sorted(columns.items(), key=lambda pair: -len(pair[1])):
                few = len(found) < self.for_zero and max(gap for _, gap in found.values()) < self.far_zero
                if (value == 0 and not filled and few) or (value, {*found}) in seen:
                    continue
                seen.append((value, {*found}))
                yield self._told(fact, value, found, filled)
                break

    def _told(
        self, fact: PreparationFact, value: float, found: Mapping[str, tuple[float, float]], filled: bool
    ) -> Symptom:
        name, (share, gap) = max(found.items(), key=lambda pair: pair[1][0])
        more = f" and {len(found) - 1} other column{'s' if len(found) > 2 else ''}" if len(found) > 1 else ""
        far = f"{gap:.2g} times the middle half's width away from every other value"
        if filled and fact.seen.get("somewhere"):
            message = f"What is missing in `{name}`{more} ({share:.0%} of the rows) reaches the model as {value:g}, {far}."
        elif filled:
            message = f"{call_of(fact)} put {value:g} in the place of what is missing in `{name}`{more} ({share:.0%} of the rows), {far}, and the model is fed with it."
        else:
            message = (
                f"{share:.0%} of `{name}`{more} are exactly {value:g}, {far}, and the model is fed with them: they stand for values"
                " that are missing."
            )
        detail = {
            "value": value,
            "columns": list(found),
            "call": fact.call,
            "filled_in": filled,
            "somewhere": bool(fact.seen.get("somewhere")),
        }
        return self.symptom(message, fact.name, share, self.least, detail, site=fact.site)


class CategoryTakenForMissing(Detector, code="D824"):
    """A word that is a category was read as a missing value: "NA" for North America or Namibia, "None" for a level.

    pandas takes "NA", "N/A", "None", "null", "nan" and more for missing. The rows of this category are then dropped, filled or left without a code.
    """

    least = convention(0.002, "share of the rows")

    HEALTHY = {
        "none": lambda: did("pandas.read_csv", "read"),
    }
    FAULTY = {
        "a region": lambda: did(
            "pandas.read_csv",
            "read",
            category_lost={"column": "region", "word": "NA", "share": 0.34, "others": 3, "is_code": True, "empty_elsewhere": True},
        ),
    }  # fmt: skip

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in prepared(trace, "read"):
            lost = fact.seen.get("category_lost")
            if not lost or lost["share"] < self.least:
                continue
            alike = (
                f"it is written like the {lost['others']} other values"
                if lost["is_code"]
                else f"beside {lost['others']} other values"
            )
            empty = ", and values that are really missing are empty fields" if lost["empty_elsewhere"] else ""
            later = _dropped(trace, fact)
            message = f'{call_of(fact)} read "{lost["word"]}" in `{lost["column"]}` as missing ({lost["share"]:.0%} of the rows), though {alike} there{empty}.{later}'
            yield self.symptom(message, fact.name, lost["share"], self.least, lost, site=fact.site)


def _dropped(trace: Trace, fact: PreparationFact) -> str:
    """What became of the rows later on."""
    for later in downstream(trace, fact):
        if later.call.endswith("dropna") and later.seen.get("rows_after", 0) < later.seen.get("rows", 0):
            gone = later.seen["rows"] - later.seen["rows_after"]
            place = f" at {later.site.short}" if later.site is not None else ""
            return f" dropna(){place} then throws {gone:,} of {later.seen['rows']:,} rows away."
    return ""


class FilledOverBorders(Detector, code="D825"):
    """Gaps were filled across the border between two series: one device, shop or patient got the value of another.

    The rows of each stand together, and where the first ones have no value, `ffill` takes the last one of whoever stands above.
    """

    least = convention(0.02, "share of the borders; where each series begins with a value none is crossed")

    HEALTHY = {
        "within each": lambda: did("pandas.Series.ffill", "convert"),
        "one of many": lambda: did(
            "pandas.Series.ffill",
            "convert",
            carried=[{"column": "x", "over": "shop", "crossed": 2, "borders": 300}],
        ),
    }
    FAULTY = {
        "over the borders": lambda: did(
            "pandas.Series.ffill",
            "convert",
            carried=[{"column": "x", "over": "shop", "crossed": 120, "borders": 259}],
        ),
    }

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in prepared(trace, "convert"):
            for carried in fact.seen.get("carried", ())[:1]:
                share = carried["crossed"] / carried["borders"]
                if share < self.least:
                    continue
                message = (
                    f"{call_of(fact)} filled `{carried['column']}` over {carried['crossed']:,} of {carried['borders']:,} borders between the values of"
                    f" `{carried['over']}`: there one takes over the value of another."
                )
                yield self.symptom(message, fact.name, share, self.least, carried, site=fact.site)
