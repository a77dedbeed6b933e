"""Whether what training does to its pictures makes them look like another class, or exchanges points that have a side: asked at the end, of the first batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from netmend.vocabulary import PreparationFact

if TYPE_CHECKING:
    from netmend.adapters.preparation.watch import Preparation

_SIDE = 16  # pixels of the small copies that are compared
_MOST, _FEWEST = 320, 12  # samples of a part; of a class
_MOST_CLASSES = 64
_SHIFTS = tuple((y, x) for y in (-1, 0, 1) for x in (-1, 0, 1))
_TURNS: dict[str, Callable[[Any], Any]] = {
    "mirrored": lambda a: a[..., ::-1],
    "upside down": lambda a: a[..., ::-1, :],
    "turned by 180°": lambda a: a[..., ::-1, ::-1],
    "turned by 90°": lambda a: np.rot90(a, 1, (-2, -1)),
    "turned by 270°": lambda a: np.rot90(a, 3, (-2, -1)),
}
_LIKE_OTHER = 0.8  # of turned pictures of a class look like one other class
_CERTAIN = 0.85  # of pictures as they are look like their own class
_MIXED = (0.2, 0.8)  # share of a class's training pictures that look like the other one
_ALWAYS = 0.97
_SAME_PLACE = 0.35  # of the distance between two points


def ask(preparation: Preparation) -> None:
    trained, scored = (
        [batch for batch in batches if batch.targets.size]
        for batches in (preparation.batches.training, preparation.batches.evaluation)
    )
    if not trained or not scored:
        return
    x, y = _joined(trained)
    u, v = _joined(scored)
    if x is None or u is None or x.ndim != 4 or u.ndim != 4 or x.shape[1:] != u.shape[1:]:
        return
    if y.ndim == 1 and y.dtype.kind in "iu":
        for number, seen in enumerate(_look_like_others(x, y, u, v)):
            preparation.add(PreparationFact(f"turned pictures {number}", "turned", "turned", seen=seen))
    elif y.ndim >= 2 and y.dtype.kind == "f" and v.ndim == y.ndim:
        seen = _exchanged(y.reshape(len(y), -1), v.reshape(len(v), -1))
        if seen:
            preparation.add(PreparationFact("mirrored points", "mirrored", "turned", seen=seen))


def _joined(batches: Any) -> tuple[Any, Any]:
    """As many samples as are wanted, of all batches of the first one's form."""
    first = batches[0]
    alike = [batch for batch in batches if batch.inputs.shape[1:] == first.inputs.shape[1:] and batch.targets.shape[1:] == first.targets.shape[1:]
             and len(batch.inputs) == len(batch.targets)]  # fmt: skip
    if not alike:
        return None, None
    return np.concatenate([batch.inputs for batch in alike])[:_MOST], np.concatenate(
        [batch.targets for batch in alike]
    )[:_MOST]


# -- classes


def _look_like_others(x: Any, y: Any, u: Any, v: Any) -> Iterator[dict[str, Any]]:
    """Pairs of classes that a turn exchanges, and which training shows mixed up although evaluation does not."""
    names, counts = np.unique(v, return_counts=True)
    if x.shape[1] > 4 or min(x.shape[2:]) < _SIDE // 2 or not 2 <= len(names) <= _MOST_CLASSES:
        return
    several = [
        name
        for name, count in zip(names, counts, strict=True)
        if count >= _FEWEST and (y == name).sum() >= _FEWEST
    ]
    known = _small(u)
    as_it_is = _nearest(known, known, v, themselves=True)
    shown = _nearest(_small(x), known, v)
    sure = [name for name in several if (as_it_is[v == name] == name).mean() >= _CERTAIN]
    if len(sure) < 2:
        return
    told: set[tuple[int, int]] = set()
    for how, turn in _TURNS.items():
        if u.shape[2] != u.shape[3] and "90" in how:
            continue
        turned = _nearest(turn(known), known, v)
        for one in sure:
            other, share = _most(turned[v == one])
            if other <= one or other not in sure or share < _LIKE_OTHER or (one, other) in told:
                continue
            back, share_back = _most(turned[v == other])
            mixed = [
                float((shown[y == name] == partner).mean()) for name, partner in ((one, other), (other, one))
            ]
            rest = [
                float(((shown[y == name] != one) & (shown[y == name] != other)).mean())
                for name in (one, other)
            ]
            in_training = (
                all(_MIXED[0] <= share <= _MIXED[1] for share in mixed) and max(rest) <= 1 - _CERTAIN
            )
            if back == one and share_back >= _LIKE_OTHER and in_training:
                told.add((one, other))
                yield {"how": how, "one": int(one), "other": int(other), "like_other": float(min(share, share_back)), "in_training": min(mixed),
                       "as_it_is": float(min((as_it_is[v == name] == name).mean() for name in (one, other)))}  # fmt: skip


