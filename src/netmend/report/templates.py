"""The templates of the HTML pages, and what they may ask for."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape


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


def with_code(text: str) -> Markup:
    """Text with `names in backticks` set as code; everything else is escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # an odd backtick out: leave the text as it is
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    )
