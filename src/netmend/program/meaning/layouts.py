"""What reshaping, indexing, joining and reducing do to a shape."""

from __future__ import annotations

from collections.abc import Sequence

from netmend.program.engine.values import Call, Collection, Const, Operation, Value, constant, resolved
from netmend.program.meaning.operations import Op
from netmend.program.meaning.sizes import Shape, Size, is_batch_size, product, size_of, whole_number


def argument(call: Call, position: int, *names: str) -> Value | None:
    """What an operation is given beside its tensor: `1` of `x.mean(1)`, `torch.mean(x, 1)` and `x.mean(dim=1)`."""
    for name in names:
        if name in call.keywords:
            return resolved(call.keywords[name])
    position += 0 if call.method else 1
    return resolved(call.args[position]) if len(call.args) > position else None


def sizes_given(call: Call) -> tuple[Value, ...] | None:
    """The sizes in `x.view(a, b)`, `x.reshape((a, b))`, `torch.reshape(x, (a, b))`."""
    given = call.args if call.method else call.args[1:]
    if call.open:
        return None
    if not given and "shape" in call.keywords:
        given = (call.keywords["shape"],)
    inner = resolved(given[0]) if len(given) == 1 else None
    if isinstance(inner, Collection):
        return None if inner.open else tuple(inner.items)
    return given


def viewed(call: Call, given: Shape | None) -> Shape | None:
    """`x.view(-1, 784)`, `x.reshape(len(x), -1)`."""
    wanted = sizes_given(call) or ()
    numbers = [whole_number(value) for value in wanted]
    if not wanted or numbers == [None]:
        return None  # one value of unknown kind may be a whole shape
    sizes = [None if number == -1 else size_of(value) for number, value in zip(numbers, wanted, strict=True)]
    before = given.sizes if given is not None and given.whole else ()
    if numbers[0] == -1 and before and product(before[1:]) == product(sizes[1:]) is not None:
        sizes[0] = before[0]  # the rows stay rows
    elif numbers.count(-1) == 1 and is_batch_size(wanted[0]) and given is not None and given.sample:
        place = numbers.index(-1)
        others = product([number for at, number in enumerate(numbers) if at not in (0, place)])
        if isinstance(others, int) and others > 0 and given.sample % others == 0:
            sizes[place] = given.sample // others
    return Shape(tuple(sizes))


def flattened(call: Call, op: Op | None, given: Shape | None) -> Shape | None:
    """`torch.flatten(x, 1)`, `nn.Flatten()`."""
    layer = op.layer if op is not None else None
    first = layer.argument("start_dim", 0) if layer is not None else argument(call, 0, "start_dim")
    last = layer.argument("end_dim", 1) if layer is not None else argument(call, 1, "end_dim")
    start = constant(first) if first is not None else int(layer is not None)
    if start not in (0, 1) or (last is not None and constant(last) != -1):
        return None
    if given is None or not given.whole:
        return Shape((None,) * (start + 1))
    sizes = given.sizes
    return Shape((*sizes[:start], product(sizes[start:]))) if len(sizes) > start else None


def permuted(call: Call, name: str, given: Shape) -> Shape | None:
    """`x.permute(0, 2, 1)`, `x.transpose(1, 2)`, `x.t()`."""
    sizes, count = given.sizes, len(given.sizes)
    if name == "t":
        return Shape(sizes[::-1]) if count == 2 else None
    wanted = sizes_given(call)
    order = _places(list(wanted), count) if wanted is not None else None
    if order is None:
        return None
    if name == "permute":
        return Shape(tuple(sizes[place] for place in order)) if sorted(order) == list(range(count)) else None
    if name == "movedim" or len(order) != 2:
        return None
    swapped = dict(zip(order, reversed(order), strict=True))
    return Shape(tuple(sizes[swapped.get(place, place)] for place in range(count)))


def unsqueezed(call: Call, given: Shape) -> Shape | None:
    place = _places([argument(call, 0, "dim", "axis")], len(given.sizes) + 1)
    return None if place is None else Shape((*given.sizes[: place[0]], 1, *given.sizes[place[0] :]))


