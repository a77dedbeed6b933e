"""Texts read as other dates and numbers than they say, and types that cannot hold what they are given."""

from __future__ import annotations

from netmend.diagnose.detectors.conversions import (
    BytesMisread,
    DayAndMonthExchanged,
    NumbersAsCategories,
    NumbersMadeMissing,
    NumbersMisread,
    TextMisread,
    TypeTooSmall,
)
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, Accusation, accuses
from netmend.vocabulary import Symptom


@accuses("PRE-WRONG-DTYPE", DayAndMonthExchanged)
def day_and_month_exchanged(case: Case, symptom: Symptom) -> Accusation:
    """Dates are read with day and month exchanged wherever both readings are possible.

    Season, month and weekday are wrong for more than a third of the rows, in every part alike, so no score tells. Say how the dates are written:
    `pd.to_datetime(s, format="%d/%m/%Y")`, or `dayfirst=True`.
    """
    first = symptom.detail["first"]
    written = "%d/%m/%Y" if first == "day" else "%m/%d/%Y"
    return Accusation(
        PROVEN + 1.0,
        reason="Each text is read on its own, and one whose two numbers are both 12 or less fits both orders: these rows get another month, season and weekday.",
        remedy=f'Say how the dates are written: pd.to_datetime(…, format="{written}") with the marks of the file, or dayfirst={first == "day"}.',
        refutation=f"The file holds dates of both orders; but then no date of `{symptom.detail['column']}` would be sure.",
    )


_NOTATION = {
    "sign": "Keep the sign: replace brackets or the typographic minus by '-' before the numbers are read.",
    "decimal mark taken out": "Replace the decimal mark by a point instead of removing it: .str.replace({thousands!r}, '').str.replace({decimal!r}, '.'), or read with decimal={decimal!r}{read}.",
    "all marks taken out": "Take only the mark of thousands out and put a point in the place of the decimal one: read with decimal={decimal!r}{read}.",
    "cut at the first mark": "Read the whole number: take the mark of thousands out first, .str.replace({thousands!r}, '', regex=False).",
    "thousands read as decimals": "Read with thousands={thousands!r}, decimal={decimal!r}, or take the mark of thousands out first: .str.replace({thousands!r}, '', regex=False).",
}


@accuses("PRE-WRONG-DTYPE", NumbersMisread)
def numbers_misread(case: Case, symptom: Symptom) -> Accusation:
    """Numbers are read as others than are written: marks of decimals and thousands are mistaken for each other, or a sign is lost.

    How wrong a value is depends on how it was printed, so no scaling puts it right. Tell the reader how numbers are written:
    `pd.read_csv(…, decimal=",", thousands=".")`.
    """
    detail = symptom.detail
    read = f", thousands={detail['thousands']!r}" if detail["thousands"] else ""
    remedy = _NOTATION[detail["mistake"]].format(read=read, **detail)
    return Accusation(
        PROVEN + 1.0,
        reason="The same column holds values that are right and values that are wrong by a factor that depends on how many digits are printed.",
        remedy=remedy.replace(".str.replace('', '')", ""),
        refutation="The marks mean something else in this file than in all numbers that leave no doubt.",
    )


_KINDS = {
    "limit": "Read measurements beyond a limit as the limit: .str.lstrip('<>') before the conversion, or converters={{0: lambda v: float(v.lstrip('<>'))}}.",
    "marks": "Tell the reader how numbers are written: read_csv(…, thousands={thousands!r}, decimal={decimal!r}), or take the mark out first: .str.replace({thousands!r}, '', regex=False).",
    "money": "Take the currency off first: .str.replace(r'[^0-9.-]', '', regex=True).",
    "percent": "Take the sign off first: .str.rstrip('%').",
    "brackets": "Write bracketed numbers with a minus first: .str.replace('(', '-').str.rstrip(')').",
    "unit": "Take the unit off first, and bring all rows to one unit.",
}


@accuses("PRE-MISS-CLEAN", NumbersMadeMissing)
def numbers_made_missing(case: Case, symptom: Symptom) -> Accusation:
    """Values that are written in the data become missing because the conversion cannot read their notation.

    What is lost is no random part: all amounts from a thousand on, all counts beyond a limit, all dates after the 12th. Whatever fills the gaps
    puts something average, or 0, in the place of the extreme. Read the notation, and let what cannot be read raise an error.
    """
    detail = symptom.detail
    if detail.get("coerced_dates"):
        written = {"day": "%d/%m/%Y", "month": "%m/%d/%Y"}.get(detail.get("first", ""), "…")
        remedy = (
            f'Give the format of the file, and no errors="coerce": pd.to_datetime(…, format="{written}").'
        )
    else:
        kind = next((kind for kind in _KINDS if kind in detail.get("coerced_kinds", ())), "unit")
        plain = {
            "decimal": detail.get("decimal") or ".",
            "thousands": detail.get("thousands") or ("." if detail.get("decimal") == "," else ","),
        }
        remedy = _KINDS[kind].format(**plain)
    return Accusation(
        PROVEN + 1.0,
        reason="What cannot be read is made missing without a word, and these values are no random ones: what is filled in for them is wrong.",
        remedy=remedy,
        refutation="These values are meant to be left out.",
    )


