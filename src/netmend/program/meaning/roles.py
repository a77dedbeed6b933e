"""Which part of training an object plays: optimiser, scheduler, scaler, model, loader."""

from __future__ import annotations

import re
from typing import overload

from netmend.library.operations import GIVE_BACK_SELF
from netmend.program.engine.joined import WRAPPERS
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Instance,
    Item,
    Name,
    Param,
    Unknown,
    Value,
    options,
    resolved,
)

_WRAPPERS = WRAPPERS | {"torch.compile", "torch.jit.script"}
OPTIMISER, SCHEDULER, SCALER, MODEL, LOADER, OTHER = "optimiser", "scheduler", "scaler", "model", "loader", ""

_SCALERS = ("torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.cpu.amp.GradScaler")
_OPTIMISER_NAME = re.compile(r"(^|_)(opt|optim|optimizer|optimiser)(_|\d|$)|optimi[sz]er", re.IGNORECASE)
_SCHEDULER_NAME = re.compile(r"sched", re.IGNORECASE)
_SCALER_NAME = re.compile(r"(^|_)scaler$", re.IGNORECASE)
_MODEL_NAME = re.compile(
    r"(^|_)(model|net|network|module|backbone|encoder|decoder|generator|discriminator|policy|critic|actor)\d*$",
    re.IGNORECASE,
)


def role(value: Value | None) -> str:
    """What a value is in training, if that can be told; names count only for parameters and attributes of unknown origin."""
    if value is None:
        return OTHER
    value = resolved(value)
    if isinstance(value, Call):
        return _made(value.qualified)
    if isinstance(value, Instance):
        if value.cls.inherits(
            "torch.nn.Module", "torch.nn.", "pytorch_lightning.LightningModule", "keras.Model"
        ):
            return MODEL
        if value.cls.inherits("torch.optim.Optimizer", "torch.optim."):
            return SCHEDULER if value.cls.inherits("torch.optim.lr_scheduler.") else OPTIMISER
        return OTHER
    if isinstance(value, Either):
        roles = {
            role(option) for option in value.options if not isinstance(option, Unknown | Const)
        }  # `… else None`
        return roles.pop() if len(roles) == 1 else OTHER
    if isinstance(value, Item | Element):
        return OTHER
    return _by_name(value)


def _made(name: str) -> str:
    if name.startswith(("torch.optim.lr_scheduler.", "transformers.get_")) or name.endswith("_scheduler"):
        return SCHEDULER
    if name.startswith("torch.optim.") and name.rpartition(".")[2][:1].isupper():
        return OTHER if name.startswith("torch.optim.swa_utils.") else OPTIMISER
    if name in _SCALERS:
        return SCALER
    if name in (
        "torch.utils.data.DataLoader",
        "torch_geometric.loader.DataLoader",
        "torch_geometric.data.DataLoader",
    ):
        return LOADER
    if name.startswith(
        ("torch.nn.", "torchvision.models.", "keras.", "timm.create_model")
    ) and not name.startswith("torch.nn.functional."):
        return MODEL
    return OTHER


def _by_name(value: Value) -> str:
    if isinstance(value, Param):
        if value.annotation.startswith("torch.optim."):
            return SCHEDULER if "lr_scheduler" in value.annotation else OPTIMISER
        if value.annotation in ("torch.nn.Module",):
            return MODEL
        if value.annotation in _SCALERS:
            return SCALER
        if value.annotation.endswith("DataLoader"):
            return LOADER
    name = value.name if isinstance(value, Param | Attribute) else ""
    if _SCHEDULER_NAME.search(name):
        return SCHEDULER
    if _SCALER_NAME.search(name):
        return SCALER
    if _OPTIMISER_NAME.search(name):
        return OPTIMISER
    if _MODEL_NAME.search(name):
        return MODEL
    if name.endswith("loader"):
        return LOADER
    return OTHER


def same(one: Value | None, other: Value | None) -> bool:
    """Do two values mean the same object, as far as the text tells?"""
    if one is None or other is None:
        return False
    one, other = resolved(one), resolved(other)
    if one is other:
        return True
    if isinstance(one, Either) or isinstance(other, Either):  # one of several: the same on some path
        ids = {id(resolved(option)) for option in options(one)}
        return any(id(resolved(option)) in ids for option in options(other))
    if isinstance(one, Attribute) and isinstance(other, Attribute):
        return one.name == other.name and same(one.base, other.base)
    if isinstance(one, Name) and isinstance(other, Name):
        return one.qualified == other.qualified
    return False


def optimised(optimiser: Value | None) -> tuple[Value, ...] | None:
    """The models whose `parameters()` an optimiser was given; None when that cannot be told."""
    made = resolved(optimiser)
    if not isinstance(made, Call) or _made(made.qualified) != OPTIMISER:
        return None
    given = made.argument("params", 0)
    return _owners(given) if given is not None else None


def _owners(value: Value) -> tuple[Value, ...] | None:
    value = resolved(value)
    if isinstance(value, Call):
        if value.method in ("parameters", "named_parameters") and value.receiver is not None:
            return (bare(value.receiver),)
        if value.qualified in ("list", "iter", "tuple", "set") and len(value.args) == 1:
            return _owners(value.args[0])
        if value.qualified == "itertools.chain" and not value.open:
            return _joined(value.args)
        if value.qualified == "filter" and len(value.args) == 2:
            return _owners(value.args[1])
    if isinstance(value, Collection) and not value.open:
        if value.kind == "dict":
            params = value.get("params")
            return _owners(params) if params is not None else None
        return _joined(tuple(value.items))
    if isinstance(value, Attribute | Param):
        return None
    return None


@overload
def bare(value: Value) -> Value: ...
@overload
def bare(value: Value | None) -> Value | None: ...
def bare(value: Value | None) -> Value | None:
    """The model itself behind `.to(device)`, `.train()`, `DataParallel(…)`, `torch.compile(…)`."""
    value = resolved(value)
    while isinstance(value, Call):
        if value.method in GIVE_BACK_SELF and value.receiver is not None:
            value = resolved(value.receiver)
        elif value.qualified in _WRAPPERS and value.args:
            value = resolved(value.args[0])
        else:
            break
    return value


def _joined(values: tuple[Value, ...]) -> tuple[Value, ...] | None:
    owners: list[Value] = []
    for value in values:
        found = _owners(value)
        if found is None:
            return None
        owners.extend(found)
    return tuple(owners)
