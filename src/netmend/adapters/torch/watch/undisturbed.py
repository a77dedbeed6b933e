"""Undisturbed: the user's forward code is run once more, and nobody can tell afterwards.

Parameters, buffers and other tensors are replaced by copies while it runs (not overwritten and put back: a coming backward pass
may need them untouched), containers and objects get their contents back, random generators their states; what is printed,
warned about or logged meanwhile goes nowhere.
"""

from __future__ import annotations

import contextlib
import enum
import logging
import random
import sys
import threading
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from netmend.adapters.torch.watch.eligible import plain

_DEEPEST = 5
_MOST_VALUES = 20_000
_LARGEST_COPIES = 256_000_000  # bytes of tensors in all
_LARGEST_ARRAY = 4_000_000  # elements of a numpy array that are copied
_OF_EVERY_MODULE = frozenset(vars(nn.Module()))
_TENSORS = ("_parameters", "_buffers")
# What can be shared because it cannot change, or because changing it leaves no trace in training.
_FIXED = (
    types.NoneType,
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    range,
    slice,
    types.EllipsisType,
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    enum.Enum,
    PurePath,
    np.generic,
    np.dtype,
    torch.dtype,
    torch.device,
    torch.layout,
    torch.memory_format,
    torch.Size,
)


class Kept:
    """Remembers the contents of modules, containers and objects, and puts copies of their tensors in place."""

    def __init__(self) -> None:
        self.whole = True  # False: something was met whose state cannot be put back
        self._undo: list[Callable[[], None]] = []
        self._copies: dict[int, Tensor] = {}
        self._bytes = 0
        self._met: dict[int, Any] = {}  # kept alive, so that identities stay true

    def module(self, root: nn.Module) -> None:
        for child in root.modules():
            if id(child) in self._met:
                continue
            self._met[id(child)] = child
            inside = vars(child)
            # The weights of recurrent layers share one piece of memory, which copies would not.
            replace = not isinstance(child, nn.RNNBase)
            for name in _OF_EVERY_MODULE:
                if isinstance(inside.get(name), dict):
                    self._contents(inside[name], 1 if replace and name in _TENSORS else 0)
            own = {k: v for k, v in inside.items() if k not in _OF_EVERY_MODULE}
            self._undo.append(_restore_dict(inside))
            if replace:
                inside.update({k: self.value(v, _DEEPEST) for k, v in own.items()})

    def value(self, value: Any, depth: int = _DEEPEST) -> Any:
        """What stands in for a value meanwhile: a copy for a tensor, the value itself for anything else."""
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, _FIXED) or id(value) in self._met:
            return value
        if depth <= 0 or len(self._met) > _MOST_VALUES:
            self.whole = False
            return value
        self._met[id(value)] = value
        if isinstance(value, nn.Module):
            self.module(value)
        elif isinstance(value, types.MethodType):
            self.value(value.__self__, depth - 1)
        elif isinstance(value, (dict, list, set, deque)):
            if len(value) > _MOST_VALUES:
                self.whole = False
            else:
                self._contents(value, depth)
        elif isinstance(value, (tuple, frozenset)):
            return self._tuple(value, depth)
        elif not self._generator(value):
            self._object(value, depth)
        return value

    def name(self, namespace: dict[str, Any], name: str) -> None:
        """A global or another variable that the code reads."""
        original = namespace[name]
        stand_in = self.value(original)
        if stand_in is not original:
            self._undo.append(lambda: namespace.__setitem__(name, original))
            namespace[name] = stand_in

    def cell(self, cell: types.CellType) -> None:
        """A variable of an enclosing function."""
        original = cell.cell_contents
        stand_in = self.value(original)
        if stand_in is not original:
            self._undo.append(lambda: setattr(cell, "cell_contents", original))
            cell.cell_contents = stand_in

    def attributes(self, kind: type) -> None:
        """What a class of the user's holds for all its instances."""
        saved = {k: v for k, v in vars(kind).items() if not k.startswith("__") and not callable(v)}
        for value in saved.values():
            if not hasattr(type(value), "__get__"):
                self.value(value)

        def undo() -> None:
            for name, value in saved.items():
                if vars(kind).get(name) is not value:
                    setattr(kind, name, value)

        self._undo.append(undo)

    def put_back(self) -> None:
        with (
            contextlib.ExitStack() as back
        ):  # each is tried, whatever happens to the others; the last one first
            for undo in self._undo:
                back.callback(undo)

    def _tensor(self, tensor: Tensor) -> Tensor:
        if not plain(tensor):
            self.whole = False
            return tensor
        copy = self._copies.get(id(tensor))
        if copy is None:
            self._bytes += tensor.numel() * tensor.element_size()
            if self._bytes > _LARGEST_COPIES:
                self.whole = False
                return tensor
            self._met[id(tensor)] = tensor
            with torch.no_grad():
                copy = tensor.detach().clone()
            if isinstance(tensor, nn.Parameter):
                copy = nn.Parameter(copy, requires_grad=tensor.requires_grad)
            elif tensor.requires_grad:
                copy.requires_grad_()
            self._copies[id(tensor)] = copy
        return copy

    def _contents(self, value: Any, depth: int) -> None:
        if isinstance(value, dict):
            self._undo.append(_restore_dict(value))
            if depth:
                for key, item in list(value.items()):
                    stand_in = self.value(item, depth - 1)
                    if stand_in is not item:
                        value[key] = stand_in
        elif isinstance(value, list):
            self._undo.append(_restore_list(value))
            value[:] = [self.value(item, depth - 1) for item in value]
        elif isinstance(value, deque):
            self._undo.append(_restore_collection(value, "extend"))
            items = [self.value(item, depth - 1) for item in value]
            value.clear()
            value.extend(items)
        else:
            self._undo.append(_restore_collection(value, "update"))
            for item in value:
                self.value(item, depth - 1)

    def _tuple(self, value: Any, depth: int) -> Any:
        items = [self.value(item, depth - 1) for item in value]
        if isinstance(value, frozenset) or all(a is b for a, b in zip(items, value, strict=True)):
            return value
        if type(value) is tuple:
            return tuple(items)
        return value._make(items) if hasattr(value, "_make") else value

    def _generator(self, value: Any) -> bool:
        """Sources of random numbers, and arrays: their state can be read and set."""
        if isinstance(value, torch.Generator):
            state = value.get_state()
            self._undo.append(lambda: _discard(value.set_state(state)))
        elif isinstance(value, random.Random):
            python_state = value.getstate()
            self._undo.append(lambda: value.setstate(python_state))
        elif isinstance(value, np.random.Generator):
            bits = value.bit_generator.state
            self._undo.append(lambda: setattr(value.bit_generator, "state", bits))
        elif isinstance(value, np.random.RandomState):
            numpy_state = value.get_state()
            self._undo.append(lambda: value.set_state(numpy_state))
        elif isinstance(value, np.ndarray) and value.dtype != object and value.size <= _LARGEST_ARRAY:
            copy = value.copy()
            self._undo.append(lambda: np.copyto(value, copy) if value.flags.writeable else None)
        else:
            return False
        return True

    def _object(self, value: Any, depth: int) -> None:
        """An object with attributes of its own; anything else (files, iterators, writers) has a state nobody can see."""
        inside = getattr(value, "__dict__", None)
        stateless = hasattr(type(value), "__call__") and inside == {}  # noqa: B004 - the class, not the object
        if not isinstance(inside, dict) or hasattr(value, "__next__") or hasattr(value, "fileno"):
            self.whole = self.whole and stateless
            return
        self._undo.append(_restore_dict(inside))
        for key, item in list(inside.items()):
            inside[key] = self.value(item, depth - 1)


