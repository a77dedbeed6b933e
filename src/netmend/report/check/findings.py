"""What `netmend check` found, in every form. Each form loads when it is asked for: text needs no JSON, and nothing needs rich."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from netmend.errors import UsageError
from netmend.report.check.look import Look, look_of, write_to

if TYPE_CHECKING:
    from netmend.check.outcome import Outcome

__all__ = ["FORMATS", "Look", "look_of", "render", "statistics", "summary", "write_to"]

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab")
_PLAIN = Look()


def render(form: str, outcome: Outcome, look: Look = _PLAIN) -> str:
    """The findings in one of the forms; text has neither problems nor the summary."""
    if form not in FORMATS:
        raise UsageError(f"--format must be one of {', '.join(FORMATS)}, got {form!r}")
    if form in ("text", "concise"):
        from netmend.report.check.text import as_text

        return as_text(outcome, look if form == "text" else replace(look, width=None, excerpts=False))
    if form == "json":
        from netmend.report.check.json import OUTCOME

        return OUTCOME.json(outcome)
    from netmend.report.check import code_scanning

    write: dict[str, Callable[[Outcome], str]] = {
        "sarif": code_scanning.as_sarif,
        "github": code_scanning.as_github,
        "gitlab": code_scanning.as_gitlab,
    }
    return write[form](outcome)


def summary(outcome: Outcome, look: Look = _PLAIN, unsafe: bool = False) -> str:
    """The closing lines of text output. `unsafe`: unsafe fixes were asked for, so they count as fixable."""
    from netmend.report.check.text import closing

    return closing(outcome, look, unsafe)


def outcome_text(outcome: Outcome) -> str:
    """An outcome as it shows itself."""
    return (render("text", outcome) + summary(outcome)).rstrip()


def statistics(outcome: Outcome, form: str = "text", look: Look = _PLAIN) -> str:
    """How often each rule spoke."""
    from netmend.report.check.json import as_data, as_table

    if form == "json":
        return as_data(outcome)
    if form != "text":
        raise UsageError(f"--statistics goes with --format text or json, got {form!r}")
    return as_table(outcome, look)
