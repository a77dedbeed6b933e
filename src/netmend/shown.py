"""Results that show themselves: `report/` knows how, and is loaded only when somebody looks."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# What tells of a result and what its JSON holds, by its class: results are made below `report/`, which imports them.
FORMS = {
    "Adequacy": ("adequacy:adequacy_document", "adequacy:ADEQUACY"),
    "Located": ("locate:located_document", "locate:LOCATED"),
    "Mended": ("mend.search:mend_document", "mend.search:MENDED"),
    "Outcome": ("check.findings:outcome_text", "check.json:OUTCOME"),
}


class Shown:
    """Prints itself; `json()` is the form for machines (docs/json.md)."""

    def json(self) -> str:
        return str(_form(self, 1).json(self))

    def __str__(self) -> str:
        shown = _form(self, 0)(self)
        if isinstance(shown, str):
            return shown
        from netmend.report.terminal import as_text, draw

        return as_text(draw(shown), no_color=True)


def _form(result: Shown, which: int) -> Any:
    module, _, name = FORMS[type(result).__name__][which].partition(":")
    return getattr(import_module(f"netmend.report.{module}"), name)
