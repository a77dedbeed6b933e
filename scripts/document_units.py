"""Writes docs/catalogue.md, docs/rules.md, docs/repairs.md, docs/mutants.md and the listing of the rules from the units themselves; with --check, fails when a page differs."""

from __future__ import annotations

import dataclasses
import difflib
import sys
from pathlib import Path

from netmend.adapters.torch.weight_mutants import MUTANTS
from netmend.check import listing
from netmend.check.rule import FAMILIES, RULES, Snippet
from netmend.diagnose.detector import DETECTORS
from netmend.localise.cause import CAUSES
from netmend.mutate.magnitude import Graded
from netmend.mutate.mutation import OPERATORS
from netmend.repair.repair import REPAIRS
from netmend.testing.example import Example
from netmend.unit import page
from netmend.vocabulary import LEAVES

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "catalogue.md"
HEAD = """# What netmend knows

Written by `python scripts/document_units.py` from the units themselves; `netmend explain CODE` prints the same. *Causes* are what a diagnosis names,
*symptoms* are what it reasons from.

"""


RULES_HEAD = """# What `netmend check` looks for

Written by `python scripts/document_units.py` from the rules themselves; `netmend explain S201` prints the same. Each example is also a test of its rule: it
speaks on the first and is silent on the second. *Advisory* rules are off until they are selected (`--extend-select S202`), *preview* rules until
`--preview`. A rule speaks on a proven path or not at all, so silence proves nothing.

"""


def rules() -> str:
    units = RULES.classes()
    parts = [RULES_HEAD, "| code | what is seen | cause | |", "|---|---|---|---|"]
    for code, rule in units.items():
        marks = ", ".join(
            mark
            for mark, holds in (
                ("advisory", rule.advisory),
                ("preview", rule.preview),
                ("fix", any(example.fixed is not None for example in rule.BAD)),
            )
            if holds
        )
        parts.append(f"| [{code}](#{code.lower()}) | {page(rule)[0]} | {rule.cause} | {marks} |")
    for prefix, family in FAMILIES.items():
        parts.append(f"\n## {family[0].upper()}{family[1:]}\n")
        for code, rule in units.items():
            if code.startswith(prefix):
                first, rest = page(rule)
                parts.append(
                    f"### {code}\n\n**{first}**{' *(advisory)*' if rule.advisory else ' *(preview)*' if rule.preview else ''}\n"
                )
                parts.extend(f"{' '.join(paragraph.split())}\n" for paragraph in rest.split("\n\n"))
                parts.append(_example("Not so", rule.BAD[0]))
                parts.append(_example("But so", rule.GOOD[0]))
    return "\n".join(parts).rstrip() + "\n"


def _example(label: str, example: Snippet) -> str:
    line = f", line {example.line}" if example.line else ""
    return f"{label} ({example.title}{line}):\n\n```python\n{example.source.strip()}\n```\n"


REPAIRS_HEAD = """# What `netmend repair` can change

Written by `python scripts/document_units.py` from the repairs themselves; `netmend explain R401` prints the same. Each example is also a test. A change counts only when retraining
proves it, so several may be proposed for one cause; the order is: free (provable by the text), by facts of the task, a short search over values, more training, another architecture.

"""
EFFORTS = {1: "free", 2: "by facts", 3: "short search", 4: "more training", 5: "architecture"}


def repairs() -> str:
    units = REPAIRS.classes()
    parts = [REPAIRS_HEAD, "| code | what it changes | causes | effort |", "|---|---|---|---|"]
    for code, unit in units.items():
        parts.append(
            f"| [{code}](#{code.lower()}) | {page(unit)[0]} | {', '.join(unit.cures)} | {EFFORTS[unit.effort]} |"
        )
    for code, unit in units.items():
        first, rest = page(unit)
        parts.append(f"\n## {code}\n\n**{first}**\n")
        parts.extend(f"{' '.join(paragraph.split())}\n" for paragraph in rest.split("\n\n"))
        shown = next(example for example in unit.EXAMPLES if example.changes)
        parts.append(_change(shown))
    return "\n".join(parts).rstrip() + "\n"


