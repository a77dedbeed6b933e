"""Layers: module hooks, present only during the steps that are looked at closely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from netmend.adapters.torch.guard import guarded, shielded
from netmend.adapters.torch.watch.eligible import first_tensor, plain, unusual_execution
from netmend.adapters.torch.watch.kinds import activation_of, channel_axis, is_compiled
from netmend.observe.schedule import FULL

if TYPE_CHECKING:
    from torch.utils.hooks import RemovableHandle

    from netmend.adapters.torch.meters.meter import Meter
    from netmend.adapters.torch.watch.models import Model
    from netmend.adapters.torch.watch.session import TorchSession

_peek_functorch = torch._C._functorch.peek_interpreter_stack
_tracing = torch._C._get_tracing_state
# Their outputs repeat what the layer before them showed.
_PASS_THROUGH = (nn.Identity, nn.Flatten, nn.Unflatten, nn.Dropout, nn.modules.dropout._DropoutNd)


@dataclass(slots=True)
class Running:
    """A module whose forward is being executed."""

    module: nn.Module
    had_child: bool = False


class Layers:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.stack: list[Running] = []
        self._by_hook = False  # its call was first seen by a hook, not by the patched call of its class
        self._handles: list[RemovableHandle] = []
        self._measured: set[int] = set()
        self.last_named = ""  # the layer that returned last
        self._kinds: dict[type[nn.Module], tuple[bool, str | None, int | None]] = {}
        self._meter: tuple[torch.device, Meter] | None = None  # that measured last
        self._axis: dict[int, int] = {}  # dimensions of a tensor → where units were last seen

    def arm(self) -> None:
        if not self._handles and not self.session.compiled:
            self._handles = [
                register_module_forward_pre_hook(shielded(self.session, "the order of layers", self._before)),
                register_module_forward_hook(
                    shielded(self.session, "the order of layers", self._after), always_call=True
                ),
            ]

    def disarm(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self.stack.clear()

    def step_over(self) -> None:
        self._measured.clear()
        self.stack.clear()

    @property
    def innermost(self) -> nn.Module | None:
        return self.stack[-1].module if self.stack else None

    def _before(self, module: nn.Module, args: Any) -> None:
        session = self.session
        if not session.watching() or session.in_backward:
            return
        stack = self.stack
        # Inside a forward pass only what can begin within one is asked again; a device's meter itself asks about capture.
        if (_peek_functorch() is not None or _tracing() is not None) if stack else unusual_execution():
            return
        if is_compiled(module):
            self.disarm()  # what follows is compiled: hooks would become part of it
            return
        model = session.models.active
        if model is None and not stack:
            self._by_hook = session.models.discover(module, args) is not None
            if not self._by_hook:
                return
        if model is None or not model.structure_known:
            self._push(module)
            return
        if stack:  # nothing but this is left to do for most calls
            stack[-1].had_child = True
        stack.append(Running(module))

    @guarded("the order of layers")
    def _push(self, module: nn.Module) -> None:
        if self.stack:
            self.stack[-1].had_child = True
        self.stack.append(Running(module))
        model = self.session.models.active
        if model is not None and not model.structure_known:
            model.called(module, self.session.sites.here())

    def _after(self, module: nn.Module, args: Any, output: Any) -> None:
        if not self.stack or self.stack[-1].module is not module:
            return
        session = self.session
        if session.busy or not session.alive:
            return
        running = self.stack.pop()
        model = session.models.active
        if model is not None:
            repeated = running.had_child or id(module) in self._measured
            if not repeated or not model.structure_known:
                self._look(model, running, args, output)
        if not self.stack and self._by_hook:
            self._by_hook = False
            session.models.leave(output)

    @guarded("statistics of activations")
    def _look(self, model: Model, running: Running, args: Any, output: Any) -> None:
        module = running.module
        if not model.structure_known:
            model.returned(module, args, output)
        passes, function, axis = self._kinds.get(type(module)) or self._kind(module)
        if running.had_child or passes or id(module) in self._measured:
            return
        self.last_named = model.name_of_module(module)
        tensor = output if plain(output) else first_tensor(output)
        if tensor is None or not tensor.is_floating_point() or not model.training_pass:
            return
        self._measured.add(id(module))
        if self.session.recorder.level == FULL:
            self.measure(self.last_named, tensor, function, axis)

    def _kind(self, module: nn.Module) -> tuple[bool, str | None, int | None]:
        """Whether it passes its input on, its activation function, the axis of its units: all told by its class."""
        kind = (isinstance(module, _PASS_THROUGH), activation_of(module), channel_axis(module))
        self._kinds[type(module)] = kind
        return kind

    def measure(self, component: str, tensor: Tensor, function: str | None, axis: int | None) -> None:
        """Statistics of one activation; where its units lie is inherited from the layer before, if need be."""
        dimensions = tensor.dim()
        if axis is None:
            axis = self._axis.get(dimensions, 1 if dimensions >= 4 else -1)
        self._axis[dimensions] = axis
        device = tensor.device
        if self._meter is None or self._meter[0] != device:
            self._meter = (device, self.session.meter(device))
        self._meter[1].activation(component, tensor.detach(), axis, function)
