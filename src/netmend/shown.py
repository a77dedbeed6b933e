"""Results that show themselves: `report/` knows how, and is loaded only when somebody looks."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# What tells of a result, what its JSON holds, and its page, by its class: results are made below `report/`, which imports them.
FORMS = {
    "Adequacy": ("adequacy:adequacy_document", "adequacy:ADEQUACY"),
    "Located": ("locate:located_document", "locate:LOCATED"),
    "Mended": ("mend.search:mend_document", "mend.search:MENDED"),
    "MutationResult": (
        "mutate.document:mutation_document",
        "mutate.document:MUTATION",
        "mutate.page:mutation_page",
    ),
    "Neutrality": (
        "neutral.document:neutral_document",
        "neutral.document:NEUTRALITY",
        "neutral.page:neutral_page",
    ),
    "Outcome": ("check.findings:outcome_text", "check.json:OUTCOME"),
    "RlStudy": ("agents:study_document", "agents:STUDY", "agents:study_page"),
}
DOCUMENT, JSON, PAGE = range(3)


class Shown:
    """Prints itself; `json()` is the form for machines (docs/json.md)."""

    def json(self) -> str:
        return str(form(self, JSON).json(self))

    def __str__(self) -> str:
        shown = form(self, DOCUMENT)(self)
        if isinstance(shown, str):
            return shown
        from netmend.report.terminal import as_text, draw

        return as_text(draw(shown), no_color=True)


def form(result: Any, which: int) -> Any:
    module, _, name = FORMS[type(result).__name__][which].partition(":")
    return getattr(import_module(f"netmend.report.{module}"), name)
