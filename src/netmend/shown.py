"""Results that show themselves: `report/` knows how, and is loaded only when somebody looks."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# What tells of a result and what its JSON holds, by its class: results are made below `report/`, which imports them.
FORMS = {
    "Adequacy": ("adequacy", "adequacy_document", "ADEQUACY"),
    "Located": ("locate", "located_document", "LOCATED"),
    "Mended": ("mend.search", "mend_document", "MENDED"),
}


class Shown:
    """Prints itself; `json()` is the form for machines (docs/json.md)."""

    def json(self) -> str:
        return str(_forms(self)[1].json(self))

    def __str__(self) -> str:
        from netmend.report.terminal import as_text, draw

        return as_text(draw(_forms(self)[0](self)), no_color=True)


def _forms(result: Shown) -> tuple[Any, Any]:
    name, document, fields = FORMS[type(result).__name__]
    module = import_module(f"netmend.report.{name}")
    return getattr(module, document), getattr(module, fields)
