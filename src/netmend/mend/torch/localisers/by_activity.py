"""Where to change weights, by what units do on failing and on kept inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from netmend.adapters.torch.watch.eligible import first_tensor
from netmend.adapters.torch.watch.kinds import channel_axis
from netmend.adequacy.torch.layers import listening, unit_rows
from netmend.mend.torch.localisers.by_gradient import gradients
from netmend.mend.torch.spec import Examples, Spec, Task
from netmend.mend.torch.units import Group, Scores

# What neurons give for each input: one number per unit, the mean over places.


@torch.no_grad()
def activity(model: nn.Module, data: Examples, groups: Sequence[Group]) -> dict[str, Tensor]:
    """inputs × units for the layers that the groups stand for; of a layer called twice the last call counts."""
    wanted = {group.name: group.count for group in groups}
    gathered: dict[str, list[Tensor]] = {name: [] for name in wanted}
    for part in data.parts():
        heard: dict[str, Tensor] = {}

        def hear(
            name: str,
            module: nn.Module,
            given: Any,
            made: Any,
            heard: dict[str, Tensor] = heard,
            count: int = len(part),
        ) -> None:
            rows = unit_rows(made, module, count)
            if rows is not None and rows.shape[1] == wanted[name]:
                heard[name] = rows

        with listening(model, set(wanted), hear):
            model(*part.inputs)
        for name, rows in heard.items():
            gathered[name].append(rows)
    return {
        name: torch.cat(rows)
        for name, rows in gathered.items()
        if sum(len(one) for one in rows) == len(data) > 0
    }


# Spectrum-based suspiciousness of neurons (DeepFault): who is active when the model fails, and when it does not.

Formula = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def tarantula(cf: Tensor, uf: Tensor, cs: Tensor, us: Tensor) -> Tensor:
    """Share of failures that cover the unit, of that and the share of successes."""
    failed, passed = _ratio(cf, cf + uf), _ratio(cs, cs + us)
    return _ratio(failed, failed + passed)


def ochiai(cf: Tensor, uf: Tensor, cs: Tensor, us: Tensor) -> Tensor:
    return _ratio(cf, ((cf + uf) * (cf + cs)).sqrt())


def dstar(cf: Tensor, uf: Tensor, cs: Tensor, us: Tensor) -> Tensor:
    """D* with the usual exponent 3; covered by all failures and nothing else is beyond every other."""
    below = cs + uf
    return torch.where(below > 0, _ratio(cf**3, below), torch.where(cf > 0, torch.inf, 0.0))


FORMULAS: dict[str, Formula] = {"tarantula": tarantula, "ochiai": ochiai, "dstar": dstar}


def spectrum(model: nn.Module, spec: Spec, groups: Sequence[Group], formula: str = "ochiai") -> Scores:
    """A unit counts as covered by an input where its mean output over all places is above 0."""
    failing, passing = activity(model, spec.failing, groups), activity(model, spec.guard, groups)
    scores = {}
    for group in groups:
        if group.name not in failing:
            scores[group.name] = torch.full(group.shape, -torch.inf)  # never called: cannot be blamed
            continue
        wrong, right = failing[group.name] > 0, passing[group.name] > 0
        cf, cs = wrong.sum(0).double(), right.sum(0).double()
        scores[group.name] = FORMULAS[formula](cf, len(wrong) - cf, cs, len(right) - cs)
    return scores


def _ratio(above: Tensor, below: Tensor) -> Tensor:
    """0 / 0 is 0."""
    return torch.where(below > 0, above / below.clamp_min(1e-300), torch.zeros_like(above))


# Arachne's two scores of single weights: how much the loss hangs on a weight, and how much it does in the forward pass.
#
# Each is taken on failing inputs and on as many guard inputs: s_failing / (1 + s_guard). Their Pareto front is the slice.


def gradient_loss(model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
    """|sum of gradients of the loss|."""
    wrong, right = (
        {name: one.abs() * len(data) for name, one in gradients(model, spec.task, data).items()}
        for data in (spec.failing, alike(spec))
    )
    return _weighed(wrong, right, groups)


def forward_impact(model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
    """Share of a weight in what its neuron receives × share of the neuron in what its layer does to the output."""
    wrong, right = contributions(model, spec, spec.failing), contributions(model, spec, alike(spec))
    return _weighed(wrong, right, groups)


def weights_only(model: nn.Module, groups: Sequence[Group]) -> list[Group]:
    """Kernels of layers that contributions know; biases take no part, as with Arachne."""
    known = {
        f"{where}.{name}" if where else name
        for where, module in model.named_modules()
        if supported(module)
        for name, one in module.named_parameters(recurse=False)
        if one.dim() > 1
    }
    return [group for group in groups if known.issuperset(group.members)]


def alike(spec: Spec) -> Examples:
    """As many guard inputs as failing ones, classes in turn, always the same."""
    count = min(len(spec.failing), len(spec.guard))
    answers = spec.guard.wanted
    if not spec.task.classes:
        return spec.guard.taken(torch.linspace(0, len(spec.guard) - 1, count, device=answers.device).long())
    # The n-th of every class comes before the (n+1)-th of any.
    turn = torch.zeros_like(answers)
    for label in answers.unique():
        inside = answers == label
        turn[inside] = torch.arange(int(inside.sum()), device=answers.device)
    return spec.guard.taken(turn.sort(stable=True).indices[:count])


def _weighed(wrong: dict[str, Tensor], right: dict[str, Tensor], groups: Sequence[Group]) -> Scores:
    ratio = {name: one / (1 + right[name]) for name, one in wrong.items()}
    return {group.name: group.summed(ratio) for group in groups}


# Causal effect of neurons on the misbehaviour (CARE): set a neuron to values that it takes, see how failures change.


_VALUES = 16  # of a neuron, between the smallest and largest that was seen, as CARE
_MOST_INPUTS = 128  # every neuron costs a pass per value


@torch.no_grad()
def causal_effect(model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
    """Mean over values v of |share of failures under do(neuron = v) − share without|."""
    data = spec.failing.taken(_spread(len(spec.failing), _MOST_INPUTS, spec.failing.wanted.device))
    seen = activity(model, data.joined(spec.guard), groups)
    base = float(_failures(model, spec.task, data).mean())
    modules = dict(model.named_modules())
    scores = {}
    for group in groups:
        scores[group.name] = torch.full(group.shape, -torch.inf)
        if group.name not in seen:
            continue  # never called, or its units are not told apart: cannot be set
        low, high = seen[group.name].amin(0), seen[group.name].amax(0)
        for unit in range(group.count):
            tried = torch.linspace(float(low[unit]), float(high[unit]), _VALUES)
            with held(modules[group.name], unit, tried.repeat_interleave(len(data)).to(low)):
                repeated = data.taken(torch.arange(len(data), device=low.device).repeat(_VALUES))
                failed = _failures(model, spec.task, repeated).reshape(_VALUES, len(data)).mean(1)
            scores[group.name][unit] = float((failed - base).abs().mean())
    return scores


@contextmanager
def held(module: nn.Module, unit: int, values: Tensor) -> Iterator[None]:
    """One unit of a module's output gives these values, one per input, at all places."""

    def hook(one: nn.Module, given: Any, made: Any) -> Any:
        first = made[0] if isinstance(made, tuple) else made
        axis = channel_axis(one)
        if axis is None:
            axis = -1
        changed = first.clone()
        target = changed.select(axis, unit)
        batch = 1 if getattr(one, "batch_first", True) is False else 0
        shape = [1] * target.dim()
        shape[batch] = len(values)
        target.copy_(values.reshape(shape).expand_as(target))
        return (changed, *made[1:]) if isinstance(made, tuple) else changed

    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def _failures(model: nn.Module, task: Task, data: Examples) -> Tensor:
    """1.0 where the answer is wrong. One pass: a held unit has one value per input of the whole call."""
    return task.wrong(task.scores(model(*data.inputs)), data.wanted).float()


