"""Small literal runs that consist of facts alone, for the examples of detectors."""

from __future__ import annotations

from netmend.vocabulary import RunFact, Trace
from netmend.vocabulary.facts import KIND_OF_FACT, Fact


def with_facts(*facts: Fact) -> Trace:
    """A run of 100 steps of which nothing but these facts is known."""
    found: dict[str, dict[str, Fact]] = {}
    for fact in (RunFact("example", "train.py", steps=100, status="finished"), *facts):
        found.setdefault(KIND_OF_FACT[type(fact)], {})[fact.name] = fact
    return Trace(facts=found)
