"""Where targets are taken from the sequence itself: does what the model says at one position depend on later ones?

A few short sequences are replayed in eval mode, then once more with one of their elements changed. In a causal model everything before
it stays exactly as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook

from netmend.adapters.torch.probes.bench import Bench, Found, largest
from netmend.adapters.torch.probes.future import first_depending_operation
from netmend.adapters.torch.probes.offsets import Profile, Scored, profiles
from netmend.adapters.torch.probes.scores_left_out import whole_length
from netmend.adapters.torch.watch.eligible import tensors_in

WHAT = "looking ahead"
_LENGTHS = (13, 11, 17, 19, 23, 29, 37, 53)  # hardly the size of anything else
_BEHIND = 4  # positions that are needed behind the first one that has a target
_NOISE = 1e-4  # of the change at the position itself and behind it
_ALL_SECONDS = 0.5  # a finding on shortened sequences is confirmed on the whole ones if that takes no longer


@dataclass(frozen=True)
class Sequences:
    """A bench whose sequences may have been shortened."""

    bench: Bench
    profile: Profile
    steps: int  # of the input
    length: int  # positions with a target

    @property
    def time_first(self) -> bool:
        return self.profile.axis == 0

    @property
    def count(self) -> int:
        given: Tensor = self.bench.leaves[self.profile.leaf]
        return given.shape[1 - self.profile.axis]

    @property
    def position(self) -> int:
        """The position that is changed: what has a target lies before it, and something behind it if there is room."""
        first, last = self.profile.first, self.length - 1
        return max(first + 1, min(first + (last + 1 - first) * 2 // 3, last - 1))

    def change(self, given: Tensor) -> Tensor:
        """Another value at one position, in every sequence."""
        axis, at = self.profile.axis, self.position
        now = given.select(axis, at)
        if given.is_floating_point():
            now += given.std(correction=0).clamp_min(1e-3)
            return given
        known = given.unique()
        first, second = known[len(known) // 2], known[len(known) // 2 - 1]
        now.copy_(torch.where(now == first, second, first))
        return given

    def outputs(self, change: Callable[[Tensor], Tensor] | None = None) -> Tensor | None:
        """What a replay says, positions × numbers; None when the model refuses, or says nothing for each position."""
        found: list[Tensor] = []

        def returned(module: nn.Module, args: Any, output: Any) -> None:
            for tensor in tensors_in(output):
                laid = self.laid(tensor)
                if laid is not None:
                    found[:] = [laid]
                    return

        argument = sum(map(self.bench.is_batched, self.bench.leaves[: self.profile.leaf]))
        handle = register_module_forward_hook(returned)
        try:
            outputs = self.bench.run(change, only=argument)
        finally:
            handle.remove()
        for tensor in outputs or ():  # the model itself is not called, only its forward()
            laid = self.laid(tensor)
            if laid is not None:
                return laid
        return found[0] if found and outputs is not None else None

    def laid(self, tensor: Tensor) -> Tensor | None:
        """The scores of all positions with time first; None where a tensor holds something else."""
        if not tensor.is_floating_point() or not tensor.dim():
            return None
        channels = self.profile.channels
        for length in dict.fromkeys((self.length, self.steps)):
            if tensor.numel() != self.count * length * channels:
                continue
            first = (length, self.count) if self.time_first else (self.count, length)
            if tensor.shape[:2] == first or tensor.shape[0] == length * self.count:
                return tensor.reshape(*first, -1).movedim(0 if self.time_first else 1, 0).double()
            if tensor.dim() == 3 and tensor.shape == (self.count, channels, length):
                return tensor.movedim(2, 0).double()
        return None


def examine(whole: Bench, seconds: float) -> Found | None:
    """`seconds`: what a forward pass of the whole batch takes."""
    scored = list(_scored(whole, seconds))
    told: list[Found] = []
    for profile in profiles(whole.leaves, scored):
        found = _examine(whole, profile, seconds)
        if found is not None:
            told.append(found)
    return max(told, key=_means_sequences, default=None)


def _means_sequences(found: Found) -> tuple[bool, bool]:
    """Where one argument holds what precedes the targets, as in a decoder, the others may hold what they like. Later positions hear of earlier ones along time only."""
    return found.values["offset"] == 1, found.values.get("behind", 0.0) > _NOISE


def _scored(bench: Bench, seconds: float) -> Iterator[Scored]:
    losses = bench.session.losses
    for call in losses.calls:
        if call.target is not None and call.prediction is not None:
            ignored = int(losses.facts[call.name].settings.get("ignore_index", -100))
            yield Scored(call.target, ignored, call.prediction.numel())
            if 2 * seconds <= _ALL_SECONDS:
                yield from whole_length(bench, call.prediction, call.target, ignored)


def _examine(whole: Bench, profile: Profile, seconds: float) -> Found | None:
    values: dict[str, Any] = {
        "offset": profile.best,
        "share": profile.shares[profile.best],
        "distinct": profile.distinct,
    }
    for sequences in _shortened(whole, profile, seconds):
        base = sequences.outputs()
        if base is None:
            continue
        moved = _moved(sequences, base)
        if moved is None:
            return None  # this argument is none that the scores depend on, or the model does not say the same twice
        place = None
        if moved["ahead"] > _NOISE:
            everything = _whole(whole, profile)
            if sequences.steps < everything.steps and 4 * seconds < _ALL_SECONDS:
                again = everything.outputs()
                moved = (again is not None and _moved(everything, again)) or {**moved, "ahead": 0.0}
            if moved["ahead"] > _NOISE:
                place, mask = first_depending_operation(sequences)
                values |= mask
        if place is not None:
            values |= {"operation": place.operation, "module": place.component, "kind": place.kind}
        return Found(values | moved, place.site if place is not None else whole.call.site)
    return Found(values, whole.call.site)  # it wants its own sequences, and takes long


def _moved(sequences: Sequences, base: Tensor) -> dict[str, float] | None:
    """How much the scores change before the changed position, behind it, and where it is the answer, as shares of the largest change."""
    again, changed = sequences.outputs(), sequences.outputs(sequences.change)
    if again is None or changed is None or not base.shape == again.shape == changed.shape:
        return None
    at, first = sequences.position, sequences.profile.first
    change = (changed - base).abs().flatten(1).amax(dim=1)
    most = largest(change)
    if not most or largest(again - base) > 0.1 * _NOISE * most:
        return None
    answer = at - sequences.profile.best
    return {
        "ahead": largest(change[first:at]) / most,
        "behind": largest(change[at + 1 :]) / most,
        "answer": largest(change[answer : answer + 1]) / most,
    }


def _whole(whole: Bench, profile: Profile) -> Sequences:
    given: Tensor = whole.leaves[profile.leaf]
    return Sequences(whole, profile, given.shape[profile.axis], profile.length)


def _shortened(whole: Bench, profile: Profile, seconds: float) -> Iterator[Sequences]:
    """From few and short sequences to all of them, for models that want them as long and as many as they are."""
    everything = _whole(whole, profile)
    steps, least = everything.steps, profile.first + _BEHIND + 1
    sizes = {size for parameter in whole.module.parameters() for size in parameter.shape}
    benches = [b for b in ((whole.fewer() if profile.axis == 1 else None), whole) if b is not None]
    for bench in benches:
        taken = {*sizes, bench.rows, *(size for leaf in bench.batched for size in leaf.shape[2:])}
        short = next((n for n in _LENGTHS if least <= n < steps and n not in taken), None)
        if short is not None:
            cut = partial(_cut, bench, profile, steps, short)
            leaves = [cut(leaf) for leaf in bench.leaves]
            rows = short if profile.axis == 0 else bench.rows
            shorter = replace(bench, leaves=leaves, rows=rows, memory={})
            yield Sequences(shorter, profile, short, profile.length - steps + short)
    for bench in benches:
        if seconds * bench.rows / whole.rows * 4 <= _ALL_SECONDS:
            yield replace(everything, bench=bench)


def _cut(bench: Bench, profile: Profile, steps: int, short: int, leaf: Any) -> Any:
    """The first positions only, in every argument that is as long."""
    if not isinstance(leaf, Tensor):
        return leaf
    for axis, size in enumerate(leaf.shape):
        if size == steps and not (axis == 0 and profile.axis == 1 and bench.is_batched(leaf)):
            leaf = leaf.narrow(axis, 0, short)
    return leaf
