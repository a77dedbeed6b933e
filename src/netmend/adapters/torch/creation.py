"""Creation: remembers the user's line that created each module, optimiser, scheduler and DataLoader."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.lr_scheduler import LRScheduler
from torch.utils.data import DataLoader

from netmend.adapters.torch.guard import guarded

if TYPE_CHECKING:
    from netmend.adapters.torch.session import TorchSession


class Creation:
    def __init__(self, session: TorchSession) -> None:
        self.session = session

    def install(self) -> None:
        for owner in (torch.nn.Module, torch.optim.Optimizer, LRScheduler, DataLoader):
            self.session.patches.wrap(owner, "__init__", self._noting)
        self.session.patches.wrap(torch, "compile", self._compiling)
        self.session.patches.wrap(torch.nn.Module, "compile", self._compiling)

    def _noting(self, original: Callable[..., None]) -> Callable[..., None]:
        def __init__(thing: Any, *args: Any, **kwargs: Any) -> None:
            if torch.compiler.is_compiling():
                return original(thing, *args, **kwargs)
            self.session.loop.scheduler_depth += 1  # a scheduler steps itself while it is built
            try:
                original(thing, *args, **kwargs)
            finally:
                self.session.loop.scheduler_depth -= 1
            self._created(thing)

        return __init__

    def _compiling(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def compile(*args: Any, **kwargs: Any) -> Any:
            self._compile_seen()
            return original(*args, **kwargs)

        return compile

    @guarded("the lines that create layers")
    def _created(self, thing: Any) -> None:
        site = self.session.sites.of_creation(thing)
        if site is not None:
            self.session.created.put(thing, site)
        if isinstance(thing, torch.optim.Optimizer):
            self.session.optimizers.created(thing)
            self.session.recorder.schedule.request()

    @guarded("the use of torch.compile")
    def _compile_seen(self) -> None:
        """Module hooks inside a compiled graph would be traced into it or break it, so there are none from now on."""
        session = self.session
        session.compiled = True
        session.layers.disarm()
        session.recorder.missing(
            "torch.compile is used: statistics of activations are not taken; gradients, weights and updates are"
        )
