"""What the rules think: the log-odds of every cause that they accuse, and how the strongest stand against each other."""

from __future__ import annotations

from collections.abc import Mapping

from netmend.vocabulary import LEAVES

NOBODY = -6.0  # log-odds of a cause that no rule accuses; less than any accusation
PREFIX = "rules:"

WORDS = {
    **{
        f"{PREFIX}{code}": f"how sure the rules are of {code} ({leaf.title})" for code, leaf in LEAVES.items()
    },
    "rules_surest": "how sure the rules are of their likeliest cause",
    "rules_second": "how sure the rules are of their second likeliest cause",
    "rules_accused": "number of causes that the rules accuse",
}


def of(accusations: Mapping[str, float]) -> dict[str, float]:
    ordered = [*sorted(accusations.values(), reverse=True), NOBODY, NOBODY]
    found = {f"{PREFIX}{code}": accusations.get(code, NOBODY) for code in LEAVES}
    return found | {
        "rules_surest": ordered[0],
        "rules_second": ordered[1],
        "rules_accused": float(len(accusations)),
    }