def _change(example: Example) -> str:
    """The lines that change, and what becomes of them."""
    if not example.old and not example.after:
        return f"{example.title}: `{example.new}`\n"
    old, new = example.whole.splitlines(), example.expected.splitlines()
    lines = list(difflib.unified_diff(old, new, n=1, lineterm=""))[2:]
    body = "\n".join(line for line in lines if not line.startswith("@@"))
    return f"{example.title[0].upper()}{example.title[1:]}:\n\n```diff\n{body}\n```\n"


MUTANTS_HEAD = """# Faults that `netmend mutate` seeds

Written by `python scripts/document_units.py` from the operators themselves; each example is also a test. *Published* names are those of DeepCrime (TCL, HLR, …),
DeepMutation (GF, WS, …; its operators on sources DR, LE, …), MuNN (DIN, …), MuFF (inhibitors) and µPRL (SDF, …). A *scale* says what can be turned from no fault to an extreme one: the mildest value that
a test set notices is searched. Operators without one have a list of faults.

"""
PLACES = {
    "M1": "Hyperparameters and optimisers",
    "M2": "Activations",
    "M3": "Losses",
    "M4": "Layers and weights",
    "M5": "Data",
    "M6": "The training loop",
    "M7": "Reinforcement learning",
}


def mutants() -> str:
    parts = [MUTANTS_HEAD, "| code | what it does | published | causes | scale |", "|---|---|---|---|---|"]
    units = OPERATORS.classes()
    for code, unit in units.items():
        causes, scale = ", ".join(unit.causes), "yes" if _scale(unit) else ""
        parts.append(
            f"| [{code}](#{code.lower()}) | {page(unit)[0]} | {', '.join(unit.published)} | {causes} | {scale} |"
        )
    parts.append(
        "\nOf trained models, without training again; a share of the layer's weights or neurons is changed:\n"
    )
    parts += ["| code | what it does | published |", "|---|---|---|"]
    for code, mutant in MUTANTS.classes().items():
        parts.append(f"| {code} | {' '.join(page(mutant)).strip()} | {', '.join(mutant.published)} |")
    for prefix, title in PLACES.items():
        parts.append(f"\n## {title}\n")
        for code, unit in units.items():
            if code.startswith(prefix):
                first, rest = page(unit)
                parts.append(f"### {code}\n\n**{first}**\n")
                parts.extend(f"{' '.join(paragraph.split())}\n" for paragraph in rest.split("\n\n"))
                if _scale(unit):
                    parts.append(f"Scale: {_scale(unit)}\n")
                parts.append(_change(next(each for each in unit.EXAMPLES if each.changes)))
    return "\n".join(parts).rstrip() + "\n"


def _scale(unit: type) -> str:
    """What an operator says can be turned."""
    return " ".join((unit.knobs.__doc__ or "").split()) if issubclass(unit, Graded) else ""


def catalogue() -> str:
    parts = [HEAD, "## Causes\n"]
    known = CAUSES.classes()
    for code, leaf in sorted(LEAVES.items()):
        aliases = f" (also {', '.join(leaf.aliases)})" if leaf.aliases else ""
        parts.append(f"### {code}\n\n*{leaf.title}*{aliases}\n")
        parts.extend(_text(unit) for unit in known.values() if unit.code == code)
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
    pages = (
        (PAGE, catalogue()),
        (DOCS / "rules.md", rules()),
        (DOCS / "repairs.md", repairs()),
        (DOCS / "mutants.md", mutants()),
        (listing.FILE, listing.written()),
    )
    for path, text in pages:
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.name} is out of date; run: python scripts/document_units.py")


if __name__ == "__main__":
    main()
