"""A study of a reinforcement-learning program as one self-contained HTML page."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from netmend.mutate.agents.result import RlStudy
from netmend.report.agents.words import (
    end_remarks,
    mutant_grid,
    operator_grid,
    score_remarks,
    setting_remarks,
    start_grid,
    verdict_words,
)
from netmend.report.templates import templates

_CLASSES = {"good": "healthy", "plain": "undecided", "warn": "undecided"}  # of the style sheet


def rl_html(found: RlStudy) -> str:
    """The page as a string. Everything that comes from the user's program is escaped."""
    environment = templates()
    tone, words = verdict_words(found)
    headline = f"{found.algorithm} in {found.environment}"
    return environment.get_template("rl.html").render(
        title=f"{headline}: {words} – netmend",
        style=Markup(
            "\n".join(environment.get_template(name).render() for name in ("page.css", "repair.css"))
        ),
        verdict=(_CLASSES[tone], f"{words[:1].upper()}{words[1:]}"),
        headline=headline,
        setting=tuple(setting_remarks(found)),
        operators=operator_grid(found),
        scores=tuple(score_remarks(found)),
        starts=replace(start_grid(found), caption=""),
        mutants=replace(mutant_grid(found), caption=""),
        cost=tuple(end_remarks(found)),
    )
