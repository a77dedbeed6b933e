"""Listening to a training program: with what its model was trained, and what it was evaluated on.

Inputs are kept as they reach the model, after whatever the program does to them. Labels are what a loss compares with, else the
labels of the loader's batch, else a variable beside the inputs. A forward pass with gradients turns out to be
training when backward() follows; what is left without is evaluation.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.dataloader import _BaseDataLoaderIter

from netmend.adapters.patches import Patches
from netmend.adapters.torch.subject.calls import (
    MOST_TEST,
    Heard,
    Layout,
    Passage,
    inputs_of,
    relation_of,
    sample_keys,
    samples_of,
)
from netmend.adapters.torch.watch.eligible import tensors_in, unusual_execution
from netmend.adapters.torch.watch.loss_calls import CRITERIA, split_arguments

_OF_LABELS = ("y", "t", "label", "labels", "target", "targets", "truth", "classes")  # beginnings of names
_OF_INPUTS = ("x", "inputs", "input", "images", "image", "data", "features")
_MOST_COLUMNS = 64  # of targets


def label_beside(inputs: Tensor, frame: FrameType) -> Tensor | None:
    """A variable of the calling function with a label for each input: `y_test` for `x_test`, `y[800:]` for `x[800:]`."""
    found = _beside(inputs, inputs, frame)
    base = inputs._base
    if found is None and base is not None and base.shape[1:] == inputs.shape[1:] and base.stride(0):
        start = (inputs.storage_offset() - base.storage_offset()) // base.stride(0)
        whole = _beside(base, inputs, frame)
        found = None if whole is None else whole[start : start + len(inputs)]
    return torch.as_tensor(found).detach() if found is not None and len(found) == len(inputs) else None


def _beside(whole: Tensor, inputs: Tensor, frame: FrameType) -> Any:
    """Labels for all rows of a tensor."""
    own = ""
    found: list[tuple[str, Any]] = []
    for name, value in _variables(frame):
        if not isinstance(value, Tensor | np.ndarray) or value.ndim == 0 or len(value) != len(whole):
            continue
        if isinstance(value, Tensor) and value.data_ptr() == whole.data_ptr():
            own = name
        elif _may_be_label(value, inputs):
            found.append((name, value))
    return _chosen(own, found)


def _may_be_label(value: Any, inputs: Tensor) -> bool:
    if tuple(value.shape[1:]) == tuple(inputs.shape[1:]) and inputs.dim() > 1:
        return False  # inputs of another kind
    return bool(value.ndim == 1 or (value.ndim == 2 and value.shape[1] <= _MOST_COLUMNS))


def _chosen(own: str, found: list[tuple[str, Any]]) -> Any:
    """By name where several would do; nothing where that does not tell."""
    wanted = {beginning + _ending(own, _OF_INPUTS) for beginning in _OF_LABELS} if own else set()
    by_pair = [value for name, value in found if name.lower() in wanted]
    if len(by_pair) == 1:
        return by_pair[0]
    named = [value for name, value in found if _ending(name, _OF_LABELS) != name.lower()]
    for some in (named, [value for _, value in found]):
        if len(some) == 1:
            return some[0]
    return None


def _ending(name: str, beginnings: tuple[str, ...]) -> str:
    """`_test` of `x_test`; the whole name where it does not begin so."""
    lower = name.lower()
    for beginning in sorted(beginnings, key=len, reverse=True):
        if lower == beginning or lower.startswith((f"{beginning}_", f"{beginning}t")):
            return lower[len(beginning) :]
    return lower


def _variables(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """Those that the function mentions."""
    code = frame.f_code
    for name in dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names)):
        for place in (frame.f_locals, frame.f_globals):
            if name in place:
                yield name, place[name]
                break


MOST_TRAINING = 3_000  # inputs of training that are kept
_MOST_HASHED = 20_000  # inputs of training that are recognised in evaluation
_MOST_PENDING = 512  # calls with gradients that may be evaluation


class Listener:
    """Everything that is heard of one program; `root` is the folder with its sources."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.training = Passage()
        self.passes: dict[tuple[int, int], Passage] = {}  # the latest evaluation at each place
        self.names: dict[str, Any] = {}  # variables that held data where the model was called
        self.example: Heard | None = None  # the latest call: how the model is given its inputs
        self.trained: Heard | None = None  # the latest call that backward() followed
        self.rows: set[bytes] = set()
        self.layout = Layout()
        self.problems: list[str] = []
        self._patches = Patches()
        self._inside = False
        self._thread = threading.get_ident()
        self._pending: list[Heard] = []
        self._trained_at = 0  # in the order of calls
        self._count = 0
        self._loader = 0
        self._batch: Any = None
        self._repeated = 0
        self._sealed = False

    # -- hooks ---------------------------------------------------------------------------------------------------

    def install(self) -> None:
        wrap = self._patches.wrap
        wrap(nn.Module, "__call__", self._around_module)
        for criterion in CRITERIA:
            wrap(functional, criterion, partial(self._around_loss, criterion))
        wrap(DataLoader, "__iter__", self._around_loader)
        wrap(_BaseDataLoaderIter, "__next__", self._around_batch)
        wrap(torch.autograd, "backward", self._around_backward)

    def remove(self) -> None:
        self._patches.undo()

    def _around_module(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            if self._inside or torch.compiler.is_compiling() or threading.get_ident() != self._thread:
                return original(module, *args, **kwargs)
            self._inside = True
            try:
                result = original(module, *args, **kwargs)
            finally:
                self._inside = False
            self._safely(self._called, module, args, kwargs, result, sys._getframe(1))
            return result

        return call

    def _around_loss(self, criterion: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if not torch.compiler.is_compiling():
                self._safely(self._compared, criterion, *split_arguments(args, kwargs))
            return result

        return call

    def _around_loader(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def iterate(loader: Any) -> Any:
            self._loader = id(loader)
            self._count += 1
            passage = next((one for (_, held), one in self.passes.items() if held == self._loader), None)
            if passage is not None:
                passage.order = -1  # what comes now is evaluated anew
            return original(loader)

        return iterate

    def _around_batch(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def following(iterator: Any) -> Any:
            self._batch = None
            self._batch = original(iterator)
            return self._batch

        return following

    def _around_backward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(*args: Any, **kwargs: Any) -> Any:
            self._safely(self._learned)
            return original(*args, **kwargs)

        return backward

    def _safely(self, part: Callable[..., None], *given: Any) -> None:
        """The training must go on whatever fails here."""
        if self._sealed or unusual_execution():
            return
        try:
            with torch.no_grad():
                part(*given)
        except Exception as problem:  # noqa: BLE001
            self.problems.append(f"{type(problem).__name__}: {problem}")
            self._sealed = len(self.problems) > 20

    # -- what is heard -------------------------------------------------------------------------------------------

    def _called(
        self, module: nn.Module, args: Any, kwargs: Any, result: Any, frame: FrameType | None
    ) -> None:
        inputs, names = inputs_of(args, kwargs)
        if not inputs or next(module.parameters(), None) is None:
            return
        frame = self._user_frame(frame)
        if frame is None:
            return
        if self.example is not None:
            self.example.output = ()  # no loss will be computed of it any more
        self._count += 1
        output = tuple(tensor.detach() for tensor in tensors_in(result))
        size = samples_of(inputs, output)
        if not size:
            return
        self.layout.learn_inputs(self._batch, inputs)
        label = self.layout.label_in(self._batch, size, inputs)
        if label is None and len(inputs[0]) == size:
            label = label_beside(inputs[0], frame)
        if label is None and "labels" in names:
            label = inputs[names.index("labels")]
        place = (self._chain(frame), self._loader if self._batch is not None else 0)
        plain = tuple(tensor.detach() for tensor in inputs)
        heard = Heard(module, plain, names, size, output, label, place)
        passage = self.passes.get(place)
        if self.example is None or passage is None or passage.order <= self._trained_at:
            self._look_around(frame)
        self.example = heard
        if any(tensor.requires_grad for tensor in tensors_in(result)):
            self._pending.append(heard)
            del self._pending[:-_MOST_PENDING]
        else:
            self._evaluated(heard)

    @property
    def _knows_training(self) -> bool:
        kept = self.training.inputs
        return kept >= MOST_TRAINING or self._repeated > 2 * len(self.rows) or self._repeated >= kept > 0

    def _evaluated(self, heard: Heard) -> None:
        passage = self.passes.get(heard.place)
        if passage is None or passage.order <= self._trained_at:
            passage = self.passes[heard.place] = Passage()
        passage.order = self._count
        passage.add(heard, MOST_TEST)

    def _compared(self, criterion: str, prediction: Any, target: Any) -> None:
        """A loss: what the latest call should have led to."""
        heard = self.example
        if heard is None or not isinstance(prediction, Tensor) or not isinstance(target, Tensor):
            return
        for which, output in enumerate(heard.output):
            if output.numel() == prediction.numel() and output.dim() and len(output) == heard.size:
                heard.which, heard.criterion = which, criterion
                heard.relation = relation_of(output, prediction.detach())
                self.layout.learn_label(self._batch, target)
                if target.dim() and target.numel() % heard.size == 0:
                    rows = len(target) == heard.size
                    heard.label = target.detach() if rows else target.detach().reshape(heard.size, -1)
                return

    def _learned(self) -> None:
        """backward(): the latest call was training, and with it the others from the same place."""
        pending, self._pending = self._pending, []
        for heard in pending:
            if heard.place == pending[-1].place:
                self._trained_with(heard)
            else:
                self._evaluated(heard)
        self._trained_at = self._count

    def _trained_with(self, heard: Heard) -> None:
        self.trained = heard
        if self._knows_training:
            return
        keys = sample_keys(heard.inputs, heard.size)
        if all(key in self.rows for key in keys):  # single ones may stand in the data twice
            self._repeated += heard.size
            return
        if len(self.rows) < _MOST_HASHED:
            self.rows.update(keys)
        if heard.label is not None:
            inputs = tuple(tensor.clone() for tensor in heard.inputs)  # the program may write to its own
            self.training.add(
                replace(heard, inputs=inputs, label=heard.label.clone(), output=()), MOST_TRAINING * 4
            )

    def finish(self) -> None:
        """The program has ended: what was never followed by backward() was evaluation."""
        self.remove()
        for heard in self._pending:
            self._safely(self._evaluated, heard)

    # -- the program's variables ---------------------------------------------------------------------------------

    def _user_frame(self, frame: FrameType | None) -> FrameType | None:
        while frame is not None and not frame.f_code.co_filename.startswith(self.root):
            frame = frame.f_back
        return frame

    def _chain(self, frame: FrameType | None) -> int:
        """The calls that led here: an evaluation function is called for one set after the other."""
        places = []
        while frame is not None:
            if frame.f_code.co_filename.startswith(self.root):
                places.append((id(frame.f_code), frame.f_lasti))
            frame = frame.f_back
        return hash(tuple(places))

    def _look_around(self, frame: FrameType | None) -> None:
        """Variables that hold data, from the function that calls the model outwards; inner ones hide outer ones."""
        seen: dict[str, Any] = {}
        while frame is not None:
            if frame.f_code.co_filename.startswith(self.root):
                for name, value in list(frame.f_locals.items()):
                    if isinstance(value, Tensor | DataLoader | Dataset) or type(value).__name__ == "ndarray":
                        seen.setdefault(name, value)
            frame = frame.f_back
        self.names.update(seen)
