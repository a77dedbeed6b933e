"""Experiments that need nothing but forward passes of the model: what its outputs depend on, and whether they are the same again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from netmend.adapters.torch.probes.bench import Bench, Found, first_real, largest, spread
from netmend.adapters.torch.probes.operations import first_mixing_operation, survey
from netmend.adapters.torch.watch.replay import Place

_NOISE = 1e-5  # of the spread between samples: more than rounding can do


def batch_independence(bench: Bench) -> Found | None:
    """In eval mode: does what the model says about a sample depend on the other samples of the batch?"""
    base = bench.base
    if base is None:
        return _lost(bench)
    if bench.rows in base.shape[1:]:
        return None  # a number for each pair of samples: meant to mix them
    scale = spread(base) or largest(base)  # an answer for the whole batch is the same for all samples
    if not scale or all(torch.equal(leaf[0], leaf[1]) for leaf in bench.batched):
        return None
    changed = bench.output(replace_first)
    if changed is None or changed.shape != base.shape:
        return None
    others, own = largest(changed[1:] - base[1:]) / scale, largest(changed[:1] - base[:1]) / scale
    place = first_mixing_operation(bench, replace_first) if others > _NOISE else None
    return Found(
        _values(bench, base, others, own, place), place.site if place is not None else bench.call.site
    )


def _lost(bench: Bench) -> Found | None:
    """As many outputs as the batch has samples, but only by chance: with fewer samples there are just as many."""
    outputs = bench.run() if bench.rows != bench.batch else None
    first = first_real(outputs)
    place = survey(bench).left
    if first is None or len(first) != bench.batch or place is None:
        return None
    values = _values(bench, first, math.nan, math.nan, place) | {"axis": "lost"}
    return Found({**values, "layers_batch_first": survey(bench).batch_first}, place.site)


def replace_first(tensor: Tensor) -> Tensor:
    """The first sample becomes a copy of the second."""
    tensor[0] = tensor[1]
    return tensor


def _values(bench: Bench, base: Tensor, others: float, own: float, place: Place | None) -> dict[str, Any]:
    targets = [call.target for call in bench.session.losses.calls if call.target is not None]
    values: dict[str, Any] = {
        "others": others,  # largest change of the other samples' outputs, relative to the spread between samples
        "own": own,
        "batch": bench.batch,
        "rows": bench.rows,
        "input_shape": bench.input_shape,
        "output_shape": [bench.batch, *base.shape[1:]],
        "target_shape": list(targets[-1].shape) if targets else [],
        "loader_batch": bench.session.data.batch_size or 0,
    }
    if place is not None:
        values |= {
            "operation": place.operation,
            "module": place.component,
            "kind": place.kind,
            "module_input": bench.of_whole_batch(place.module_input),
            "batch_first": place.batch_first,
        }
    return values


def axis_order(bench: Bench) -> Iterator[Found]:
    """Views in the forward pass that put axes into another order: view() is no transpose, it only reads the same numbers anew."""
    for index, (place, before, after) in enumerate(survey(bench).swapped):
        values = {
            "before": bench.of_whole_batch(before),
            "after": bench.of_whole_batch(after),
            "operation": place.operation,
            "module": place.component,
        }
        where = place.site.short if place.site is not None else str(index)
        yield Found(values, place.site, f"{bench.name}.{place.operation}@{where}")


_MOST_ARGUMENTS = 4


def input_dependency(bench: Bench) -> Found | None:
    """Does the output depend on the input, and on each argument of the forward pass?"""
    base, rolled = bench.base, bench.rolled
    if base is None or rolled is None or base.shape != rolled.shape:
        return None
    scale = largest(base) or 1.0
    varying = [index for index, leaf in enumerate(bench.batched) if not torch.equal(leaf, leaf.roll(1, 0))]
    if not varying:
        return None
    change = largest(rolled - base) / scale
    ignored = []
    if len(varying) > 1:
        everything = bench.run() or []
        for index in varying[:_MOST_ARGUMENTS]:
            alone = bench.run(lambda tensor: tensor.roll(1, 0), only=index)
            if (
                alone is not None
                and len(alone) == len(everything)
                and all(map(torch.equal, alone, everything))
            ):
                ignored.append(bench.names[index])
    values = {
        "change": change,
        "arguments": len(varying),
        "ignored": ignored,
        "input_shape": bench.input_shape,
    }
    return Found(values, bench.call.site)


def eval_determinism(bench: Bench) -> Found | None:
    """In eval mode: does the model say the same twice?"""
    base = bench.base
    again = bench.output(go_on=True)
    if base is None or again is None or base.shape != again.shape:
        return None
    scale = largest(base) or 1.0
    difference = largest(base - again) / scale
    place = survey(bench).random if difference > 1e-5 else None
    values = {"difference": difference, "operation": "", "kind": ""}
    if place is not None:
        values |= {"operation": place.operation, "kind": place.kind}
    return Found(values, place.site if place is not None else None)


_STRAIGHT = 1e-3


def affine(bench: Bench) -> Found | None:
    """Is the whole model an affine function of its input? Then its layers are worth no more than one."""
    if not all(leaf.is_floating_point() for leaf in bench.batched):
        return None  # there is nothing half-way between two words
    base, rolled = bench.base, bench.rolled
    if base is None or rolled is None or not spread(base):
        return None
    middle = bench.output(lambda tensor: (tensor + tensor.roll(1, 0)) / 2)
    if middle is None or not (middle.shape == base.shape == rolled.shape):
        return None
    return _curvature(bench, base, rolled, middle)


def affine_alone(bench: Bench) -> Found | None:
    """The same for a program that is given single samples: half-way between one and itself the other way round."""
    if not bench.batched or not all(leaf.is_floating_point() for leaf in bench.batched):
        return None
    base, other, middle = bench.base, bench.output(_turned), bench.output(_half_turned)
    if base is None or other is None or middle is None or not (middle.shape == base.shape == other.shape):
        return None
    return _curvature(bench, base, other, middle)


def _curvature(bench: Bench, base: Tensor, other: Tensor, middle: Tensor) -> Found | None:
    apart = largest(other - base)
    if not apart:
        return None
    curvature = largest(base + other - 2 * middle) / apart
    values: dict[str, Any] = {"curvature": curvature, "weight_layers": weight_layers(bench.module)}
    if curvature < _STRAIGHT:
        found = survey(bench)
        values["weight_layers"] = min(values["weight_layers"], found.products or values["weight_layers"])
        if found.weighted is not None and found.weighted.site is not None:
            place = found.weighted.site
            values |= {"weighted_file": place.file, "weighted_line": place.line}
    return Found(values, bench.call.site)


def _turned(tensor: Tensor) -> Tensor:
    return tensor.flip(tuple(range(1, tensor.dim())))


def _half_turned(tensor: Tensor) -> Tensor:
    return (tensor + _turned(tensor)) / 2


def weight_layers(module: nn.Module) -> int:
    """Layers that multiply by a matrix of weights."""
    weights = {id(p) for p in module.parameters() if p.dim() >= 2 and min(p.shape[:2]) >= 1}
    looked_up = {id(child.weight) for child in module.modules() if isinstance(child, torch.nn.Embedding)}
    return len(weights - looked_up)


_CHANNELS = (2, 3, 4)
_SMALLEST = 8  # pixels on a side


@torch.no_grad()
def layout(bench: Bench) -> Found | None:
    """Images: are they smooth as they lie, or only when their memory is read as if channels came last?"""
    images = next((leaf for leaf in bench.batched if leaf.dim() == 4 and leaf.is_floating_point()), None)
    if images is None:
        return None
    channels, height, width = images.shape[1:]
    if channels not in _CHANNELS or min(height, width) < _SMALLEST:
        return None
    images = images.detach()[:16].float()
    again = images.reshape(len(images), height, width, channels).permute(0, 3, 1, 2)
    scale = float(images.std())
    if not scale or not bool(torch.isfinite(images).all()):
        return None
    return Found(
        {
            "given": roughness(images) / scale,
            "channels_last": roughness(again) / scale,
            "channels": channels,
            "height": height,
            "width": width,
        },
        bench.call.site,
    )


def roughness(images: Tensor) -> float:
    """Mean difference of neighbouring pixels."""
    across = (images[..., :, 1:] - images[..., :, :-1]).abs().mean()
    down = (images[..., 1:, :] - images[..., :-1, :]).abs().mean()
    return float(across + down) / 2


def mode_gap(bench: Bench) -> Found | None:
    """The same batch in train and in eval mode: how far apart are the outputs, and the losses?"""
    if not any(bench.modes.values()):
        return None
    training, evaluation = bench.run(training=True), bench.run()
    first, second = _first(training), _first(evaluation)
    if first is None or second is None or first.shape != second.shape:
        return None
    scale = float(second.std()) if second.numel() > 1 else 0.0
    difference = float((first - second).square().mean().sqrt())
    values: dict[str, Any] = {"output": difference / scale if scale else 0.0, "batch": bench.batch}
    loss = bench.session.losses.repeatable()
    if loss is not None:
        values["loss_training"] = loss.again(training or ())
        values["loss_evaluation"] = loss.again(evaluation or ())
    return Found(values, bench.call.site)


def _first(outputs: list[torch.Tensor] | None) -> torch.Tensor | None:
    first = next((t for t in outputs or () if t.is_floating_point() and t.numel()), None)
    return first.float() if first is not None and bool(torch.isfinite(first).all()) else None
