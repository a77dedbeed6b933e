"""Creation: remembers the user's line that created each module, optimiser, scheduler and DataLoader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader

from netmend.adapters.torch.guard import RAISED, around, guarded

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession


class Creation:
    def __init__(self, session: TorchSession) -> None:
        self.session = session

    def install(self) -> None:
        session, wrap = self.session, self.session.patches.wrap
        schedulers = [
            kind for kind in vars(lr_scheduler).values() if isinstance(kind, type) and _initialises(kind)
        ]
        for owner in (torch.nn.Module, torch.optim.Optimizer, DataLoader, *schedulers):
            part = "the lines that create layers"
            wrap(owner, "__init__", around(session, part, self._creating, self._made, always=True))
        for place in (torch, torch.nn.Module):
            wrap(
                place,
                "compile",
                around(session, "the use of torch.compile", self._compiling, self._compiled, always=True),
            )

    def _creating(self, args: Any, kwargs: Any) -> bool:
        self.session.loop.scheduler_depth += 1  # a scheduler steps itself while it is built
        return True

    def _made(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        self.session.loop.scheduler_depth -= 1
        if result is not RAISED:
            self._created(args[0])

    def _compiling(self, args: Any, kwargs: Any) -> bool:
        self._compile_seen()
        return True

    def _compiled(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Without hooks nobody would discover a compiled model: get to know it now."""
        model = result if isinstance(result, torch.nn.Module) else args[0] if args else None
        if isinstance(model, torch.nn.Module) and result is not RAISED:
            self.session.models.expect(model)

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


def _initialises(kind: type) -> bool:
    return issubclass(kind, lr_scheduler.LRScheduler) and "__init__" in vars(kind)
