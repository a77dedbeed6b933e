"""Checkpoints: what load_state_dict really took over."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from netmend.adapters.torch.guard import RAISED, around, guarded
from netmend.observe.naming import name_of
from netmend.vocabulary import Event

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

_MOST_EVENTS = 100
_SHOWN = 5  # names of missing and unexpected keys that are kept


class Checkpoints:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._told: set[tuple[Any, ...]] = set()
        self._depth = 0

    def install(self) -> None:
        wrapper = around(self.session, "loaded states", self._loading, self._loaded, always=True)
        self.session.patches.wrap(nn.Module, "load_state_dict", wrapper)

    def _loading(self, args: Any, kwargs: Any) -> tuple[int]:
        self._depth += 1
        return (self._aliased(args, kwargs) or 0 if self._depth == 1 else 0,)

    def _loaded(self, token: tuple[int], args: Any, kwargs: Any, result: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and result is not RAISED:
            self._note(token[0], args, kwargs, result)

    @guarded("loaded states")
    def _aliased(self, args: Any, kwargs: Any) -> int:
        """How many of the given tensors are the module's own: loading those changes nothing."""
        state = _argument(args, kwargs, 1, "state_dict", None)
        if not isinstance(state, Mapping):
            return 0
        own = {tensor.data_ptr() for tensor in (*args[0].parameters(), *args[0].buffers()) if tensor.numel()}
        given = (tensor for tensor in state.values() if isinstance(tensor, Tensor) and tensor.numel())
        return sum(tensor.data_ptr() in own for tensor in given)

    @guarded("loaded states")
    def _note(self, aliased: int, args: Any, kwargs: Any, result: Any) -> None:
        session, module = self.session, args[0]
        state = _argument(args, kwargs, 1, "state_dict", {})
        missing = list(getattr(result, "missing_keys", ()))
        unexpected = list(getattr(result, "unexpected_keys", ()))
        matched = max(0, len(state) - len(unexpected))
        site = session.sites.here()
        told = (site, type(module), matched, len(missing), len(unexpected), aliased)
        if told in self._told or len(self._told) >= _MOST_EVENTS:
            return
        self._told.add(told)
        name = (
            session.names.get(module)
            or name_of(module, sys._getframe(1), session.sites)
            or type(module).__name__
        )
        session.recorder.event(
            Event(
                session.recorder.step,
                "state loaded",
                f"{matched} of {len(state)} entries of a saved state were loaded into {name}; "
                f"{len(missing)} of the module's own were not in it",
                name,
                site,
                {
                    "matched": matched,
                    "missing": len(missing),
                    "unexpected": len(unexpected),
                    "strict": bool(_argument(args, kwargs, 2, "strict", True)),
                    "module": type(module).__name__,
                    "aliased": aliased,
                    "missing_keys": missing[:_SHOWN],
                    "unexpected_keys": unexpected[:_SHOWN],
                },
            )
        )


def _argument(args: Any, kwargs: Any, position: int, name: str, default: Any) -> Any:
    return args[position] if len(args) > position else kwargs.get(name, default)