def _spread(count: int, most: int, device: torch.device) -> Tensor:
    return torch.linspace(0, count - 1, min(count, most), device=device).round().long()


# What each weight of a kernel does in the forward pass, for linear layers, convolutions and plain recurrent layers.

_TINY = 1e-12


def supported(module: nn.Module) -> bool:
    if isinstance(module, nn.Conv1d | nn.Conv2d):
        return module.groups == 1 and module.padding_mode == "zeros" and not isinstance(module.padding, str)
    if isinstance(module, nn.RNNBase):
        return module.num_layers == 1 and not module.bidirectional and not module.proj_size
    return isinstance(module, nn.Linear)


def contributions(model: nn.Module, spec: Spec, data: Examples) -> dict[str, Tensor]:
    """Forward impact of every supported kernel: its own share × its neuron's share in the gradient of the output."""
    calls: list[tuple[str, nn.Module, Tensor, Tensor]] = []

    def hear(name: str, module: nn.Module, given: Any, made: Any) -> None:
        taken, out = first_tensor(given), first_tensor(made)
        if supported(module) and taken is not None and out is not None and out.requires_grad:
            calls.append((name, module, taken.detach(), out))

    with torch.enable_grad(), listening(model, None, hear):
        scores = spec.task.scores(model(*data.inputs))
    pulls = torch.autograd.grad(scores.sum(), [call[3] for call in calls], allow_unused=True)
    found: dict[str, Tensor] = {}
    for (name, module, taken, out), pull in zip(calls, pulls, strict=True):
        if pull is None:
            continue
        prefix = f"{name}." if name else ""
        for own, value in _of(module, taken, out.detach(), pull.abs()).items():
            found[f"{prefix}{own}"] = found.get(f"{prefix}{own}", torch.zeros_like(value)) + value
    return found


