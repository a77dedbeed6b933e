"""Models: the outermost modules a program calls, found while it runs."""

from __future__ import annotations

import sys
import weakref
from time import perf_counter
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from netmend.adapters.torch.guard import RAISED, around, guarded
from netmend.adapters.torch.watch import structure
from netmend.adapters.torch.watch.eligible import shapes_in, tensors_in, unusual_execution
from netmend.adapters.torch.watch.loss_calls import Layout
from netmend.observe.schedule import FULL
from netmend.vocabulary import Event, Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession


_MOST_FRAMES = 12
_CALLING = ("_call_impl", "_wrapped_call_impl", "__call__")


def owner_called_directly(module: nn.Module, frame: FrameType | None) -> nn.Module | None:
    """The outermost module around this one whose forward() runs without having been called as a module."""
    found: nn.Module | None = None
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        if frame.f_code.co_name == "forward" and frame.f_code.co_varnames:
            owner = frame.f_locals.get(frame.f_code.co_varnames[0])
            calling = frame.f_back.f_code.co_name if frame.f_back is not None else ""
            if (
                isinstance(owner, nn.Module)
                and owner is not module
                and calling not in _CALLING
                and any(child is module for child in owner.modules())
            ):
                found = owner
        frame = frame.f_back
    return found


_SELDOM = 16  # steps between two calls without gradients from which on they are evaluation rather than part of a step


class Model:
    """One outermost module: what is known of it, and the state of its call in progress."""

    def __init__(self, session: TorchSession, module: nn.Module, name: str) -> None:
        self.session = session
        self.name = name
        self.reference = weakref.ref(module)
        self.called_from: Site | None = None
        self.structure_known = False
        self.training_pass = False
        self.seen_in_train_mode = False
        self.trains_in_eval_mode = False  # backward() has followed a forward pass in eval mode
        self.without_grad = -_SELDOM  # the last step at which it was called without gradients
        self.parameter_ids: tuple[int, ...] = ()
        self.calls: dict[int, structure.Seen] = {}  # by module, in execution order
        self.forward_seconds = float("inf")  # the shortest forward pass so far, on the host's clock
        self.entered = 0.0
        self.criterion = False  # it gave the loss of what a model said
        self.input_shapes: tuple[tuple[int, ...], ...] = ()
        self.output_shapes: tuple[tuple[int, ...], ...] = ()
        self.register(module)

    def register(self, module: nn.Module) -> None:
        """Give every module and parameter its dotted name."""
        inside = getattr(module, "_orig_mod", module)  # what torch.compile wraps
        for path, child in inside.named_modules():
            if child not in self.session.names:
                self.session.names.put(child, f"{self.name}.{path}" if path else self.name)
        for path, parameter in inside.named_parameters():
            if parameter not in self.session.names:
                self.session.names.put(parameter, f"{self.name}.{path}")
        self.parameter_ids = structure.identity(module)

    def scores(self, args: Any, kwargs: Any) -> bool:
        """Whether it is a criterion of the user's own: nothing to train in it, and it is given what a model computed."""
        if self.parameter_ids:
            return False
        return self.criterion or any(tensor.requires_grad for tensor in tensors_in((args, kwargs)))

    def name_of_module(self, module: nn.Module) -> str:
        name = self.session.names.get(module)
        if name is None:  # executed inside the model, but registered nowhere
            seen = self.calls.get(id(module))
            place = f"@{seen.called.short}" if seen is not None and seen.called is not None else ""
            name = f"{self.name}.({type(module).__name__}{place}#{len(self.calls)})"
            self.session.names.put(module, name)
            for path, parameter in module.named_parameters():
                if parameter not in self.session.names:
                    self.session.names.put(parameter, f"{name}.{path}")
        return name

    def called(self, module: nn.Module, site: Site | None) -> None:
        seen = self.calls.get(id(module))
        if seen is None:
            seen = self.calls[id(module)] = structure.Seen(weakref.ref(module), len(self.calls), site)
        seen.times += 1

    def returned(self, module: nn.Module, args: Any, output: Any) -> None:
        seen = self.calls.get(id(module))
        if seen is not None and seen.times == 1:
            seen.inputs = shapes_in(args)
            outputs = list(tensors_in(output))
            seen.outputs = tuple(tuple(t.shape) for t in outputs)
            seen.dtype = str(outputs[0].dtype).removeprefix("torch.") if outputs else ""


