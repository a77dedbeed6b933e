"""Loose parameters: tensors of a model that get gradients although neither the model nor an optimiser knows them.

`self.scale = torch.ones(1, requires_grad=True)` and a plain list of nn.Parameter are such tensors: they are never trained.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from netmend.adapters.torch.guard import guarded
from netmend.adapters.torch.watch.known import Known
from netmend.adapters.torch.watch.leaves import leaves_of
from netmend.vocabulary import Event

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

_LOOKS = 4  # closely observed backward passes, of which the same tensor must be seen on all
_MOST = 20


class Loose:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._looks = 0
        self._seen: Known[tuple[int, int]] = Known()  # tensor → times seen, version when first seen

    @guarded("parameters outside of models")
    def look(self, objective: Tensor) -> None:
        """A closely observed backward pass begins: which leaves of its graph belong to nobody?"""
        if self._looks >= _LOOKS or not self.session.models.all:
            return
        self._looks += 1
        known = {id(p) for _, p in self.session.models.parameters()}
        for optimizer, _ in self.session.optimizers.known.items():
            known.update(id(p) for group in optimizer.param_groups for p in group["params"])
        for leaf in leaves_of(objective)[:1000]:
            if id(leaf) not in known:
                times, version = self._seen.get(leaf) or (0, leaf._version)
                self._seen.put(leaf, (times + 1, version))
        if self._looks == _LOOKS:
            self._tell()

    def _tell(self) -> None:
        """Those that were there every time, unchanged, and lie in an attribute of a model."""
        same = [
            leaf
            for leaf, (times, version) in self._seen.items()
            if times == _LOOKS and leaf._version == version
        ]
        places = dict(self._attributes())
        for leaf in same[:_MOST]:
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
