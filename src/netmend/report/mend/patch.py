"""A patch of weights as it is told: what it changes, of which model, and how it was found; and its JSON (docs/mend.md)."""

from __future__ import annotations

import math
import shlex

from netmend.mend.change_model import Changed, largest_changes
from netmend.mend.patch import Patch, State
from netmend.report.content import Column, Document, Grid, Number, Remark, clean
from netmend.report.machine import Fields, result_json
from netmend.report.numbers import UNKNOWN, count, measure, plural, setting, shape, share

_MOST_TENSORS = 30
_MOST_CHANGES = 10
_MOST_IN_DATA = 100


def changed_document(changed: Changed) -> Document:
    """What `apply` and `revert` did."""
    remarks = [
        Remark("model", clean(str(changed.out)) + (" (changed in place)" if changed.in_place else "")),
        Remark("changed", size_words(changed.patch)),
    ]
    if changed.before is State.HALF:
        words = "the patch was only half applied: an earlier command was interrupted"
        remarks.append(Remark("note", words, tone="warn"))
    if changed.kept is not None:
        other = "revert" if changed.after is State.IN else "apply"
        command = ["netmend", "mend", other, "--in-place", str(changed.kept), str(changed.model)]
        remarks.append(Remark("back", clean(shlex.join(command)), whole=True))
    done = "patch applied" if changed.after is State.IN else "Patch reverted"
    return Document("good", done, opening=tuple(remarks))


def patch_document(patch: Patch, title: str, state: State | None = None, changes: bool = False) -> Document:
    """The patch as a whole, tensor by tensor, and, where asked for, the largest single changes."""
    held = f"{plural(len(patch.model.marks), 'tensor')}, {plural(patch.model.elements, 'element')}"
    remarks = [Remark("changes", size_words(patch)), Remark("model", f"{patch.model.short}: {held}")]
    if state is not None:
        remarks.append(Remark("state", f"{state.value} to this model"))
    remarks += [Remark(clean(key), clean(value)) for key, value in sorted(patch.meta.items())]
    grids = (_tensors(patch), *((_changes(patch),) if changes else ()))
    return Document("plain", clean(title), grids, tuple(remarks), wide=True)


def size_words(patch: Patch) -> str:
    """`12 of 4,096 values (0.3 %) in 2 tensors, by 0.0213 in all`."""
    return (
        f"{count(patch.touched)} of {plural(patch.model.elements, 'value')} ({share(patch.share)}) in "
        f"{plural(len(patch.pieces), 'tensor')}, norm of the change {measure(patch.norm)}"
    )


def _tensors(patch: Patch) -> Grid:
    pieces = sorted(patch.pieces, key=lambda piece: -piece.norm if math.isfinite(piece.norm) else -math.inf)
    left = len(pieces[_MOST_TENSORS:])
    return Grid.of(
        pieces[:_MOST_TENSORS],
        Column("tensor", lambda piece: piece.name),
        Number("shape", lambda piece: shape(piece.shape), spare=2),
        Column("type", lambda piece: piece.dtype, spare=3),
        Number("changed", lambda piece: count(piece.touched)),
        Number("share", lambda piece: share(piece.touched / piece.size) if piece.size else UNKNOWN, spare=1),
        Number("length", lambda piece: measure(piece.norm)),
        note=f"{plural(left, 'more tensor')}: --json lists all." if left else "",
    )


def _changes(patch: Patch) -> Grid:
    largest = largest_changes(patch, _MOST_CHANGES)
    left = patch.touched - len(largest)
    return Grid.of(
        largest,
        Column("largest changes", lambda one: f"{one.name}[{', '.join(map(str, one.place))}]"),
        Number("before", lambda one: setting(one.old)),
        Number("after", lambda one: setting(one.new)),
        Number("change", lambda one: measure(one.new - one.old)),
        note=f"{plural(left, 'smaller change')} not shown." if left else "",
    )


_PIECE = Fields("name", "shape", "dtype", "touched", "norm")
_CHANGE = Fields("name", "place", "old", "new")


def patch_json(patch: Patch, state: State | None = None, changed: Changed | None = None) -> str:
    model = patch.model
    written = {} if changed is None else {"written": changed.out, "kept": changed.kept or None}
    return result_json(
        {
            "model": {"fingerprint": model.short, "tensors": len(model.marks), "elements": model.elements},
            "touched": patch.touched,
            "share": patch.share,
            "norm": patch.norm,
            "state": state.value if state else None,
            "tensors": _PIECE.of(patch.pieces),
            "largest": _CHANGE.of(largest_changes(patch, _MOST_IN_DATA)),
            "meta": dict(sorted(patch.meta.items())),
            **written,
        }
    )