def squeezed(call: Call, given: Shape) -> Shape | None:
    """Places of size 1 vanish: all of them, or those that are named."""
    asked = argument(call, 0, "dim", "axis")
    places = _places(_listed(asked), len(given.sizes)) if asked is not None else range(len(given.sizes))
    if places is None or any(given.sizes[place] is None for place in places):
        return None
    return Shape(tuple(size for place, size in enumerate(given.sizes) if place not in places or size != 1))


def reduced(call: Call, name: str, given: Shape | None) -> Shape | None:
    """`mean(1)`, `sum(dim=(1, 2), keepdim=True)`; without an axis a number."""
    if given is None or not given.whole or call.open:
        return None
    asked = argument(call, 9 if name == "norm" else 0, "dim", "axis")
    if asked is None or constant(asked, 0) is None:
        return Shape(())
    gone = _places(_listed(asked), len(given.sizes))
    keep = argument(call, 1, "keepdim", "keepdims")
    if gone is None or not (keep is None or isinstance(keep, Const)):
        return None
    kept = ((1,) if constant(keep) else ()) if keep is not None else ()
    sizes: list[Size] = []
    for place, size in enumerate(given.sizes):
        sizes.extend(kept if place in gone else (size,))
    return Shape(tuple(sizes))


def best(call: Call, given: Shape | None) -> Shape | None:
    """`topk(5)`, `topk(5, dim=1)`: as many along one axis, the last one unless another is named."""
    count, axis = argument(call, 0, "k"), argument(call, 1, "dim") or Const(-1)
    place = _places([axis], len(given.sizes)) if given is not None and given.whole else None
    if given is None or place is None or count is None:
        return None
    return Shape((*given.sizes[: place[0]], size_of(count), *given.sizes[place[0] + 1 :]))


def joined(call: Call, name: str, parts: list[Shape | None], is_open: bool) -> Shape | None:
    """`torch.stack([a, b], 1)`; `torch.cat([a, b])`, where the sizes along the joined place add up."""
    first = parts[0] if parts else None
    axis = argument(call, 0, "dim", "axis") or Const(0)
    if first is None:
        return None
    if name == "stack":
        at = _places([axis], len(first.sizes) + 1) if first.whole else None
        count = None if is_open else len(parts)
        return None if at is None else Shape((*first.sizes[: at[0]], count, *first.sizes[at[0] :]))
    known = [part for part in parts if part is not None]
    if (
        not is_open
        and len(known) == len(parts)
        and any(part.rank != first.rank or not part.whole for part in known)
    ):
        is_last = whole_number(axis) == -1 and all(part.sizes for part in known)
        return Shape((_sum([part.last for part in known]),), False) if is_last else None
    place = _places([axis], len(first.sizes)) if first.whole else None
    if place is None:
        return None
    if is_open or len(known) < len(parts):
        return Shape((*first.sizes[: place[0]], None, *first.sizes[place[0] + 1 :]))
    columns = list(zip(*(part.sizes for part in known), strict=True))
    return Shape(
        tuple(
            _sum(sizes) if at == place[0] else next((size for size in sizes if size is not None), None)
            for at, sizes in enumerate(columns)
        )
    )


def _sum(sizes: Sequence[Size]) -> int | None:
    numbers = [size for size in sizes if isinstance(size, int)]
    return sum(numbers) if len(numbers) == len(sizes) else None


def _listed(value: Value) -> list[Value]:
    return list(value.items) if isinstance(value, Collection) else [value]


def _places(values: Sequence[Value | None], count: int) -> list[int] | None:
    """Axes counted from the front; None unless each is a number and there."""
    places = [whole_number(value) for value in values]
    found = [place % count for place in places if place is not None and -count <= place < count]
    return found if len(found) == len(places) else None


def is_last_of(key: Value, axis: int) -> bool:
    """`[:, -1]` for axis 1, `[-1]` for axis 0, with or without `:` behind it."""
    key = resolved(key)
    if axis == 0 and isinstance(key, Const):
        return bool(key.value == -1)
    if not isinstance(key, Collection) or len(key.items) not in (axis + 1, 3):
        return False
    for place, item in enumerate(key.items):
        item = resolved(item)
        if place == axis:
            if not (isinstance(item, Const) and item.value == -1):
                return False
        elif not (isinstance(item, Operation) and item.operator == "slice" and _is_all(item)):
            return False
    return True


def _is_all(item: Operation) -> bool:
    return all(constant(part, 0) is None for part in item.operands)
