"""What the autograd graph of a closely observed backward pass tells: leaves nobody registered, ways around narrow layers, graphs that stay alive."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from netmend.adapters.torch.guard import guarded
from netmend.adapters.torch.watch.known import Known
from netmend.vocabulary import Event

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession


_MOST_NODES = 20_000


def nodes_below(*start: Any, without: set[Any] | None = None, most: float = _MOST_NODES) -> Iterator[Any]:
    """The nodes of an autograd graph that gradients reach from these, each once, but for those beyond `without`."""
    visited: set[Any] = set(without or ())
    waiting = list(start)
    while waiting and len(visited) < most:
        node = waiting.pop()
        if node is not None and node not in visited:
            visited.add(node)
            yield node
            waiting.extend(parent for parent, _ in node.next_functions)


def leaves_of(objective: Tensor) -> list[Tensor]:
    """The tensors that gradients are accumulated into, in the order in which they are found."""
    leaves = (getattr(node, "variable", None) for node in nodes_below(objective.grad_fn))
    return [leaf for leaf in leaves if isinstance(leaf, Tensor)]


# Graphs: whether the graphs of earlier steps are still alive, which the program usually does not mean.
#
# A tiny token is put into the metadata of two nodes of a graph: the one that made the objective, and one deep inside. The
# dictionary lives and dies with the node, and only a weak reference to the token stays here, so nothing is kept alive.

_KEY = "netmend"
_MOST_GRAPHS = 40  # graphs that are watched at a time, of each objective
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

    @guarded("graphs that stay alive", inside=True)
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
        if len(marked) < _MOST_GRAPHS and objective.grad_fn is not None:
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


# Passages: narrow layers that the rest of the network goes around.
#
# A head, a gate, a score of attention or an adapter may have a single unit: what earlier layers say reaches the objective by another way.
# Whether there is one is read off the autograd graph of a backward pass.

_PASSAGE_LOOKS = 3  # closely observed backward passes
_NARROW = 2  # units or channels
_MOST_LAYERS = 8  # layers that are examined


class Passages:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._looks = 0
        self._told: set[str] = set()

    @guarded("ways around narrow layers", inside=True)
    def look(self, objective: Tensor) -> None:
        """A closely observed backward pass begins."""
        if self._looks >= _PASSAGE_LOOKS or not self.session.models.all:
            return
        self._looks += 1
        for name, weight in list(self._narrow())[:_MOST_LAYERS]:
            if name not in self._told and goes_around(objective, weight):
                self._told.add(name)
                self.session.recorder.probe("way around", name, {})

    def _narrow(self) -> Iterator[tuple[str, Tensor]]:
        for model in self.session.models.all:
            root = model.reference()
            for module in root.modules() if root is not None else ():
                units = getattr(module, "out_features", None) or getattr(module, "out_channels", None)
                # Not by getattr: a parametrisation would compute its weight anew.
                weight = dict(module.named_parameters(recurse=False)).get("weight")
                if isinstance(units, int) and units <= _NARROW and isinstance(weight, nn.Parameter):
                    yield self.session.names.get(module) or "?", weight


def goes_around(objective: Tensor, weight: Tensor) -> bool:
    """Whether anything that feeds the operation on this weight reaches the objective without it, too."""
    users = _parents(objective)
    leaf = next((node for node in users if getattr(node, "variable", None) is weight), None)
    operations = _operations(leaf, users) if leaf is not None else set()
    before = {
        node
        for node in nodes_below(*operations)
        if isinstance(found := getattr(node, "variable", None), Tensor)
        and found is not weight
        and found.dim() > 1  # the layer's own bias feeds it as well
    }
    return not before.isdisjoint(nodes_below(objective.grad_fn, without=operations))


def _parents(objective: Tensor) -> dict[Any, list[Any]]:
    """Every node of the graph → the nodes that use its result."""
    users: dict[Any, list[Any]] = {}
    for node in nodes_below(objective.grad_fn):
        users.setdefault(node, [])
        for source, _ in node.next_functions:
            if source is not None:
                users.setdefault(source, []).append(node)
    return users


def _operations(leaf: Any, users: dict[Any, list[Any]]) -> set[Any]:
    """The operations that join a weight with something else; a transposition on the way is none."""
    found: set[Any] = set()
    waiting = [leaf]
    while waiting:
        for user in users.get(waiting.pop(), ()):
            sources = [source for source, _ in user.next_functions if source is not None]
            if len(sources) > 1:
                found.add(user)
            else:
                waiting.append(user)
    return found


# Loose parameters: tensors of a model that get gradients although neither the model nor an optimiser knows them.
#
# `self.scale = torch.ones(1, requires_grad=True)` and a plain list of nn.Parameter are such tensors: they are never trained.

_LEAF_LOOKS = 4  # closely observed backward passes, of which the same tensor must be seen on all
_MOST_TOLD = 20


class Loose:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._looks = 0
        self._seen: Known[tuple[int, int]] = Known()  # tensor → times seen, version when first seen

    @guarded("parameters outside of models", inside=True)
    def look(self, objective: Tensor) -> None:
        """A closely observed backward pass begins: which leaves of its graph belong to nobody?"""
        if self._looks >= _LEAF_LOOKS or not self.session.models.all:
            return
        self._looks += 1
        known = {id(p) for _, p in self.session.models.parameters()}
        known.update(id(p) for p in self.session.optimizers.held())
        for leaf in leaves_of(objective)[:1000]:
            if id(leaf) not in known:
                times, version = self._seen.get(leaf) or (0, leaf._version)
                self._seen.put(leaf, (times + 1, version))
        if self._looks == _LEAF_LOOKS:
            self._tell()

    def _tell(self) -> None:
        """Those that were there every time, unchanged, and lie in an attribute of a model."""
        same = [
            leaf
            for leaf, (times, version) in self._seen.items()
            if times == _LEAF_LOOKS and leaf._version == version
        ]
        places = dict(self._attributes())
        for leaf in same[:_MOST_TOLD]:
            place = places.get(id(leaf))
            if place is not None:
                owner, attribute, module = place
                self.session.recorder.event(
                    Event(
                        self.session.recorder.step,
                        "loose parameter",
                        f"{owner}.{attribute} gets gradients but is registered nowhere",
                        f"{owner}.{attribute}",
                        None,
                        {"attribute": attribute, "class": type(module).__name__, "shape": tuple(leaf.shape)},
                    )
                )
        self._seen = Known()

    def _attributes(self) -> Iterator[tuple[int, tuple[str, str, nn.Module]]]:
        """Tensors in plain attributes of the models' modules, alone or in a list or dictionary."""
        for model in self.session.models.all:
            root = model.reference()
            for module in root.modules() if root is not None else ():
                owner = self.session.names.get(module) or model.name
                for attribute, value in list(vars(module).items()):
                    if not attribute.startswith("_"):
                        for tensor in _tensors(value):
                            yield id(tensor), (owner, attribute, module)


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        yield from (item for item in value[:100] if isinstance(item, Tensor))
    elif isinstance(value, dict):
        yield from (item for item in list(value.values())[:100] if isinstance(item, Tensor))
