"""Passages: narrow layers that the rest of the network goes around.

A head, a gate, a score of attention or an adapter may have a single unit: what earlier layers say reaches the objective by another way.
Whether there is one is read off the autograd graph of a backward pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from netmend.adapters.torch.guard import guarded
from netmend.vocabulary import ProbeFact

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

WHAT = "way around"
_LOOKS = 3  # closely observed backward passes
_NARROW = 2  # units or channels
_MOST = 8  # layers that are examined
_MOST_NODES = 20_000


class Passages:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._looks = 0
        self._told: set[str] = set()

    @guarded("ways around narrow layers")
    def look(self, objective: Tensor) -> None:
        """A closely observed backward pass begins."""
        if self._looks >= _LOOKS or not self.session.models.all:
            return
        self._looks += 1
        for name, weight in list(self._narrow())[:_MOST]:
            if name not in self._told and goes_around(objective, weight):
                self._told.add(name)
                fact = ProbeFact(f"{WHAT}@{name}", WHAT, name, self.session.recorder.step)
                self.session.recorder.fact(fact)

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
        for node in _below(operations)
        if isinstance(found := getattr(node, "variable", None), Tensor)
        and found is not weight
        and found.dim() > 1  # the layer's own bias feeds it as well
    }
    return bool(before & _below({objective.grad_fn}, without=operations))


def _parents(objective: Tensor) -> dict[Any, list[Any]]:
    """Every node of the graph → the nodes that use its result."""
    users: dict[Any, list[Any]] = {}
    for node in _below({objective.grad_fn}):
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


def _below(start: set[Any], without: set[Any] | None = None) -> set[Any]:
    """All nodes that gradients reach from these, but for those beyond `without`."""
    visited: set[Any] = set(without or ())
    waiting = [node for node in start if node is not None and node not in visited]
    while waiting and len(visited) < _MOST_NODES:
        node = waiting.pop()
        if node in visited:
            continue
        visited.add(node)
        waiting.extend(source for source, _ in node.next_functions if source is not None)
    return visited