def _restore_dict(value: dict[Any, Any]) -> Callable[[], None]:
    saved = dict(value)

    def undo() -> None:  # item by item: a Counter's update() would add
        if list(value) != list(saved):
            value.clear()
        for key, item in saved.items():
            if value.get(key) is not item or key not in value:
                value[key] = item

    return undo


def _restore_list(value: list[Any]) -> Callable[[], None]:
    saved = list(value)
    return lambda: value.__setitem__(slice(None), saved)


def _restore_collection(value: Any, refill: str) -> Callable[[], None]:
    saved = list(value)

    def undo() -> None:
        value.clear()
        getattr(value, refill)(saved)

    return undo


def _discard(_: object) -> None:
    """For functions whose result nobody needs."""


@dataclass
class RandomState:
    host: Tensor
    devices: list[Tensor]

    @staticmethod
    def now() -> RandomState:
        devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
        return RandomState(torch.get_rng_state(), devices)

    def restore(self) -> None:
        """To be called while `undisturbed` only, which gives devices their own state back."""
        torch.set_rng_state(self.host)
        for generator, state in zip(device_generators(), self.devices, strict=False):
            again = torch.Generator(generator.device)
            again.set_state(state)
            generator.graphsafe_set_state(again)


def device_generators() -> tuple[torch.Generator, ...]:
    return tuple(torch.cuda.default_generators) if torch.cuda.is_initialized() else ()


class _Silent:
    """A stream that drops what this thread writes; other threads still reach the real one."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._thread = stream, threading.get_ident()

    def write(self, text: str) -> int:
        if threading.get_ident() == self._thread:
            return len(text)
        written: int = self._stream.write(text)
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def undisturbed(module: nn.Module | None, kept: Kept | None = None) -> Iterator[Kept]:
    """Whatever is run inside leaves the module (if any), random states and outputs of the program as they were."""
    kept = Kept() if kept is None else kept
    # Put in front by hand: the proper function would make Python show warnings again that were shown already.
    silence: Any = ("ignore", None, Warning, None, 0)
    filters: list[Any] = warnings.filters  # type: ignore[assignment]
    with contextlib.ExitStack() as back:  # each is tried, whatever happens to the others
        back.callback(torch.set_rng_state, torch.get_rng_state())
        # Setting the state of a device's generator would also reset the dropout of cuDNN's recurrent layers; another state
        # object in its place meanwhile does not.
        for generator in device_generators():
            back.callback(generator.graphsafe_set_state, generator.graphsafe_get_state())
            generator.graphsafe_set_state(generator.clone_state())
        back.callback(random.setstate, random.getstate())
        back.callback(np.random.set_state, np.random.get_state())
        back.callback(kept.put_back)
        back.callback(setattr, sys, "stdout", sys.stdout)
        back.callback(setattr, sys, "stderr", sys.stderr)
        back.callback(lambda: filters.remove(silence) if silence in filters else None)
        back.callback(logging.disable, logging.root.manager.disable)
        back.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
        back.callback(setattr, torch.backends.cudnn, "benchmark", torch.backends.cudnn.benchmark)
        if module is not None:
            kept.module(module)
        sys.stdout, sys.stderr = _Silent(sys.stdout), _Silent(sys.stderr)
        filters.insert(0, silence)
        logging.disable(logging.CRITICAL)
        torch.backends.mha.set_fastpath_enabled(
            False
        )  # it warns once per process: the program's own call has to
        torch.backends.cudnn.benchmark = False
        yield kept
