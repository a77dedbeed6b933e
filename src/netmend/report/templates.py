"""The templates of the HTML pages, and what they may ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from netmend.report.content import Document

CLASSES = {
    "good": "healthy",
    "plain": "undecided",
    "warn": "undecided",
    "bad": "faulty",
}  # of the style sheet


def templates() -> Environment:
    """Everything that comes from the user's program is escaped; a name that does not exist is an error."""
    environment = Environment(
        loader=PackageLoader("netmend", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["with_code"] = with_code
    return environment


def page(
    template: str,
    document: Document,
    headline: str,
    title: str = "",
    styles: Sequence[str] = (),
    **parts: Any,
) -> str:
    """One self-contained page. Everything that comes from the user's program is escaped."""
    environment = templates()
    names = ("page.css", "repair.css", *styles)
    words = document.verdict
    return environment.get_template(template).render(
        title=f"{title or headline}: {words} – netmend",
        style=Markup("\n".join(environment.get_template(name).render() for name in names)),
        verdict=(CLASSES[document.tone], f"{words[:1].upper()}{words[1:]}"),
        headline=headline,
        **parts,
    )


def with_code(text: str) -> Markup:
    """Text with `names in backticks` set as code; everything else is escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # an odd backtick out: leave the text as it is
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    )
