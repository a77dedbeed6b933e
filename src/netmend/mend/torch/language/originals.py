"""The values that blocks had before the repair, kept when a block is first touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor

from netmend.mend.torch.language.blocks import Block


class Originals:
    """Copies of touched parameters only, away from the device where that is asked for."""

    def __init__(self, keep_on: str | None = None) -> None:
        self._keep_on = keep_on
        self._held: dict[str, tuple[Tensor, Tensor]] = {}  # the live parameter and its first value

    def keep(self, block: Block) -> None:
        for name, parameter in block.parameters.items():
            if name not in self._held:
                self._held[name] = (parameter, self._copy(parameter))

    @property
    def values(self) -> Mapping[str, Tensor]:
        return {name: first for name, (_, first) in self._held.items()}

    def snapshot(self) -> dict[str, Tensor]:
        """The present values of everything touched."""
        return {name: self._copy(live) for name, (live, _) in self._held.items()}

    @torch.no_grad()
    def put(self, values: Mapping[str, Tensor]) -> None:
        """Given values, and the first ones for what is not among them."""
        for name, (live, first) in self._held.items():
            live.copy_(values.get(name, first))

    @torch.no_grad()
    def put_between(self, values: Mapping[str, Tensor], share: float) -> None:
        """Part of the way from the first values (0) to the given ones (1)."""
        for name, (live, first) in self._held.items():
            if name in values:
                start, end = first.to(live.device), values[name].to(live.device)
                live.copy_(end if share == 1 else start.float() + share * (end.float() - start.float()))
            else:
                live.copy_(first)

    def changed(self) -> int:
        """Elements whose value is another one now."""
        return sum(int((live != first.to(live.device)).sum()) for live, first in self._held.values())

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Inside, the model is the unrepaired one."""
        now = self.snapshot()
        self.put({})
        try:
            yield
        finally:
            self.put(now)

    def _copy(self, parameter: Tensor) -> Tensor:
        held = parameter.detach()
        return held.to(self._keep_on, copy=True) if self._keep_on else held.clone()
