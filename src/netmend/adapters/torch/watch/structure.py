"""Structure: facts about models, modules, parameters and schedulers, read off the live objects."""

from __future__ import annotations

import ast
import inspect
import textwrap
import weakref
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from netmend.adapters.torch.meters.host_meter import std_of
from netmend.adapters.torch.watch.eligible import plain
from netmend.adapters.torch.watch.kinds import activation_of
from netmend.vocabulary import ModelFact, ModuleFact, ParameterFact, SchedulerFact, Site, Statistics

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.models import Model
    from netmend.adapters.torch.watch.session import TorchSession


_SETTING_TYPES = (bool, int, float, str)
_PRIVATE = ("training", "call_super_init", "dump_patches")
_WRAPPERS = ("DistributedDataParallel", "DataParallel", "OptimizedModule", "FullyShardedDataParallel")


@dataclass
class Seen:
    """A module as it was executed in the first closely observed forward pass."""

    reference: weakref.ref[nn.Module]
    order: int
    called: Site | None
    times: int = 0
    inputs: tuple[tuple[int, ...], ...] = ()
    outputs: tuple[tuple[int, ...], ...] = ()
    dtype: str = ""


def identity(module: nn.Module) -> tuple[int, ...]:
    """Changes when parameters are added, removed, frozen or thawed."""
    return tuple(id(p) if p.requires_grad else -id(p) for p in module.parameters() if not is_lazy(p))


def settings_of(thing: Any) -> dict[str, Any]:
    """The public plain attributes of a module: its hyperparameters."""
    found: dict[str, Any] = {}
    for name, value in vars(thing).items():
        if name.startswith("_") or name in _PRIVATE:
            continue
        if isinstance(value, _SETTING_TYPES):
            found[name] = value
        elif (
            isinstance(value, tuple) and len(value) <= 8 and all(isinstance(v, _SETTING_TYPES) for v in value)
        ):
            found[name] = list(value)
    parameters = getattr(thing, "_parameters", {})
    if isinstance(parameters, dict) and "bias" in parameters and "bias" not in found:
        found["bias"] = parameters["bias"] is not None
    return found


def record_modules(session: TorchSession, model: Model, module: nn.Module) -> None:
    names = []
    made: dict[str, Site | None] = {}  # by path
    inside = set()
    for path, child in getattr(module, "_orig_mod", module).named_modules():
        names.append(session.names.get(child) or model.name)
        # Copies (the layers of nn.TransformerEncoder) were never created by a line: what holds them was.
        made[path] = _created(session, model, child) or made.get(path.rpartition(".")[0])
        _record_module(session, model, child, made[path], registered=True)
        inside.add(id(child))
    for seen in list(model.calls.values()):
        stray = seen.reference()
        if stray is not None and id(stray) not in inside:
            names.append(model.name_of_module(stray))
            _record_module(session, model, stray, _created(session, model, stray), registered=False)
    _record_model(session, model, module, tuple(names))


def _created(session: TorchSession, model: Model, module: nn.Module) -> Site | None:
    return session.created.get(module) or attribute_site(session, model, module)


def _record_module(
    session: TorchSession, model: Model, module: nn.Module, created: Site | None, registered: bool
) -> None:
    seen = model.calls.get(id(module))
    name = model.name_of_module(module)
    session.recorder.fact(
        ModuleFact(
            name=name,
            kind=type(module).__name__,
            model=model.name,
            qualified=f"{type(module).__module__}.{type(module).__qualname__}",
            settings=settings_of(module),
            activation=activation_of(module),
            leaf=next(module.children(), None) is None,
            registered=registered,
            training=module.training,
            order=seen.order if seen else None,
            calls=seen.times if seen else 0,
            input_shapes=seen.inputs if seen else (),
            output_shapes=seen.outputs if seen else (),
            output_dtype=seen.dtype if seen else "",
            created=created,
            called=seen.called if seen else None,
        )
    )


def _record_model(session: TorchSession, model: Model, module: nn.Module, names: tuple[str, ...]) -> None:
    parameters = [p for p in module.parameters() if not is_lazy(p)]
    inner = getattr(module, "_orig_mod", None) or getattr(module, "module", None)
    wrapper = type(module).__name__ if type(module).__name__ in _WRAPPERS else None
    shown = inner if wrapper and isinstance(inner, nn.Module) else module
    session.recorder.fact(
        ModelFact(
            name=model.name,
            kind=type(shown).__name__,
            modules=names,
            parameters=sum(p.numel() for p in parameters),
            trainable=sum(p.numel() for p in parameters if p.requires_grad),
            device=str(parameters[0].device) if parameters else "",
            dtype=str(parameters[0].dtype).removeprefix("torch.") if parameters else "",
            compiled=hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None,
            wrapper=wrapper,
            created=session.created.get(shown),
            called=model.called_from,
            input_shapes=model.input_shapes,
            output_shapes=model.output_shapes,
        )
    )


