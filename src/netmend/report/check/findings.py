"""What `netmend check` found, in every form. Each form loads when it is asked for: text needs no JSON, and nothing needs rich."""

from __future__ import annotations

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
    if form == "text":
        from netmend.report.check.text import as_text

        return as_text(outcome, look)
    if form == "concise":
        from netmend.report.check.text import as_text

        return as_text(outcome, replace(look, width=None, excerpts=False))
    if form == "json":
        from netmend.report.check.json import OUTCOME

        return OUTCOME.json(outcome)
    if form == "sarif":
        from netmend.report.check.code_scanning import as_sarif

        return as_sarif(outcome)
    if form in ("github", "gitlab"):
        from netmend.report.check.code_scanning import as_github, as_gitlab

        return as_github(outcome) if form == "github" else as_gitlab(outcome)
    raise UsageError(f"--format must be one of {', '.join(FORMATS)}, got {form!r}")


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
