"""Training and evaluation mode: which models care, where they are switched, where they are called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from netmend.program.engine.containers import container_layers
from netmend.program.engine.history import CallEvent, Event, Guard, Loop
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Either,
    Instance,
    Name,
    Param,
    Value,
    resolved,
)
from netmend.program.meaning.models import members
from netmend.program.meaning.operations import layer_name
from netmend.program.meaning.roles import MODEL, bare, role, same
from netmend.program.meaning.training import grad_is_off

_SENSITIVE = frozenset(
    ("batchnorm1d", "batchnorm2d", "batchnorm3d", "syncbatchnorm", "lazybatchnorm1d", "lazybatchnorm2d", "lazybatchnorm3d",
     "dropout", "dropout1d", "dropout2d", "dropout3d", "alphadropout", "featurealphadropout", "rrelu")
)  # fmt: skip
_WITH_DROPOUT = frozenset(("lstm", "gru", "rnn", "multiheadattention"))  # only if they are given some
# 0.1 by default
_TRANSFORMERS = frozenset(("transformerencoderlayer", "transformerdecoderlayer", "transformer"))
_CONTAINERS = ("torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict")
# Names of functions that leave dropout on to learn how sure a model is, or let batch norm see the data again.
MEANT_TO_DROP = re.compile(
    r"monte|carlo|(?:^|_)mc(?:_|$)|dropout|uncertain|stochastic|bayes|ensemble|batch_?norm|(?:^|_)bn(?:_|$)|calibrat",
    re.IGNORECASE,
)
_DROPS = re.compile(r"drop|batch_norm", re.IGNORECASE)
_MODEL_PACKAGES = ("torchvision.models.", "timm.create_model")


def cares(model: Value, depth: int = 8) -> bool | None:
    """Does a model behave differently in the two modes? None where its inside is not known."""
    model = bare(model)
    if depth == 0:
        return None
    if isinstance(model, Instance):
        return _instance_cares(model, depth)
    if isinstance(model, Collection):
        return _any(model.items, depth, is_open=model.open)
    if isinstance(model, Either):
        answers = {cares(option, depth - 1) for option in model.options}
        return answers.pop() if len(answers) == 1 else None
    if not isinstance(model, Call):
        return False if isinstance(model, Const | Name) else None
    if model.qualified.startswith(_MODEL_PACKAGES):
        return True
    if model.qualified in _CONTAINERS:
        layers = container_layers(None, model) if model.qualified == _CONTAINERS[0] else list(model.args)
        return _any(
            layers if layers is not None else list(model.args), depth, is_open=layers is None or model.open
        )
    return _layer_cares(model)


def _layer_cares(layer: Call) -> bool | None:
    name = layer_name(layer)
    if not name:
        return (
            False
            if layer.qualified.startswith(("torch.", "numpy.", "math.")) or "." not in layer.qualified
            else None
        )
    if name in _SENSITIVE:
        rate = layer.argument("p", 0) if "dropout" in name else None
        return not (isinstance(rate, Const) and rate.value == 0)
    if name in ("transformerencoder", "transformerdecoder") and layer.args:
        return cares(layer.args[0])
    if name in _TRANSFORMERS:
        return not (isinstance(layer.keywords.get("dropout"), Const) and layer.keywords["dropout"].value == 0)  # type: ignore[attr-defined]
    if name in _WITH_DROPOUT and "dropout" in layer.keywords:
        rate = layer.keywords["dropout"]
        return rate.value > 0 if isinstance(rate, Const) and isinstance(rate.value, int | float) else None
    return False


def _instance_cares(model: Instance, depth: int) -> bool | None:
    if not model.cls.inherits("torch.nn.Module", "torch.nn."):
        return False if model.cls.is_known else None
    asks = _asks_for_mode(model)
    if asks is True:
        return True
    libraries = [base for base in model.cls.ancestry() if isinstance(base, Name)]
    is_open = not model.cls.is_known or any(
        not base.qualified.startswith("torch.nn.") for base in libraries if base.qualified != "object"
    )
    return _any(list(model.attributes.values()), depth, is_open=is_open or asks is None)


def _asks_for_mode(model: Instance) -> bool | None:
    """Does its `forward` drop by `self.training`, as in `F.dropout(x, training=self.training)`? None if it asks for something else."""
    forward = model.cls.method("forward")
    if forward is None or not _mentions_mode(forward.definition):
        return False
    choices = (
        node for node in ast.walk(forward.definition) if isinstance(node, ast.Call | ast.If | ast.IfExp)
    )
    return (
        True if any(_mentions_mode(node) and _DROPS.search(ast.unparse(node)) for node in choices) else None
    )


def _mentions_mode(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr == "training" for part in ast.walk(node))


def _any(parts: list[Value], depth: int, *, is_open: bool) -> bool | None:
    answers = [cares(part, depth - 1) for part in parts if not isinstance(resolved(part), Param)]
    if True in answers:
        return True
    return None if is_open or None in answers else False


@once
def switches(program: Program) -> tuple[CallEvent, ...]:
    """`model.train()`, `model.eval()`, of anything that may be a model."""
    return tuple(
        event for event in program.methods_of("train", "eval") if role(event.call.receiver) in (MODEL, "")
    )


def is_eval(event: CallEvent) -> bool:
    """`model.eval()` or `model.train(False)`."""
    call = event.call
    mode = call.argument("mode", 0)
    return call.method == "eval" or (call.method == "train" and isinstance(mode, Const) and not mode.value)


def may_switch(event: CallEvent, model: Value) -> bool:
    """Could the event switch this model? Not, if it is sure that it switches another one."""
    receiver = event.call.receiver
    if receiver is None:
        return False
    receiver, model = bare(receiver), bare(model)
    if same(receiver, model):
        return True
    is_other = isinstance(receiver, Call | Instance | Param) and isinstance(model, Call | Instance | Param)
    return not is_other or id(model) in members(receiver) or id(receiver) in members(model)


def calls_of_model(events: Iterable[Event], model: Value) -> list[CallEvent]:
    """Where a model is applied."""
    model = bare(model)
    calls = (event for event in events if isinstance(event, CallEvent))
    return [event for event in calls if same(bare(event.call.function), model)]


def silent_calls(loop: Loop, model: Value) -> list[CallEvent]:
    """Where a model is applied without gradients, in a loop."""
    return [event for event in calls_of_model(loop.events(), model) if grad_is_off(event)]


def guard_of(event: Event) -> Guard | None:
    """The innermost `with torch.no_grad():` (or the decorator) that an event stands under."""
    for part in event.around():
        if isinstance(part, Guard) and any(
            isinstance(manager, Call)
            and manager.qualified.rpartition(".")[2] in ("no_grad", "inference_mode", "set_grad_enabled")
            for manager in part.managers
        ):
            return part
    return None
