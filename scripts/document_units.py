"""Writes docs/catalogue.md from the units themselves; with --check, fails when the page differs."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from netmend.diagnose.detector import DETECTORS
from netmend.localise.cause import CAUSES
from netmend.unit import page
from netmend.vocabulary import LEAVES

PAGE = Path(__file__).parents[1] / "docs" / "catalogue.md"
HEAD = """# What netmend knows

Written by `python scripts/document_units.py` from the units themselves; `netmend explain CODE` prints the same. *Causes* are what a diagnosis names,
*symptoms* are what it reasons from.

"""


def catalogue() -> str:
    parts = [HEAD, "## Causes\n"]
    known = CAUSES.classes()
    for code, leaf in sorted(LEAVES.items()):
        aliases = f" (also {', '.join(leaf.aliases)})" if leaf.aliases else ""
        parts.append(f"### {code}\n\n*{leaf.title}*{aliases}\n")
        if code in known:
            parts.append(_text(known[code]))
    parts.append("## Symptoms\n")
    for code, unit in DETECTORS.classes().items():
        parts.append(f"### {code} {unit.__name__}\n\n{_text(unit)}")
        fields = dataclasses.fields(unit)
        if fields:
            parts.append("| limit | value | basis | origin |\n|---|---|---|---|")
            parts.extend(
                f"| `{field.name}` | {field.default!r} | {field.metadata['basis']} | {field.metadata['origin']} |"
                for field in fields
            )
            parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def _text(unit: type) -> str:
    first, rest = page(unit)
    return f"{first} {' '.join(rest.split())}\n"


def main() -> None:
    text = catalogue()
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
            sys.exit("docs/catalogue.md is out of date; run: python scripts/document_units.py")
        return
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