def record_parameters(session: TorchSession, model: Model, module: nn.Module, first: bool = True) -> None:
    """Facts of all parameters; at the first sight with their initial statistics."""
    module = getattr(module, "_orig_mod", module)
    owners = {
        id(p): session.names.get(child) or ""
        for child in module.modules()
        for p in child.parameters(recurse=False)
    }
    named = [
        (session.names.get(p) or f"{model.name}.{path}", path, p)
        for path, p in module.named_parameters(remove_duplicate=False)
    ]
    strays = [seen.reference() for seen in model.calls.values()]
    for stray in strays:
        if stray is not None:
            for path, parameter in stray.named_parameters():
                if id(parameter) not in owners:
                    owners[id(parameter)] = session.names.get(stray) or ""
                    named.append((session.names.get(parameter) or path, "", parameter))
    for name, path, parameter in named:
        if is_lazy(parameter):  # its shape is not known before the first forward pass
            continue
        own_name = f"{model.name}.{path}" if path else name
        holder, group = session.optimizers.holder(parameter)
        initial = session.optimizers.initial
        if first and own_name not in initial:
            initial[own_name] = _initial(parameter)
        statistics, symmetric = initial.get(own_name, (Statistics(), None))
        session.recorder.fact(
            ParameterFact(
                name=own_name,
                module=owners.get(id(parameter), ""),
                shape=tuple(parameter.shape),
                dtype=str(parameter.dtype).removeprefix("torch."),
                device=str(parameter.device),
                trainable=parameter.requires_grad,
                optimizer=holder,
                group=group,
                initial=statistics,
                symmetric_share=symmetric,
                tied_to=name if name != own_name else None,
            )
        )


@torch.no_grad()
def _initial(parameter: Tensor) -> tuple[Statistics, float | None]:
    if not plain(parameter) or not parameter.is_floating_point() or not parameter.numel():
        return Statistics(), None
    values = parameter.detach().float()
    low, high = torch.aminmax(values)
    count = values.numel()
    numbers = torch.stack(
        [
            values.mean(),
            torch.linalg.vector_norm(values) / count**0.5,
            low,
            high,
            (values == 0).float().mean(),
        ]
    )
    mean, rms, minimum, maximum, zeros = numbers.tolist()
    nonfinite = 0 if rms == rms and abs(rms) != float("inf") else int((~torch.isfinite(values)).sum())
    return Statistics(mean, std_of(mean, rms), rms, minimum, maximum, zeros, nonfinite), _symmetric(values)


def _symmetric(values: Tensor) -> float | None:
    """Share of units (rows) whose weights are exactly those of another unit."""
    if values.dim() < 2 or not 2 <= values.shape[0] <= 100_000:
        return None
    rows = values.reshape(values.shape[0], -1)
    # Two fixed projections tell rows apart without comparing all pairs; no random numbers are drawn, and no matrix
    # library is started that the program itself may never use.
    position = torch.arange(rows.shape[1], device=rows.device, dtype=torch.float32)
    factors = torch.sin(position * 1.618 + 0.5), torch.cos(position * 2.718 + 0.3)
    marks = torch.cat(
        [torch.stack([(part * f).sum(dim=1) for f in factors], dim=1) for part in rows.split(4096)]
    )
    _, inverse, counts = torch.unique(marks, dim=0, return_inverse=True, return_counts=True)
    return float((counts[inverse] > 1).float().mean())


# Where a layer was created, for models built before netmend started: the assignment in its parent's source.


def attribute_site(session: TorchSession, model: Model, module: nn.Module) -> Site | None:
    """The line `self.name = …` in the class of the module's parent, if that class is the user's."""
    root = model.reference()
    if root is None or module is root:
        return None
    for parent in root.modules():
        for name, child in parent.named_children():
            if child is module:
                return _assignment(type(parent), name, session)
    return None


def _assignment(owner: Any, attribute: str, session: TorchSession) -> Site | None:
    found = _assignments(owner).get(attribute)
    return found if found is not None and session.sites.is_user_file(found.file) else None


@lru_cache(maxsize=512)
def _assignments(owner: Any) -> dict[str, Site]:
    try:
        file = inspect.getsourcefile(owner)
        lines, first = inspect.getsourcelines(owner)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return {}
    offset, indent = first - 1, len(lines[0]) - len(lines[0].lstrip())
    found: dict[str, Site] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if (
                isinstance(target, ast.Attribute)
                and isinstance(target.value, ast.Name)
                and target.value.id == "self"
            ):
                value = node.value
                start, end = value.lineno + offset, (value.end_lineno or value.lineno) + offset
                columns = value.col_offset + indent, (value.end_col_offset or 0) + indent
                place = Site(file or "", start, columns[0], end, columns[1], owner.__name__)
                found.setdefault(target.attr, place)
    return found


# Facts about learning-rate schedulers.

_STATE = ("last_epoch", "num_bad_epochs", "best", "cooldown_counter", "verbose", "mode_worse")


def record_scheduler(session: TorchSession, scheduler: Any, site: Site | None) -> str:
    """The scheduler's name; at first sight its fact is written."""
    known = session.names.get(scheduler)
    if known is not None:
        return known
    kind = type(scheduler).__name__
    name = session.unique_name(kind)
    session.names.put(scheduler, name)
    optimizer = getattr(scheduler, "optimizer", None)
    session.recorder.fact(
        SchedulerFact(
            name=name,
            kind=kind,
            optimizer=session.optimizers.name(optimizer) if optimizer is not None else "",
            settings={k: v for k, v in settings_of(scheduler).items() if k not in _STATE},
            created=session.created.get(scheduler),
            stepped=site,
        )
    )
    return name