def _of(module: nn.Module, taken: Tensor, out: Tensor, pull: Tensor) -> dict[str, Tensor]:
    if isinstance(module, nn.Linear):
        given = taken.reshape(-1, module.in_features).abs()
        return {"weight": _shares(module.weight, given[:, :, None]) * _pulls(pull, -1)[:, None]}
    if isinstance(module, nn.Conv1d | nn.Conv2d):
        flat = module.weight.detach().flatten(1)
        value = _shares(flat, _patches(module, taken.abs())) * _pulls(pull, 1)[:, None]
        return {"weight": value.reshape(module.weight.shape)}
    assert isinstance(module, nn.RNNBase)
    return _recurrent(module, taken, out, pull)


def _shares(weight: Tensor, given: Tensor) -> Tensor:
    """Mean over inputs and places of |o w| / Σ|o w|; `given` is inputs × fan-in × places, already without signs."""
    size = weight.detach().abs()
    total = torch.einsum("ok,nkl->nol", size, given)
    share = torch.einsum("nkl,nol->ok", given, 1.0 / total.clamp_min(_TINY)) * size
    return share / (len(given) * given.shape[2])


def _pulls(pull: Tensor, axis: int) -> Tensor:
    """Mean over inputs of each neuron's share in |d out / d o|, summed over places."""
    rows = pull.movedim(axis, -1)
    rows = rows.reshape(rows.shape[0], -1, rows.shape[-1]).sum(1)
    return (rows / rows.sum(1, keepdim=True).clamp_min(_TINY)).mean(0)


def _patches(module: nn.Conv1d | nn.Conv2d, taken: Tensor) -> Tensor:
    """What each place of the output sees: inputs × fan-in × places."""
    wide = taken if isinstance(module, nn.Conv2d) else taken.unsqueeze(2)

    def two(values: Any, other: int) -> tuple[int, int]:
        held = tuple(int(one) for one in values)
        return (held[0], held[1]) if len(held) == 2 else (other, held[0])

    return functional.unfold(
        wide,
        two(module.kernel_size, 1),
        dilation=two(module.dilation, 1),
        padding=two(module.padding, 0),
        stride=two(module.stride, 1),
    )


def _recurrent(module: nn.RNNBase, taken: Tensor, out: Tensor, pull: Tensor) -> dict[str, Tensor]:
    """Per gate: inputs and the states before, each against both together; all gates of a unit share its pull."""
    if out.dim() != 3:
        return {}  # one unbatched sequence
    if not module.batch_first:
        taken, out, pull = taken.transpose(0, 1), out.transpose(0, 1), pull.transpose(0, 1)
    before = functional.pad(out, (0, 0, 1, 0))[:, :-1]
    given = torch.cat([taken, before], dim=2).abs().transpose(1, 2)
    kernels = dict(module.named_parameters(recurse=False))
    weight = torch.cat([kernels["weight_ih_l0"], kernels["weight_hh_l0"]], dim=1)
    gates = weight.shape[0] // module.hidden_size
    value = _shares(weight, given) * _pulls(pull, -1).repeat(gates)[:, None]
    return {"weight_ih_l0": value[:, : taken.shape[2]], "weight_hh_l0": value[:, taken.shape[2] :]}
