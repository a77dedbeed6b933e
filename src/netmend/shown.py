"""Results that show themselves: `report/` knows how, and is loaded only when somebody looks."""

from __future__ import annotations

from importlib import import_module
from io import StringIO
from typing import Any

# What makes the JSON and the text of a result, by its class: results are made below `report/`, which imports them.
FORMS = {
    "Adequacy": ("adequacy.as_json:adequacy_json", "adequacy.text:adequacy_text"),
    "Located": ("locate.as_json:locate_json", "locate.text:locate_text"),
    "Mended": ("mend.as_json:mend_json", "mend.text:mend_text"),
}


class Shown:
    """Prints itself; `json()` is the form for machines (docs/json.md)."""

    def json(self) -> str:
        return str(_form(self, 0))

    def __str__(self) -> str:
        from netmend.report.terminal import console

        stream = StringIO()
        console(stream, no_color=True).print(_form(self, 1))
        return stream.getvalue().rstrip()


def _form(result: Shown, which: int) -> Any:
    module, _, name = FORMS[type(result).__name__][which].partition(":")
    return getattr(import_module(f"netmend.report.{module}"), name)(result)
