"""The first operation of a forward pass that lets a position see later ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from netmend.adapters.torch.probes.bench import largest
from netmend.adapters.torch.probes.operations import Place, Where
from netmend.adapters.torch.watch.eligible import tensors_in
from netmend.adapters.torch.watch.masks import Masks

if TYPE_CHECKING:
    from netmend.adapters.torch.probes.looking_ahead import Sequences

_MOST_NUMBERS = 12_000_000  # of intermediate results that are kept
_SCORING = ("softmax", "sigmoid")  # what is made of the scores of all pairs of positions
_NOISE = 1e-4
Seen = list[tuple[str, list[Tensor]]]


def first_depending_operation(sequences: Sequences) -> tuple[Place | None, dict[str, Any]]:
    """That operation, and what is known of the mask that was put on its scores."""
    with Where(sequences.bench).followed() as where:
        before = _Positions(where, sequences, None)
        argument = sum(map(sequences.bench.is_batched, sequences.bench.leaves[: sequences.profile.leaf]))
        sequences.bench.run(under=before)
        after = _Positions(where, sequences, before.seen)
        sequences.bench.run(sequences.change, only=argument, under=after)
        return after.found, after.mask


def _known(masks: Masks[Place]) -> dict[str, Any]:
    """Where it was cut to a triangle, or where it fills scores with a number that hides nothing."""
    place = masks.weak or masks.triangle
    if place is None or place.site is None:
        return {}
    return {"mask_file": place.site.file, "mask_line": place.site.line, "mask_weak": masks.weak is not None}


class _Positions(TorchDispatchMode):
    """Remembers what every operation gave for each position; the second time, looks for where earlier ones change."""

    def __init__(self, where: Where, sequences: Sequences, seen: Seen | None) -> None:
        super().__init__()
        self.seen: Seen = []
        self.found: Place | None = None
        self._where, self._sequences, self._reference = where, sequences, seen
        self._scored: Place | None = None  # where the scores of pairs of positions were last normalised
        self._kept = self._index = 0
        self._masks = Masks(lambda: where.place("mask"))
        self.mask: dict[str, Any] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if self.found is not None:
            return result
        name = str(func.overloadpacket.__name__).strip("_")
        self._masks.saw(name, args, result)
        first = next((t for t in tensors_in(result) if t.dim() and t.is_floating_point()), None)
        laid = self._laid(first) if first is not None else []
        if self._reference is None:
            if self._kept >= _MOST_NUMBERS:
                laid = []
            self._kept += sum(tensor.numel() for tensor in laid)
            self.seen.append((name, [tensor.clone() for tensor in laid]))
            return result
        known, reference = self._reference[self._index] if self._index < len(self._reference) else ("", [])
        self._index += 1
        if first is not None and any(word in name for word in _SCORING) and self._pairs(first):
            self._scored = self._where.place(name)
        if laid and len(laid) == len(reference) and known == name:
            self._compare(name, laid, reference)
        return result

    def _compare(self, name: str, now: list[Tensor], before: list[Tensor]) -> None:
        at = self._sequences.position
        for one, reference in zip(now, before, strict=True):
            if one.shape != reference.shape:
                return
            change = (one - reference).flatten(1)
            earlier = largest(change[:at])
            if earlier <= _NOISE * max(largest(change[at:]), earlier):
                return
        place, scored = self._where.place(name), self._scored
        # Attention by hand: the mask belongs before the softmax, not where its result is used.
        same = scored is not None and scored.component == place.component and "mm" in name
        self.found = scored if same else place
        if same or any(word in name for word in _SCORING):
            self.mask = _known(self._masks)

    def _sizes(self) -> tuple[int, ...]:
        return (self._sequences.steps, self._sequences.length)

    def _pairs(self, tensor: Tensor) -> bool:
        return sum(size in self._sizes() for size in tensor.shape) >= 2

    def _laid(self, tensor: Tensor) -> list[Tensor]:
        """With time first. Positions in one row may be those of one sequence after the other, or of one moment: both are given."""
        axes = [axis for axis, size in enumerate(tensor.shape) if size in self._sizes()]
        if len(axes) == 1 and tensor.dim() > 1:
            return [tensor.movedim(axes[0], 0)]
        count = self._sequences.count
        for length in self._sizes():
            if not axes and tensor.dim() == 2 and tensor.shape[0] == length * count:
                return [tensor.reshape(length, count, -1), tensor.reshape(count, length, -1).movedim(1, 0)]
        return []