class Models:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.all: list[Model] = []
        self.active: Model | None = None
        self.last_output: tuple[int, ...] | None = None  # shape of what the latest forward pass returned
        self.outputs: list[Layout] = []  # the tensors that it was made of
        self._by_id: dict[int, Model] = {}
        self._patched: set[tuple[type[nn.Module], str]] = set()

    def install(self) -> None:
        for kind, method in tuple(self._patched):  # after a pause
            self._wrap(kind, method)

    def find(self, module: nn.Module) -> Model | None:
        model = self._by_id.get(id(module))
        return model if model is not None and model.reference() is module else None

    def parameters(self) -> list[tuple[str, nn.Parameter]]:
        """All named parameters of all models, each once."""
        found: dict[int, tuple[str, nn.Parameter]] = {}
        for model in self.all:
            module = model.reference()
            for parameter in module.parameters() if module is not None else ():
                found.setdefault(id(parameter), (self.session.names.get(parameter) or "?", parameter))
        return list(found.values())

    # -- calls of outermost modules ------------------------------------------------------------------------------

    @guarded("the models of the program")
    def discover(self, module: nn.Module, args: Any) -> Model | None:
        """A module hook saw a call from outside any module: a model, if it has parameters."""
        known = self.find(module)
        owner = None if known is not None else owner_called_directly(module, sys._getframe(1))
        if owner is not None:  # its next forward() is seen as a call
            known = self.find(owner) or self._new(owner)
            if known is not None and (type(owner), "forward") not in self._patched:
                self._wrap(type(owner), "forward")
            return None
        model = known or self._new(module)
        if model is None:
            return None
        self._enter(model, module, args, {}, self.session.sites.here())
        return model

    @guarded("the models of the program")
    def expect(self, module: nn.Module) -> None:
        """The user named this model: know it before it is first called."""
        if self.find(module) is None:
            self._new(module)

    def _new(self, module: nn.Module) -> Model | None:
        if isinstance(module, nn.modules.loss._Loss):
            return None
        # Layers in a plain list register nothing: a module without parameters counts if its class is the user's own. While a
        # loader makes a batch it prepares samples, as a library's transforms do.
        own = self._is_own(type(module)) and not self.session.data.fetching
        if not own and next(module.parameters(), None) is None:
            return None
        inside = getattr(module, "_orig_mod", module)
        name = (
            self.session.sites.name_here(module)
            or self.session.sites.name_here(inside)
            or type(inside).__name__.lower()
        )
        model = Model(self.session, module, self.session.unique_name(name))
        self.all = [
            known for known in self.all if known.reference() is not None
        ]  # those of earlier folds are gone
        self.all.append(model)
        self._by_id[id(module)] = model
        kind = type(module)
        if (kind, "__call__") not in self._patched and not isinstance(module, torch.jit.ScriptModule):
            self._wrap(kind)
        structure.record_parameters(self.session, model, module)
        return model

    def _is_own(self, kind: type[nn.Module]) -> bool:
        file = getattr(sys.modules.get(kind.__module__), "__file__", None)
        return file is None or self.session.sites.is_user_file(file)

    def _wrap(self, kind: type[nn.Module], method: str = "__call__") -> None:
        self._patched.add((kind, method))
        self.session.patches.wrap(
            kind,
            method,
            self.session.often.passing(
                around(self.session, "forward passes", self._calling, self._called, always=True)
            ),
        )

    def _calling(self, args: Any, kwargs: Any) -> bool | None:
        session = self.session
        if self.active is not None or (session.quiet and torch.is_grad_enabled()):
            return None
        model = self.find(args[0])
        if session.quiet:
            if model is None or session.recorder.step - model.without_grad < _SELDOM:
                return None
            session.promote()  # an evaluation pass; one that comes with every step is part of training
        if model is None or not session.watching() or session.in_backward:
            return None
        if session.often.too_often(args) or unusual_execution():
            return None
        self.enter(model, args[0], args[1:], kwargs)
        return True

    def _called(self, token: Any, args: Any, kwargs: Any, output: Any) -> None:
        if output is RAISED:
            self.active = None
            self.session.functions.leave()
        else:
            self.leave(output)

    @guarded("forward passes")
    def enter(self, model: Model, module: nn.Module, args: Any, kwargs: Any) -> None:
        self._enter(model, module, args, kwargs, self.session.sites.here())

    def _enter(self, model: Model, module: nn.Module, args: Any, kwargs: Any, site: Site | None) -> None:
        session = self.session
        session.functions.leave()
        grad = torch.is_grad_enabled()
        training = module.training
        model.training_pass = grad and (training or model.trains_in_eval_mode or not model.seen_in_train_mode)
        model.seen_in_train_mode = model.seen_in_train_mode or (grad and training)
        if grad and training:
            session.evaluation.close()
            session.steps.boundary()
        elif not training or not grad:
            # In eval mode with gradients it may still turn out to be training: backward() decides.
            session.evaluation.begin(model, training, grad)
        if not grad:
            model.without_grad = session.recorder.step
        detail = f"{'train' if training else 'eval'}, {'grad' if grad else 'no_grad'}"
        session.recorder.patterns.note("forward", model.name, detail, site)
        model.called_from = model.called_from or site
        self.active = model
        if grad:
            session.nonfinite.entering(module, args, kwargs, site)
        if session.recorder.level == FULL and grad:
            if structure.identity(module) != model.parameter_ids:
                self._changed(model, module)
            session.environment_changed(**conditions(module))
            if not model.structure_known:
                model.input_shapes = shapes_in((args, kwargs))
            session.functions.enter_forward(module)
        session.readiness.entered(model, module, site)
        if not model.scores(args, kwargs):  # what a criterion is given is no data
            session.data.looked_at(model, args, kwargs, training=model.training_pass)
        model.entered = perf_counter()

    def _changed(self, model: Model, module: nn.Module) -> None:
        """Layers or trainable parts differ from what was recorded: record them anew."""
        session = self.session
        session.recorder.event(
            Event(
                session.recorder.step,
                "model changed",
                f"{model.name} has other parameters than before",
                model.name,
            )
        )
        model.structure_known = False
        model.calls.clear()
        model.register(module)
        structure.record_parameters(session, model, module)

    @guarded("forward passes")
    def leave(self, output: Any) -> None:
        session, model = self.session, self.active
        self.active = None
        session.functions.leave()
        if model is None:
            return
        model.forward_seconds = min(model.forward_seconds, perf_counter() - model.entered)
        grad = torch.is_grad_enabled()
        session.evaluation.forward_done()
        self.last_output = output.shape if isinstance(output, Tensor) else None
        model.criterion = isinstance(output, Tensor) and not output.dim()
        if grad:
            session.nonfinite.leaving(output)
        if session.recorder.level == FULL and grad:
            if not model.structure_known:
                model.output_shapes = shapes_in(output)
            session.functions.enter_tail(output)
            self.outputs = [Layout.of(tensor) for tensor in tensors_in(output)]

    def step_over(self) -> None:
        """A fully observed step is complete: write down the structure that was seen."""
        for model in self.all:
            module = model.reference()
            seen = model.calls or (self.session.compiled and model.called_from is not None)
            if module is not None and seen and not model.structure_known:
                structure.record_modules(self.session, model, module)
                model.structure_known = True
                structure.record_parameters(self.session, model, module, first=False)
                self.session.initialisers.tell()

    def finish(self) -> None:
        self.session.readiness.resolve()
        self.session.initialisers.tell()
        for model in self.all:
            module = model.reference()
            if module is not None and not model.structure_known:
                structure.record_modules(self.session, model, module)


def conditions(module: nn.Module) -> dict[str, Any]:
    """What is known once a model runs: its device, and the precision that is chosen for it."""
    first = next(module.parameters(), None)
    if first is None:
        return {}
    kind = first.device.type
    found: dict[str, Any] = {"device": device_name(first.device)}
    if torch.is_autocast_enabled(kind):
        found["autocast"] = str(torch.get_autocast_dtype(kind)).removeprefix("torch.")
    return found


def device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return f"cuda: {torch.cuda.get_device_name(device)}"
    return device.type
