"""What each weight of a kernel does in the forward pass, for linear layers, convolutions and plain recurrent layers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from netmend.adapters.torch.watch.eligible import first_tensor
from netmend.adequacy.torch.layers import listening
from netmend.mend.torch.spec import Examples, Spec

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
