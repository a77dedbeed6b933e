"""Mutants that would be trained, as a list with their edits."""

from __future__ import annotations

import difflib
from collections import Counter
from pathlib import Path

from subjects import Subject

from netmend.mutate.mutation import Mutation, texts_of


def list_them(subjects: list[Subject], chosen: dict[str, list[Mutation]], show: bool) -> None:
    """What would be trained, without training it."""
    for subject in subjects:
        print(
            f"{subject.program.name}: {len(subject.mutations)} mutants, {len(chosen[subject.program.name])} chosen"
        )
        for each in chosen[subject.program.name]:
            print(f"   {each.operator} {each.cause:22} {each.title}")
            if show:
                print(diff(each, subject.root))
    for title, of in (
        ("proposed", [m for s in subjects for m in s.mutations]),
        ("chosen", [m for c in chosen.values() for m in c]),
    ):
        for what in ("operator", "cause"):
            counts = Counter(getattr(each, what) for each in of)
            print(
                f"{title} by {what}: "
                + ", ".join(f"{key} {number}" for key, number in sorted(counts.items()))
            )


def diff(mutation: Mutation, root: str) -> str:
    lines = []
    for name, text in (texts_of(mutation.edits, root) or {}).items():
        old = (Path(root) / name).read_text(encoding="utf-8")
        lines += difflib.unified_diff(old.splitlines(), text.splitlines(), name, name, lineterm="", n=1)
    return "\n".join(f"      {line}" for line in lines[2:])
