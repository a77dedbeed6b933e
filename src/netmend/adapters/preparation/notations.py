"""How numbers are written as text: which mark parts decimals and which thousands, and what number a text means.

Nothing of the texts is kept but their shape: "2,350.00" is "d,ddd.dd".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_DIGITS = re.compile(r"\d")
# A number with its marks, within what may stand around it: a currency, a sign, a unit, a limit of measurement.
_NUMBER = re.compile(
    r"^\s*(?P<limit>[<>≤≥]=?|~|ca\.?)?\s*(?P<before>[^\w\s.,+()-]|[A-Z]{3}|[A-Za-z]?[$£€])?\s*(?P<open>\()?(?P<sign>[+\-−])?\s*[$£€]?"
    r"(?P<number>\d[\d.,'\u00a0\u202f ]*|[.,]\d+)(?P<power>[eE][+-]?\d+)?\s*(?P<close>\))?\s*(?P<after>%|[^\W\d_][\w/²³°]{0,7}|[^\w\s.,()]{1,3})?\s*$"
)
_PLAIN = re.compile(r"^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$")
_GROUPED = {mark: re.compile(rf"^[1-9]\d{{0,2}}(?:\{mark}\d{{3}})+(?!\d)") for mark in ",."}
_LIMITS = "<>≤≥"
LOOKED_AT = 300  # texts of a column
_ENOUGH = 3  # texts that speak for a mark
_MANY = 10  # texts with one mark and three digits behind it, before they count as thousands
_CONTRARY = 0.02  # share of texts that may speak for the other reading
# Texts that stand for nothing, however they are read.
ABSENT = frozenset(
    ("", "na", "n/a", "nan", "none", "null", "-", "--", "?", ".", "..", "nil", "#n/a", "<na>", "#na", "nat", "missing", "unknown", "n.a.", "x", "*")
)  # fmt: skip


@dataclass(frozen=True)
class Notation:
    """Which mark parts decimals and which thousands; "" where the texts have none."""

    decimal: str
    thousands: str


def shape(text: str) -> str:
    """The pattern of a text: every digit a d, every letter an a, the rest as it is; long runs are cut short."""
    plain = re.sub(r"\d", "d", re.sub(r"[^\W\d_]", "a", text.strip()))
    return re.sub(r"(.)\1{4,}", r"\1\1\1\1…", plain)[:24]


def usual_shapes(texts: Iterable[str], most: int = 3) -> list[str]:
    return [pattern for pattern, _ in Counter(map(shape, texts)).most_common(most)]


def is_plain(text: str) -> bool:
    """Whether Python and pandas read it as the number that it is."""
    return _PLAIN.match(text) is not None


def is_absent(text: str) -> bool:
    return text.strip().lower() in ABSENT


def is_limit(text: str) -> bool:
    """A measurement beyond a limit: ">1011"."""
    return text.strip()[:1] in _LIMITS and number(text, Notation(".", ",")) is not None


def notation(texts: Sequence[str]) -> Notation | None:
    """What the marks mean in numbers written as text, where these leave no doubt."""
    texts = texts[:: -(-len(texts) // LOOKED_AT) or 1]
    written = [found["number"].strip() for text in texts if (found := _NUMBER.match(text)) is not None]
    if len(written) < max(_ENOUGH, 0.5 * len(texts)):
        return None
    decimals = {mark: sum(_is_decimal(text, mark) for text in written) for mark in ",."}
    thousands = {mark: sum(_is_thousands(text, mark) for text in written) for mark in ",."}
    few = _CONTRARY * len(written)
    for mark, other in (",.", ".,"):
        if decimals[mark] >= _ENOUGH and thousands[mark] <= few and decimals[other] <= few:
            return Notation(mark, other if thousands[other] > few else "")
    for mark, other in (",.", ".,"):
        if thousands[mark] >= _ENOUGH and decimals[mark] <= few and thousands[other] <= few:
            return Notation(other, mark)
    for mark, other in (",.", ".,"):
        if not decimals[mark] and not thousands[other] and _are_all_grouped(written, mark):
            return Notation(other, mark)
    return None


def _is_decimal(text: str, mark: str) -> bool:
    """Certainly decimals: behind the last mark there are not three digits, or before it there is no group of one to three."""
    whole, found, rest = text.rpartition(mark)
    other = "." if mark == "," else ","
    if not found or mark in whole or other in rest or not rest.isdigit():
        return False
    if other in whole:
        return _GROUPED[other].match(whole) is not None and len(rest) > 0
    return len(rest) != 3 or len(whole) > 3 or whole in ("", "0") or whole.startswith("0")


def _is_thousands(text: str, mark: str) -> bool:
    """Certainly thousands: several marks, or the other one behind it."""
    found = _GROUPED[mark].match(text)
    if found is None:
        return False
    rest = text[found.end() :]
    other = "." if mark == "," else ","
    return (text.count(mark) > 1 and not rest) or (rest.startswith(other) and rest[1:].isdigit())


def _are_all_grouped(written: Sequence[str], mark: str) -> bool:
    """Numbers below a thousand have no mark, all others one before every three digits."""
    marked = [text for text in written if mark in text]
    plain = [text for text in written if mark not in text]
    return (
        len(marked) >= _MANY
        and len(plain) >= _ENOUGH
        and all(_GROUPED[mark].fullmatch(text) for text in marked)
        and all(text.isdigit() and len(text) <= 3 for text in plain)
        and any(set(text.partition(mark)[2]) != {"0"} for text in marked)
    )


def number(text: str, way: Notation | None) -> float | None:
    """The number that a text means; None where it means none."""
    if is_plain(text) and (way is None or (way.decimal, way.thousands) in ((".", ""), (".", ","))):
        return float(text)
    found = _NUMBER.match(text)
    if found is None:
        return None
    written = re.sub(r"['\u00a0\u202f ]", "", found["number"]).rstrip(".,")
    if way is None:
        way = Notation(".", "")
    if way.thousands and way.thousands in written:
        if _GROUPED[way.thousands].match(written) is None:
            return None
        written = written.replace(way.thousands, "")
    if way.decimal and way.decimal != ".":
        written = written.replace(way.decimal, ".")
    try:
        value = float(written + (found["power"] or ""))
    except ValueError:
        return None
    return -value if found["sign"] in ("-", "−") or (found["open"] and found["close"]) else value


def kind_of_number(text: str) -> str:
    """In what way a text is a number: "plain", "marks" (of thousands or decimals), "limit", "money", "percent", "brackets" or "unit"; "" for none."""
    if is_plain(text):
        return "plain"
    found = _NUMBER.match(text)
    if found is None or all(number(text, way) is None for way in (Notation(".", ","), Notation(",", "."))):
        return ""
    if found["limit"]:
        return "limit"
    after = found["after"] or ""
    if found["before"] or after in ("$", "£", "€", "¥"):
        return "money"
    if after:
        return "percent" if after == "%" else "unit"
    return "brackets" if found["open"] else "marks"
