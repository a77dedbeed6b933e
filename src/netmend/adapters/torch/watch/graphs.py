"""Graphs: whether the graphs of earlier steps are still alive, which the program usually does not mean.

A tiny token is put into the metadata of two nodes of a graph: the one that made the objective, and one deep inside. The
dictionary lives and dies with the node, and only a weak reference to the token stays here, so nothing is kept alive.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor

from netmend.adapters.torch.guard import guarded

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

_KEY = "netmend"
_MOST = 40  # graphs that are watched at a time, of each objective
_OLD = 3  # steps after which nobody needs a graph any more
_DEEPEST = 400  # nodes followed from the objective inwards


class Token:
    """Lives as long as the node it lies in."""

    __slots__ = ("__weakref__",)


@dataclass(slots=True)
class Marked:
    step: int
    objective: weakref.ref[Token] | None
    inside: weakref.ref[Token] | None


class Graphs:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._marked: dict[str, list[Marked]] = {}
        self._before = 0  # number of the last node of the objective looked at before
        self._gone: dict[str, int] = {}  # graphs that were freed, by objective

    @guarded("graphs that stay alive")
    def look(self, loss: str, objective: Tensor) -> None:
        """A closely observed backward pass begins: count the graphs that are left, and mark this one."""
        step = self.session.recorder.step
        marked = self._marked.setdefault(loss, [])
        old = [graph for graph in marked if step - graph.step > _OLD]
        alive = [graph for graph in old if _lives(graph.objective)]
        inside = [graph for graph in old if _lives(graph.inside)]
        gone = [graph for graph in old if not _lives(graph.objective) and not _lives(graph.inside)]
        total = self._gone.get(loss, 0) + len(old)
        if total:
            row = (float(total), float(len(alive)), float(len(inside)))
            self.session.recorder.row("graphs", loss, step, row)
        self._gone[loss] = self._gone.get(loss, 0) + len(gone)
        marked[:] = [graph for graph in marked if graph not in gone]
        if len(marked) < _MOST and objective.grad_fn is not None:
            first, last = objective.grad_fn, _deep(objective.grad_fn, self._before)
            marked.append(Marked(step, _mark(first), None if last is first else _mark(last)))
            self._before = first._sequence_nr()

    def forget(self) -> None:
        self._marked.clear()


def _lives(reference: weakref.ref[Token] | None) -> bool:
    return reference is not None and reference() is not None


def _mark(node: Any) -> weakref.ref[Token] | None:
    """None when the node carries a token already: it belongs to an earlier graph, or to one that is used on purpose again."""
    metadata = node.metadata
    if _KEY in metadata:
        return None
    token = metadata[_KEY] = Token()
    return weakref.ref(token)


def _deep(node: Any, before: int) -> Any:
    """From the objective towards the oldest operation since the last look; parameters are no operations."""
    for _ in range(_DEEPEST):
        parents = [
            parent for parent, _ in node.next_functions if parent is not None and parent.next_functions
        ]
        oldest = min((p for p in parents if p._sequence_nr() > before), key=_number, default=None)
        if oldest is None:
            return node
        node = oldest
    return node


def _number(node: Any) -> int:
    number: int = node._sequence_nr()
    return number
