"""What reshaping, indexing, joining and reducing do to a shape."""

from __future__ import annotations

from typing import Protocol

from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Element,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.operations import Op, operation
from netmend.program.meaning.sizes import Shape, is_batch_size, product, whole_number


class Known(Protocol):
    def of(self, value: Value | None) -> Shape | None: ...


def sizes_given(op: Op) -> tuple[Value, ...] | None:
    """The sizes in `x.view(a, b)`, `x.reshape((a, b))`, `torch.reshape(x, (a, b))`."""
    given = op.inputs[1:]
    if op.value.open:
        return None
    if not given and "shape" in op.value.keywords:
        given = (op.value.keywords["shape"],)
    if len(given) == 1:
        inner = resolved(given[0])
        if isinstance(inner, Collection):
            return None if inner.open else tuple(inner.items)
    return given


def laid_out(op: Op, given: Shape | None, known: Known) -> Shape | None:
    """The shape behind an operation that only changes the layout."""
    if op.name in ("view", "reshape"):
        return _viewed(op, given)
    if op.name == "flatten":
        return _flattened(op, given)
    if op.name in ("unsqueeze",) and given is not None:
        place = whole_number(op.option("dim", 0))
        if place is None or not given.whole or not -len(given.dims) - 1 <= place <= len(given.dims):
            return None
        at = place if place >= 0 else len(given.dims) + 1 + place
        return Shape((*given.dims[:at], 1, *given.dims[at:]))
    if op.name in ("permute", "transpose", "swapaxes", "t", "movedim") and given is not None:
        return _permuted(op, given)
    return None


def _viewed(op: Op, given: Shape | None) -> Shape | None:
    wanted = sizes_given(op)
    if not wanted:
        return None
    sizes = [whole_number(value) for value in wanted]
    if len(wanted) == 1 and sizes[0] is None:
        return None  # one value of unknown kind may be a whole shape
    if sizes.count(-1) == 1:
        place = sizes.index(-1)
        rest = [size for position, size in enumerate(sizes) if position not in (0, place)]
        others = product(rest)
        if place > 0 and is_batch_size(wanted[0]) and given is not None and given.sample and others:
            exact = given.sample % others == 0
            sizes[place] = given.sample // others if exact else None
        else:
            sizes[place] = None
    return Shape(tuple(None if size is not None and size < 0 else size for size in sizes))


def _flattened(op: Op, given: Shape | None) -> Shape | None:
    is_layer = op.layer is not None
    start = constant(op.option("start_dim", 0), 1 if is_layer else 0) if _plain(op, "start_dim", 0) else None
    end = constant(op.option("end_dim", 1), -1) if _plain(op, "end_dim", 1) else None
    if start != 1 or end != -1:
        return None
    if given is None or not given.whole or len(given.dims) < 2:
        return Shape((None, None)) if given is None or not given.whole else None
    return Shape((given.dims[0], product(given.dims[1:])))


def _plain(op: Op, name: str, position: int) -> bool:
    value = op.option(name, position)
    return value is None or isinstance(value, Const)


def _permuted(op: Op, given: Shape) -> Shape | None:
    if not given.whole:
        return None
    count = len(given.dims)
    if op.name == "t":
        return Shape(given.dims[::-1]) if count == 2 else None
    wanted = sizes_given(op)
    if wanted is None:
        return None
    places = [whole_number(value) for value in wanted]
    if any(place is None or not -count <= place < count for place in places):
        return None
    order = [place % count for place in places if place is not None]
    if op.name == "permute":
        return (
            Shape(tuple(given.dims[place] for place in order))
            if sorted(order) == list(range(count))
            else None
        )
    if op.name in ("transpose", "swapaxes") and len(order) == 2:
        dims = list(given.dims)
        dims[order[0]], dims[order[1]] = dims[order[1]], dims[order[0]]
        return Shape(tuple(dims))
    return None


def reduced(op: Op, given: Shape | None) -> Shape | None:
    """`x.mean(1)`, `x.amax(dim=(2, 3))`, `x.squeeze(1)`: places that vanish."""
    if given is None or not given.whole or op.value.open:
        return None
    value = op.value.keywords.get("dim", op.value.keywords.get("axis", op.option("dim", 0)))
    keep = op.value.keywords.get("keepdim", op.option("keepdim", 1) if op.name != "norm" else None)
    if op.name == "norm" or value is None or (keep is not None and not isinstance(keep, Const)):
        return None
    value = resolved(value)
    listed = list(value.items) if isinstance(value, Collection) else [value]
    places = [whole_number(item) for item in listed]
    count = len(given.dims)
    if any(place is None or not -count <= place < count for place in places):
        return None
    gone = {place % count for place in places if place is not None}
    if op.name == "squeeze":
        gone = {place for place in gone if given.dims[place] == 1}
        if len(gone) != len(places):
            return None
    if constant(keep, False) is True:
        return Shape(tuple(1 if place in gone else size for place, size in enumerate(given.dims)))
    return Shape(tuple(size for place, size in enumerate(given.dims) if place not in gone))


def joined(op: Op, parts: list[Shape | None]) -> Shape | None:
    """`torch.cat`: sizes along the joined place add up."""
    place = whole_number(op.option("dim", 0)) if op.option("dim", 0) is not None else 0
    axis = op.value.keywords.get("axis")
    if axis is not None:
        place = whole_number(axis)
    known = [part for part in parts if part is not None]
    if place is None or not known or len(known) != len(parts):
        return None
    if any(not part.whole or len(part.dims) != len(known[0].dims) for part in known):
        if place != -1 or any(not part.dims for part in known):
            return None
        total = [part.last for part in known]
        return Shape((sum(size or 0 for size in total) if None not in total else None,), False)
    count = len(known[0].dims)
    if not -count <= place < count:
        return None
    place %= count
    dims: list[int | None] = []
    for position in range(count):
        sizes = [part.dims[position] for part in known]
        if position == place:
            dims.append(sum(size or 0 for size in sizes) if None not in sizes else None)
        else:
            dims.append(next((size for size in sizes if size is not None), None))
    return Shape(tuple(dims))


def indexed(given: Shape | None, key: Value) -> Shape | None:
    """`x[0]`, `x[:, -1]`, `x[..., 0]`: numbers take a place away, slices keep it."""
    if given is None or not given.whole:
        return None
    key = resolved(key)
    keys = list(key.items) if isinstance(key, Collection) and key.kind == "tuple" else [key]
    dims: list[int | None] = []
    place = 0
    for item in keys:
        item = resolved(item)
        if place >= len(given.dims):
            return None
        if isinstance(item, Operation) and item.operator == "slice":
            is_all = all(constant(part, 0) is None for part in item.operands)
            dims.append(given.dims[place] if is_all else None)
        elif isinstance(item, Const) and isinstance(item.value, int) and not isinstance(item.value, bool):
            pass
        elif len(keys) == 1 and _picks_rows(item):
            dims.append(None)
        else:
            return None
        place += 1
    return Shape((*dims, *given.dims[place:]))


def _picks_rows(key: Value) -> bool:
    """Is the key a tensor of row numbers?"""
    if isinstance(key, Element):
        source = operation(resolved(key.iterable))
        return source is not None and source.name in ("split", "chunk", "tensor_split")
    return isinstance(key, Call) and key.qualified in ("torch.randperm", "torch.randint", "torch.arange")
