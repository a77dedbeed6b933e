"""Texts read as other dates and numbers than they say, and types that cannot hold what they are given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.measures.losses_of_values import call_of, losses, others
from netmend.diagnose.measures.preparation import prepared
from netmend.unit import convention, exact
from netmend.vocabulary import PreparationFact, Site, Symptom, Trace


def line(call: str, kind: str = "convert", **loss: Any) -> Trace:
    """A run in which one line did this to a column."""
    name = call.rpartition(".")[2]
    seen = {"losses": [{"column": "price", **loss}]} if loss else {}
    return trace_of(PreparationFact(f"{name}@prepare.py:7", call, kind, Site("prepare.py", 7), seen=seen))


class DayAndMonthExchanged(Detector, code="D820"):
    """Dates are read with day and month exchanged, though other dates of the same column show which comes first.

    A date whose day is 12 or less can be read both ways. Where nothing says which is meant (`format="mixed"`, a parser that guesses), each is
    read on its own: these dates get another month, season and weekday, the rest are right.
    """

    least = convention(0.02, "share of dates; in healthy programs there is none")

    HEALTHY = {
        "dates read as they are": lambda: line("pandas.to_datetime"),
        "one odd date": lambda: line("pandas.to_datetime", mirrored=0.011, first="day", certain=300),
    }
    FAULTY = {
        "mixed": lambda: line("pandas.to_datetime", mirrored=0.37, first="day", certain=1100),
        "of a parser of one's own": lambda: line(
            "pandas.Series.map", mirrored=0.33, first="month", certain=80
        ),
    }

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact, loss in losses(trace, "mirrored"):
            share = float(loss["mirrored"])
            if share < self.least:
                continue
            first, other = loss["first"], "month" if loss["first"] == "day" else "day"
            message = (
                f"{call_of(fact)} read {share:.0%} of the dates in `{loss['column']}` with day and month exchanged: the {first} comes first there"
                f" ({loss['certain']:,} of the dates looked at can only be read so), and it was taken for the {other}."
            )
            yield self.symptom(message, fact.name, share, self.least, loss, site=fact.site)


class NumbersMisread(Detector, code="D821"):
    """Numbers are not those that their texts mean: a decimal comma was taken out, thousands read as decimals, a sign lost.

    The scale of a value then depends on how many digits happened to be printed: 3,5 becomes 35 and 3,47 becomes 347.
    """

    least = convention(0.02, "share of the values; in healthy programs there is none")

    HEALTHY = {"read as they are": lambda: line("pandas.Series.str.replace")}
    FAULTY = {
        "a decimal comma taken out": lambda: line(
            "pandas.Series.str.replace",
            misread=0.9,
            mistake="decimal mark taken out",
            decimal=",",
            thousands="",
            misread_shapes=["dd,d"],
            misread_least=10.0,
            misread_most=100.0,
        ),
        "thousands read as decimals": lambda: line(
            "pandas.read_csv",
            "read",
            misread=0.4,
            mistake="thousands read as decimals",
            decimal=",",
            thousands=".",
            misread_shapes=["d.ddd"],
            misread_least=0.001,
            misread_most=0.001,
        ),
    }

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact, loss in losses(trace, "misread"):
            share = float(loss["misread"])
            if share < self.least:
                continue
            written = " and ".join(loss["misread_shapes"][:2])
            message = (
                f"{share:.0%} of `{loss['column']}`{others(fact, 'misread', loss)} became other numbers than are written"
                f" (as {written}): {_WORDS[loss['mistake']].format(**loss)}{_times(loss)}."
            )
            yield self.symptom(message, fact.name, share, self.least, loss, site=fact.site)


_WORDS = {
    "sign": "the minus sign is gone",
    "decimal mark taken out": "the decimal mark '{decimal}' was taken out or for thousands",
    "all marks taken out": "all marks were taken out, the decimal one too",
    "cut at the first mark": "only what stands before the first mark was read",
    "thousands read as decimals": "the mark of thousands '{thousands}' was read as a decimal point",
}


def _times(loss: Any) -> str:
    least, most = float(loss["misread_least"]), float(loss["misread_most"])
    if loss["mistake"] == "sign":
        return ""
    return f", so they are {most:g} times too large" if least == most >= 1 else (
        f", so they are {least:g} to {most:g} times what they should be" if least != most else f", so they are {1 / most:g} times too small"
    )  # fmt: skip


class NumbersMadeMissing(Detector, code="D822"):
    """Values became missing in a conversion although they are written: numbers in another notation, dates in another order.

    `errors="coerce"`, `strict=False` and `genfromtxt` turn whatever they cannot read into missing values without a word. Amounts from 1,000 on,
    counts beyond a limit or every date after the 12th vanish, and what is filled in for them is wrong.
    """

    least = convention(0.01, "share of the rows")
    numbers = exact(0.5, "most of what was lost is a number or a date")

    HEALTHY = {
        "nothing lost": lambda: line("pandas.to_numeric"),
        "words": lambda: line("pandas.to_numeric", coerced=0.2, coerced_numbers=0.1, coerced_kinds=["unit"]),
    }
    FAULTY = {
        "thousands": lambda: line(
            "pandas.to_numeric",
            coerced=0.68,
            coerced_numbers=1.0,
            coerced_kinds=["marks"],
            coerced_shapes=["d,ddd.dd"],
            kept_shapes=["ddd.dd"],
            decimal=".",
            thousands=",",
        ),
        "limits": lambda: line(
            "numpy.genfromtxt",
            "read",
            coerced=0.2,
            coerced_numbers=1.0,
            coerced_kinds=["limit"],
            coerced_shapes=[">dddd"],
            kept_shapes=["ddd"],
            decimal=".",
            thousands="",
        ),
        "dates": lambda: line("pandas.to_datetime", coerced=0.6, coerced_dates=1.0, coerced_shapes=["dd/dd/dddd"], first="day"),
    }  # fmt: skip

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact, loss in losses(trace, "coerced"):
            share = float(loss["coerced"])
            written = max(float(loss.get("coerced_numbers", 0)), float(loss.get("coerced_dates", 0)))
            if share < self.least or written < self.numbers:
                continue
            missing = f"{loss['replaced_by']:g}" if "replaced_by" in loss else "missing"
            what = "dates" if loss.get("coerced_dates") else "numbers"
            kept = (
                f", while those written as {loss['kept_shapes'][0]} were kept"
                if loss.get("kept_shapes")
                else ""
            )
            message = (
                f"{call_of(fact)} made {share:.0%} of `{loss['column']}`{others(fact, 'coerced', loss)} {missing}, though these are {what},"
                f" written as {' and '.join(loss['coerced_shapes'][:2])}{kept}."
            )
            yield self.symptom(message, fact.name, share, self.least, loss, site=fact.site)


class TypeTooSmall(Detector, code="D826"):
    """A conversion changed numbers: they do not fit into the type, or the type has no sign or no decimals.

    Whole numbers beyond a type's range wrap round (300 becomes 44 in uint8, -1 becomes 255), floats become infinite, and shares between 0 and 1
    all become 0 as whole numbers.
    """

    least = convention(0.001, "share of the values")
    merged = convention(0.1, "share of different values that are left")

    HEALTHY = {"they fit": lambda: line("pandas.Series.astype")}
    FAULTY = {
        "wrapped": lambda: line("pandas.Series.astype", wrapped=0.2, sign_lost=False, type="uint8"),
        "infinite": lambda: line("pandas.Series.astype", overflowed=0.01, type="float16"),
        "all zero": lambda: line("pandas.Series.astype", flattened=300, type="int64"),
        "no longer told apart": lambda: line(
            "pandas.Series.astype", merged=300, merged_left=4, type="float32"
        ),
        "seconds as nanoseconds": lambda: line("pandas.to_datetime", epoch="s"),
    }

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for key, words in _TOO_SMALL.items():
            for fact, loss in losses(trace, key):
                observed = float(loss[key]) if not isinstance(loss[key], str) else 1.0
                if key in ("wrapped", "overflowed") and observed < self.least:
                    continue
                kind = f" to {loss['type']}" if loss.get("type") else ""
                told = words.format(call=call_of(fact), to=kind, **{"merged_left": 0, **loss})
                sign = " Most of them were negative." if loss.get("sign_lost") else ""
                yield self.symptom(
                    told + sign, fact.name, observed, None, {**loss, "key": key}, site=fact.site
                )


_TOO_SMALL = {
    "wrapped": "{call}{to} changed {wrapped:.1%} of `{column}`: these numbers do not fit into the type and became others.",
    "overflowed": "{call}{to} made {overflowed:.1%} of `{column}` infinite: these numbers do not fit into the type.",
    "flattened": "{call}{to} left one number of the {flattened:,} different ones in `{column}`: all of its information is gone.",
    "merged": "{call}{to} left {merged_left:,} of {merged:,} different numbers in `{column}`: the type has too few digits for them.",
    "epoch": "{call} read the seconds in `{column}` as nanoseconds: all dates are 1 January 1970.",
}


class BytesMisread(Detector, code="D827"):
    """Bytes were read as numbers of another type than they were written with, or together with the header of their file.

    Two bytes of one 16-bit sample become two samples, the order of bytes is the other one, or whole numbers are taken for floats. What comes
    out has the right length, or twice that, and is noise.
    """

    HEALTHY = {"as they were written": lambda: line("numpy.frombuffer", "read")}
    FAULTY = {
        "halves of samples": lambda: _of_bytes(mistake="halves", meant="int16", type="uint8"),
        "the other order": lambda: _of_bytes(mistake="byte order", meant=">i2", type="int16"),
        "a header": lambda: _of_bytes(mistake="header", header="a WAV header", type="int16"),
    }

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in prepared(trace, "read"):
            found = fact.seen.get("misread_bytes")
            if found:
                told = _BYTES[found["mistake"]].format(call=call_of(fact), **found)
                yield self.symptom(told, fact.name, detail=found, site=fact.site)


_BYTES = {
    "halves": "{call} read bytes as {type} though two of them make one number: every second one is almost always near 0.",
    "byte order": "{call} read {type} with the bytes of each number exchanged: the other way round neighbours differ far less.",
    "no floats": "{call} read bytes as {type}, and a large part of these numbers is infinite, not a number or next to nothing.",
    "header": "{call} read {header} as {type}: the file does not begin with its numbers.",
}


def _of_bytes(**found: Any) -> Trace:
    name = "frombuffer@prepare.py:7"
    site = Site("prepare.py", 7)
    return trace_of(PreparationFact(name, "numpy.frombuffer", "read", site, seen={"misread_bytes": found}))


class TextMisread(Detector, code="D828"):
    """A file's text was read with another encoding or layout than it has: garbled letters, a first row taken for names, zeros gone.

    "München" becomes "MÃ¼nchen" and no longer matches other files; a file without a header loses its first row; "007" and "7" become one code.
    """

    letters = convention(2, "different garbled texts")
    codes = exact(1, "codes that can no longer be told apart")

    HEALTHY = {"as it is": lambda: line("pandas.read_csv", "read"), "one odd name": lambda: _read(garbled=1)}
    FAULTY = {
        "another encoding": lambda: _read(garbled=12),
        "no header": lambda: _read(header_eaten=5),
        "leading zeros": lambda: line("pandas.read_csv", "read", zeros_lost=12),
    }

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in prepared(trace, "read"):
            garbled, eaten = fact.seen.get("garbled", 0), fact.seen.get("header_eaten", 0)
            if garbled >= self.letters:
                told = f"{call_of(fact)} read text that is UTF-8 with another encoding: {garbled:,} different values are garbled."
                yield self.symptom(
                    told, fact.name, garbled, self.letters, {"mistake": "garbled"}, site=fact.site
                )
            if eaten:
                told = f"{call_of(fact)} took the first row for the names of the columns, and {eaten} of these names are numbers like those below them."
                yield self.symptom(told, fact.name, eaten, None, {"mistake": "header"}, site=fact.site)
        for fact, loss in losses(trace, "zeros_lost"):
            count = loss["zeros_lost"]
            if count >= self.codes:
                told = f"{call_of(fact)} read the codes in `{loss['column']}` as numbers: their leading zeros are gone, and {count:,} of them became the same as others."
                yield self.symptom(
                    told, fact.name, count, self.codes, {**loss, "mistake": "zeros"}, site=fact.site
                )


class NumbersAsCategories(Detector, code="D829"):
    """A column of numbers was read as text and encoded as if each number were the name of a class.

    One "?" or a mark of thousands makes pandas keep a whole column as text. Codes follow the order of the texts or of their appearance, so 9 may
    come after 10, and what is near is no longer near.
    """

    different = convention(20, "different numbers")

    HEALTHY = {
        "names": lambda: _encoded(),
        "few": lambda: _encoded(column="rooms", different=6, shapes=["d"], odd=["?"]),
    }
    FAULTY = {
        "a question mark": lambda: _encoded(
            column="horsepower", different=93, shapes=["ddd", "dd"], odd=["?"]
        ),
    }

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in prepared(trace, "encode", "convert"):
            found = fact.seen.get("numbers_as_categories")
            if found and found["different"] >= self.different:
                beside = f", beside {' '.join(repr(text) for text in found['odd'])}" if found["odd"] else ""
                told = (
                    f"{call_of(fact)} encoded `{found['column']}` as categories, though its texts are {found['different']:,} different numbers"
                    f" (written as {' and '.join(found['shapes'][:2])}{beside})."
                )
                yield self.symptom(told, fact.name, found["different"], self.different, found, site=fact.site)


def _read(**seen: Any) -> Trace:
    return trace_of(
        PreparationFact("read_csv@prepare.py:7", "pandas.read_csv", "read", Site("prepare.py", 7), seen=seen)
    )


def _encoded(**found: Any) -> Trace:
    seen = {"numbers_as_categories": found} if found else {}
    return trace_of(
        PreparationFact(
            "factorize@prepare.py:7", "pandas.factorize", "encode", Site("prepare.py", 7), seen=seen
        )
    )