_TYPES = {
    "wrapped": "Use a type that holds the whole range: int32 or float32.",
    "overflowed": "Use float32: float16 ends at 65,504.",
    "flattened": "Keep the decimals: convert to float32, or multiply before rounding.",
    "merged": "Keep int64 or float64, or subtract the first value before converting.",
    "epoch": 'Say the unit: pd.to_datetime(…, unit="s").',
}


@accuses("PRE-WRONG-DTYPE", TypeTooSmall)
def type_too_small(case: Case, symptom: Symptom) -> Accusation:
    """A conversion changes numbers because the type cannot hold them.

    Nothing is said when a number wraps round, loses its decimals or becomes infinite. Choose a type that holds the whole range, and convert after
    the arithmetic, not before.
    """
    key = symptom.detail["key"]
    remedy = _TYPES[key]
    if key == "epoch":
        remedy = f'Say the unit: pd.to_datetime(…, unit="{symptom.detail["epoch"]}").'
    return Accusation(
        PROVEN if key in ("wrapped", "epoch", "overflowed") else PROVEN - 1.5,
        reason="The type has too few bits, no sign or no decimals for these numbers; nothing is raised.",
        remedy=remedy,
        refutation="The numbers are meant to be cut, wrapped or rounded here.",
    )


_BYTES = {
    "halves": 'Read them as they were written: dtype="{meant}".',
    "byte order": 'Say the order of the bytes: dtype="{meant}".',
    "no floats": 'Read them with the type they were written with, for example dtype="int16", and convert then.',
    "header": "Read the file with a reader of its format (wave, soundfile, np.load), or skip its header with offset=.",
}


@accuses("PRE-WRONG-DTYPE", BytesMisread)
def bytes_misread(case: Case, symptom: Symptom) -> Accusation:
    """Bytes are read as numbers of another type than they were written with.

    `np.frombuffer` and `np.fromfile` believe whatever type they are given. Look it up in the file's format (`getsampwidth()` of a WAV file) and
    give it, with the order of bytes: `np.frombuffer(data, dtype="<i2")`.
    """
    return Accusation(
        PROVEN,
        reason="No type is stored with bare bytes, so nothing is raised: what comes out is noise instead of a signal.",
        remedy=_BYTES[symptom.detail["mistake"]].format(**symptom.detail),
        refutation="The bytes were written with this type.",
    )


_TEXTS = {
    "garbled": ('Read the file as what it is: encoding="utf-8".', "The texts are garbled in the file itself."),
    "header": ("Say that there is no header: read_csv(…, header=None, names=[…]).", "The names of the columns really are numbers."),
    "zeros": ("Read codes as text: read_csv(…, dtype={{{column!r}: str}}).", "Codes that differ in leading zeros only mean the same."),
}  # fmt: skip


@accuses("PRE-WRONG-DTYPE", TextMisread)
def text_misread(case: Case, symptom: Symptom) -> Accusation:
    """A file is read with another encoding or layout than it has.

    Names no longer match those of other files, a row is lost or codes fall together, without an error. Say how the file is written:
    `encoding=`, `header=None`, `dtype={"zip": str}`.
    """
    remedy, refutation = _TEXTS[symptom.detail["mistake"]]
    return Accusation(
        PROVEN,
        reason="The reader guesses what is not said, and what it guessed does not fit this file.",
        remedy=remedy.format(column=symptom.detail.get("column", "")),
        refutation=refutation,
    )


@accuses("PRE-WRONG-DTYPE", NumbersAsCategories)
def numbers_as_categories(case: Case, symptom: Symptom) -> Accusation:
    """Numbers that were read as text are encoded like names of classes.

    Their order and distances are gone. Declare what is no number, `pd.read_csv(…, na_values=["?"])`, or convert with `pd.to_numeric`.
    """
    odd = symptom.detail["odd"]
    way = f"na_values={list(odd)!r}" if odd else "thousands= and decimal= as the file has them"
    return Accusation(
        PROVEN - 0.5,
        reason="Codes of texts have nothing to do with the size of the numbers, so values that are near each other are no longer near.",
        remedy=f"Read the column as numbers: read_csv(…, {way}), and check that its dtype is a number.",
        refutation=f"The numbers in `{symptom.detail['column']}` are codes without order.",
    )