def _most(values: Any) -> tuple[Any, float]:
    names, counts = np.unique(values, return_counts=True)
    return names[counts.argmax()], float(counts.max() / len(values))


def _small(pictures: Any) -> Any:
    """Small copies, each with mean 0 and spread 1."""
    found: Any = np.asarray(pictures, dtype=np.float32)
    for axis in (2, 3):
        side = min(_SIDE, found.shape[axis])
        edges = np.linspace(0, found.shape[axis], side + 1).astype(int)[:-1]
        sizes = np.diff([*edges, found.shape[axis]])
        shape = [1, 1, 1, 1]
        shape[axis] = side
        found = np.add.reduceat(found, edges, axis=axis) / sizes.reshape(shape)
    flat = found.reshape(len(found), -1)
    flat = (flat - flat.mean(1, keepdims=True)) / (flat.std(1, keepdims=True) + 1e-6)
    return flat.reshape(found.shape)


def _nearest(asked: Any, known: Any, classes: Any, *, themselves: bool = False) -> Any:
    """The class of the most similar known picture, which may lie a little elsewhere."""
    rows = asked.reshape(len(asked), -1)
    best = np.full((len(asked), len(known)), -np.inf, dtype=np.float32)
    for y, x in _SHIFTS:
        moved = np.roll(known, (y, x), (-2, -1)).reshape(len(known), -1)
        np.maximum(best, rows @ moved.T, out=best)
    if themselves:
        np.fill_diagonal(best, -np.inf)
    return classes[best.argmax(1)]


# -- points


def _exchanged(trained: Any, scored: Any) -> dict[str, Any]:
    """Coordinates of which one is always the greater in evaluation, and any of the two in training, as if a mirror had exchanged them."""
    columns = trained.shape[1]
    if columns != scored.shape[1] or not 4 <= columns <= 512 or min(len(trained), len(scored)) < 2 * _FEWEST:
        return {}
    if not (np.isfinite(trained).all() and np.isfinite(scored).all()):
        return {}
    found = []
    for one in range(columns):
        for other in range(one + 1, columns):
            if columns % 2 == 0 and (other - one) % 2 and (other - one) != columns // 2:
                continue
            apart = scored[:, other] - scored[:, one]
            side = np.sign(np.median(apart))
            if not side or (np.sign(apart) == side).mean() < _ALWAYS:
                continue
            now = (trained[:, other] - trained[:, one]) * side
            against = float((now < 0).mean())
            distance = float(np.abs(apart).mean())
            # As far apart as ever, in the one or the other order.
            if (
                0.25 <= against <= 0.75
                and abs(np.abs(now).mean() - distance) < _SAME_PLACE * distance
                and np.abs(now.mean()) < 0.6 * distance
            ):
                found.append((one, other, against))
    axes = {one % 2 for one, _, _ in found}
    pairs = _apart(found)
    if len(pairs) < 2 or len(axes) != 1:
        return {}
    return {
        "pairs": [list(pair[:2]) for pair in pairs],
        "against": float(np.mean([pair[2] for pair in pairs])),
        "coordinates": columns,
    }


def _apart(found: list[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """Pairs without a coordinate in common, the most evenly mixed first."""
    taken: set[int] = set()
    chosen = []
    for pair in sorted(found, key=lambda pair: (abs(pair[2] - 0.5), pair)):
        if pair[0] not in taken and pair[1] not in taken:
            taken.update(pair[:2])
            chosen.append(pair)
    return chosen
