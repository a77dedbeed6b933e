"""A patch of weights on the terminal: what it changes, of which model, and what is known of how it was found."""

from __future__ import annotations

import math
import shlex

from rich.console import Group, RenderableType
from rich.text import Text

from netmend.mend.change_model import Changed
from netmend.mend.changes import largest_changes
from netmend.mend.fit import State
from netmend.mend.patch import Patch
from netmend.report.content import Column, Grid, Remark, clean
from netmend.report.numbers import UNKNOWN, count, measure, plural, setting, shape, share
from netmend.report.terminal import GridTable, Remarks, blank

_MOST_TENSORS = 30
_MOST_CHANGES = 10


def changed_text(changed: Changed) -> RenderableType:
    """What `apply` and `revert` did."""
    done = "patch applied" if changed.after is State.IN else "Patch reverted"
    title = Text("netmend  ", style="bold").append(done, "bold green")
    remarks = [
        Remark("model", clean(str(changed.out)) + (" (changed in place)" if changed.in_place else "")),
        Remark("changed", size_words(changed.patch)),
    ]
    if changed.before is State.HALF:
        remarks.append(
            Remark("note", "the patch was only half applied: an earlier command was interrupted", "", "warn")
        )
    parts: list[RenderableType] = [title, Remarks(remarks, indent=2)]
    if changed.kept is not None:
        other = "revert" if changed.after is State.IN else "apply"
        words = ["netmend", "mend", other, "--in-place", str(changed.kept), str(changed.model)]
        # One line however long it is, so that it can be copied.
        back = Text("  back     ", style="bold", no_wrap=True, overflow="ignore")
        parts.append(back.append(clean(shlex.join(words)), "not bold"))
    return Group(*parts)


def patch_text(patch: Patch, title: str, state: State | None = None, changes: bool = False) -> RenderableType:
    """The patch as a whole, tensor by tensor, and, where asked for, the largest single changes."""
    parts: list[RenderableType] = [Text("netmend  ", style="bold").append(clean(title), "bold")]
    remarks = [
        Remark("changes", size_words(patch)),
        Remark(
            "model",
            f"{patch.model.short}: {plural(len(patch.model.marks), 'tensor')}, "
            f"{plural(patch.model.elements, 'element')}",
        ),
    ]
    if state is not None:
        remarks.append(Remark("state", f"{state.value} to this model"))
    remarks += [Remark(clean(key), clean(value)) for key, value in sorted(patch.meta.items())]
    parts.append(Remarks(remarks, indent=2))
    if patch.pieces:
        parts += [blank(), GridTable(_tensors(patch))]
    if changes and patch.touched:
        parts += [blank(), GridTable(_changes(patch))]
    return Group(*parts)


def size_words(patch: Patch) -> str:
    """`12 of 4,096 values (0.3 %) in 2 tensors, by 0.0213 in all`."""
    return (
        f"{count(patch.touched)} of {plural(patch.model.elements, 'value')} ({share(patch.share)}) in "
        f"{plural(len(patch.pieces), 'tensor')}, norm of the change {measure(patch.norm)}"
    )


def _tensors(patch: Patch) -> Grid:
    pieces = sorted(patch.pieces, key=lambda piece: -piece.norm if math.isfinite(piece.norm) else -math.inf)
    rows = tuple(
        (
            piece.name,
            shape(piece.shape),
            piece.dtype,
            count(piece.touched),
            share(piece.touched / piece.size) if piece.size else UNKNOWN,
            measure(piece.norm),
        )
        for piece in pieces[:_MOST_TENSORS]
    )
    columns = (
        Column("tensor"),
        Column("shape", True, 2),
        Column("type", spare=3),
        Column("changed", True),
        Column("share", True, 1),
        Column("length", True),
    )
    left = len(pieces) - len(rows)
    return Grid(columns, rows, note=f"{plural(left, 'more tensor')}: --json lists all." if left else "")


def _changes(patch: Patch) -> Grid:
    rows = tuple(
        (
            f"{one.name}[{', '.join(map(str, one.place))}]",
            setting(one.old),
            setting(one.new),
            measure(one.new - one.old),
        )
        for one in largest_changes(patch, _MOST_CHANGES)
    )
    columns = (
        Column("largest changes"),
        Column("before", True),
        Column("after", True),
        Column("change", True),
    )
    left = patch.touched - len(rows)
    return Grid(columns, rows, note=f"{plural(left, 'smaller change')} not shown." if left else "")
