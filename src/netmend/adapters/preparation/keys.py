"""Keys of two tables that are joined: which find no partner, and whether only their spelling keeps them from one."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

_MOST = 20_000  # keys that are looked at on each side
_MOST_SPELLED = 5_000  # different keys that are spelled otherwise
_EXAMPLES = 3


def _plain(text: str) -> str:
    return text.strip()


def _folded(text: str) -> str:
    return text.strip().casefold()


def _unpadded(text: str) -> str:
    text = text.strip()
    return text.lstrip("0") or "0" if text.isdigit() else text


def _whole(text: str) -> str:
    return _unpadded(re.sub(r"^(\s*-?\d+)\.0+\s*$", r"\1", text))


def _letters(text: str) -> str:
    """Letters and digits alone, without accents."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return _whole("".join(sign for sign in plain if sign.isalnum()))


# From the smallest change on: what keeps keys apart, by what brings them together.
SPELLINGS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("type", str),
    ("spaces", _plain),
    ("case", _folded),
    ("zeros", _unpadded),
    ("decimals", _whole),
    ("signs", _letters),
)


def partners(left: Iterable[Any], right: Iterable[Any]) -> dict[str, Any]:
    """Rows on the left without a partner, keys that stand several times, and whether spelling keeps partners apart."""
    one, other = _keys(left), _keys(right)
    every = set(other)
    alone = [key for key in one if key not in every]
    seen: dict[str, Any] = {
        "alone": len(alone) / len(one) if one else 0.0,
        "repeated_left": 1 - len(set(one)) / len(one) if one else 0.0,
        "repeated_right": 1 - len(every) / len(other) if other else 0.0,
    }
    return seen | by_spelling(one, every) if alone else seen


def by_spelling(keys: Sequence[Hashable], known: set[Any]) -> dict[str, Any]:
    """The share of the keys that find a partner only once both are spelled alike, and what has to be done for it."""
    alone = Counter(key for key in keys if key not in known and not _is_missing(key))
    if len(alone) > _MOST_SPELLED or len(known) > 10 * _MOST_SPELLED:
        return {}  # every row another key: nothing that a person wrote
    best: dict[str, Any] = {}
    for name, spell in SPELLINGS:
        spelled = {_spelled(key, spell): key for key in known}
        if len(spelled) < 0.98 * len(known):  # what is spelled alike is not the same there
            continue
        found = [key for key in alone if _spelled(key, spell) in spelled]
        share = sum(alone[key] for key in found) / len(keys)
        if found and share > 1.05 * best.get("alone_by_spelling", 0.0):
            pairs = [(str(key), str(spelled[_spelled(key, spell)])) for key in found]
            best = {
                "alone_by_spelling": share,
                "keys_by_spelling": len(pairs),
                "spelling": name,
                "spelled": [" / ".join(pair) for pair in pairs[:_EXAMPLES]],
            }
    return best


def _keys(values: Iterable[Any]) -> list[Hashable]:
    found = []
    for value in values:
        found.append(value)
        if len(found) >= _MOST:
            break
    return found


def _spelled(key: Any, spell: Callable[[str], str]) -> str:
    if isinstance(key, tuple):
        return "\0".join(_spelled(part, spell) for part in key)
    return spell(str(key))


def _is_missing(key: Any) -> bool:
    if isinstance(key, tuple):
        return any(map(_is_missing, key))
    return (
        key is None
        or key == ""
        or (isinstance(key, float) and math.isnan(key))
        or str(key) in ("nan", "NaT", "<NA>", "None")
    )
