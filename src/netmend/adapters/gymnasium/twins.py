"""Twins: models of the same make, as a value network and its target; whether each moves, and whether they are ever apart.

Looked at between environment steps: a target that is copied at the end of every episode is apart from its twin within one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

WHAT = "weights while acting"
_DISTANCE = 37  # environment steps between two looks; shares no factor with the intervals that people choose
_DENSE = 60  # looks after which the distance doubles
_MOST_MODELS = 8
Print = tuple[float, ...]


def prints_of(network: Any) -> Print:
    """Two numbers that change when the weights do; empty on a device, where asking would make it wait."""
    parameters = list(network.parameters())
    if not parameters or not all(p.is_cpu for p in parameters):
        return ()
    return tuple(float(p.detach().double().sum()) for p in (parameters[0], parameters[-1]))


class Twins:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._steps = 0
        self._next = _DISTANCE
        self._distance = _DISTANCE
        self._looks = 0
        self._last: dict[str, Print] = {}
        self._seen: Counter[str] = Counter()
        self._changes: Counter[str] = Counter()
        self._equal: Counter[tuple[str, str]] = Counter()
        self._shapes: dict[str, tuple[tuple[int, ...], ...]] = {}

    def due(self, steps: int = 1) -> bool:
        """Environment steps have been taken: is it time for a look?"""
        self._steps += steps
        return self._steps >= self._next

    def look(self) -> None:
        self._next = self._steps + self._distance
        if len(self.session.models.all) < 2:  # nothing to be apart from
            return
        self._looks += 1
        if self._looks % _DENSE == 0:
            self._distance *= 2
        prints: dict[str, Print] = {}
        for model in self.session.models.all[:_MOST_MODELS]:
            module = model.reference()
            found = prints_of(module) if module is not None else ()
            if module is not None and found:
                self._shapes[model.name] = tuple(tuple(p.shape) for p in module.parameters())
                prints[model.name] = found
        for name, found in prints.items():
            self._seen[name] += 1
            if name in self._last and self._last[name] != found:
                self._changes[name] += 1
            for other, theirs in prints.items():
                if other != name and self._shapes[other] == self._shapes[name] and theirs == found:
                    self._equal[name, other] += 1
        self._last.update(prints)

    def finish(self) -> None:
        for name, shapes in self._shapes.items():
            alike = [other for other, theirs in self._shapes.items() if other != name and theirs == shapes]
            values = {
                "looks": self._seen[name],
                "changes": self._changes[name],
                "twins": alike,
                "equal": max((self._equal[name, other] for other in alike), default=0),
                "trained": self._trained(name),
            }
            self.session.recorder.probe(WHAT, name, values)

    def _trained(self, name: str) -> bool:
        """Whether an optimiser holds its parameters."""
        for model in self.session.models.all:
            module = model.reference() if model.name == name else None
            first = next(iter(module.parameters()), None) if module is not None else None
            if first is not None:
                return self.session.optimizers.holder(first)[0] is not None
        return False
