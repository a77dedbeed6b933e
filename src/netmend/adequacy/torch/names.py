"""Names: the model and the data of a program that has run, found by the names that its source gives them.

Names of the main module are there when it has ended; names inside functions are not, so they are looked up while a model is called or
a DataLoader is read.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.utils.data import DataLoader, Dataset

from netmend.errors import UsageError

_MOST_MODELS = 8
_MOST_LISTED = 12
_DENSE = 32  # calls that are all looked at; later ones ever more rarely, but for evaluation


class Names:
    """What the wanted names stood for, as last seen in the program's own frames."""

    def __init__(self, wanted: Iterable[str], file: str) -> None:
        self.first = {part.strip().split(".")[0] for name in wanted for part in name.split(",")}
        self.file = file
        self.seen: dict[str, Any] = {}
        self.models: dict[int, nn.Module] = {}  # called from outside any module; held, for they may be locals
        self._calls = 0
        self._undo: list[Callable[[], None]] = []

    def listen(self) -> None:
        handle = register_module_forward_pre_hook(self._called)
        original = DataLoader.__iter__

        def read(loader: Any) -> Any:
            self._look(sys._getframe(1))
            return original(loader)

        DataLoader.__iter__ = read  # type: ignore[method-assign]

        def put_back() -> None:
            DataLoader.__iter__ = original  # type: ignore[method-assign]

        self._undo = [handle.remove, put_back]

    def stop(self) -> None:
        while self._undo:
            self._undo.pop()()

    def _called(self, module: nn.Module, given: Any) -> None:
        self._calls += 1
        rare = self._calls > _DENSE and self._calls & (self._calls - 1)
        if rare and torch.is_grad_enabled() and module.training:
            return
        if self._look(sys._getframe(1)) and any(True for _ in module.parameters()):
            self.models.pop(id(module), None)
            self.models[id(module)] = module
            while len(self.models) > _MOST_MODELS:
                self.models.pop(next(iter(self.models)))

    def _look(self, frame: FrameType | None) -> bool:
        """Take the wanted names from the program's frames; True when no module's call is among the frames but the first."""
        inside = 0
        while frame is not None:
            name = frame.f_code.co_name
            if name == "_call_impl" and isinstance(frame.f_locals.get("self"), nn.Module):
                inside += 1
            if frame.f_code.co_filename == self.file and name != "<module>":
                found = frame.f_locals
                self.seen.update({key: found[key] for key in self.first if key in found})
            frame = frame.f_back
        return inside <= 1

    # -- afterwards --------------------------------------------------------------------------------------------

    def value(self, name: str, module: Mapping[str, Any], option: str) -> Any:
        """`loader`, `data.test`, or columns: `x_test,y_test`."""
        parts = [part.strip() for part in name.split(",")]
        if not all(parts):
            raise UsageError(
                f"{option} {name}: write names of the program, as in test_loader or x_test,y_test"
            )
        values = tuple(self._one(part, module, option) for part in parts)
        return values[0] if len(values) == 1 else values

    def _one(self, name: str, module: Mapping[str, Any], option: str) -> Any:
        first, *rest = name.split(".")
        if first not in module and first not in self.seen:
            raise UsageError(f"{option} {name}: the program has no {first}; {_offer(module, option)}")
        value = module[first] if first in module else self.seen[first]
        for part in rest:
            if isinstance(value, Mapping) and part in value:
                value = value[part]
            elif hasattr(value, part):
                value = getattr(value, part)
            else:
                raise UsageError(f"{option} {name}: there is no {part} in a {type(value).__name__}")
        return value

    def model(self, module: Mapping[str, Any]) -> nn.Module:
        """The only model that the program called; among several the user has to choose."""
        named = {id(value): name for name, value in module.items() if isinstance(value, nn.Module)}
        found = {key: one for key, one in self.models.items() if not isinstance(one, nn.modules.loss._Loss)}
        parts = {id(part) for one in found.values() for part in one.modules() if part is not one}
        whole = [one for key, one in found.items() if key not in parts]
        if len(whole) == 1:
            return whole[0]
        if not whole:
            raise UsageError("the program called no model that has parameters; name it with --model")
        kinds = ", ".join(named.get(id(one), f"a {type(one).__name__}") for one in whole)
        raise UsageError(f"the program called {len(whole)} models ({kinds}); name one with --model")


def _offer(module: Mapping[str, Any], option: str) -> str:
    kinds = (nn.Module,) if option == "--model" else (DataLoader, Dataset, Tensor, np.ndarray)
    names = [name for name, value in module.items() if isinstance(value, kinds) and not name.startswith("_")]
    if not names:
        return "check the name in its source"
    return f"it has {', '.join(names[:_MOST_LISTED])}{' …' if len(names) > _MOST_LISTED else ''}"
