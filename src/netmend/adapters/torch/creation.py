"""Creation: remembers the user's line that created each module, optimiser, scheduler and DataLoader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim.lr_scheduler import LRScheduler
from torch.utils.data import DataLoader

from netmend.adapters.torch.guard import RAISED, around, guarded

if TYPE_CHECKING:
    from netmend.adapters.torch.session import TorchSession


class Creation:
    def __init__(self, session: TorchSession) -> None:
        self.session = session

    def install(self) -> None:
        session, wrap = self.session, self.session.patches.wrap
        for owner in (torch.nn.Module, torch.optim.Optimizer, LRScheduler, DataLoader):
            part = "the lines that create layers"
            wrap(owner, "__init__", around(session, part, self._creating, self._made, always=True))
        for place in (torch, torch.nn.Module):
            wrap(place, "compile", around(session, "the use of torch.compile", self._compiling, always=True))

    def _creating(self, args: Any, kwargs: Any) -> bool:
        self.session.loop.scheduler_depth += 1  # a scheduler steps itself while it is built
        return True

    def _made(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        self.session.loop.scheduler_depth -= 1
        if result is not RAISED:
            self._created(args[0])

    def _compiling(self, args: Any, kwargs: Any) -> None:
        self._compile_seen()

    @guarded("the lines that create layers")
    def _created(self, thing: Any) -> None:
        site = self.session.sites.of_creation(thing)
        if site is not None:
            self.session.created.put(thing, site)
        if isinstance(thing, torch.optim.Optimizer):
            self.session.optimizers.created(thing)
            self.session.recorder.look_closely()

    @guarded("the use of torch.compile")
    def _compile_seen(self) -> None:
        """Module hooks inside a compiled graph would be traced into it or break it, so there are none from now on."""
        session = self.session
        session.compiled = True
        session.environment_changed(compiled=True)
        session.layers.disarm()
        session.recorder.missing(
            "torch.compile is used: statistics of activations are not taken; gradients, weights and updates are"
        )
