"""Shapes of predictions and targets: constants, and symbols for sizes that are the same by construction (rows of one batch)."""

from __future__ import annotations

from collections.abc import Sequence

from netmend.program.engine.history import STORE
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Item,
    Name,
    Operation,
    Param,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.batches import INDEX, part_of_batch
from netmend.program.meaning.loss_shape_changes import (
    CHANGES,
    SAME,
    Shape,
    Size,
    best,
    broadcast,
    given_size,
    laid_out,
    named,
    number,
    reduced,
    stacked,
)
from netmend.program.meaning.operations import operation
from netmend.program.meaning.tables import axes_of_array, scaled_from, split_from

_REDUCE = frozenset(
    ("mean", "sum", "std", "var", "argmax", "argmin", "amax", "amin", "any", "all", "prod", "norm", "logsumexp", "nanmean")
)  # fmt: skip
_PAIRS = frozenset(("max", "min", "median", "mode"))
_SIZES_FIRST = frozenset(
    ("randn", "rand", "zeros", "ones", "empty", "standard_normal", "random", "random_sample")
)
_SIZE_LAST = {
    "randint": 2, "normal": 2, "uniform": 2, "integers": 2, "choice": 1, "full": 0, "exponential": 1, "poisson": 1, "laplace": 2,
}  # fmt: skip
_ONE_DIMENSION = frozenset(("randperm", "arange", "linspace", "permutation", "logspace", "multinomial"))
_JOINED = frozenset(("maximum", "minimum", "where", "hypot", "atan2", "mul", "add", "sub", "div", "lerp"))
_MASKS = frozenset(("==", "!=", "<", ">", "<=", ">=", "&", "|", "~"))
_NO_ARITHMETIC = frozenset(("slice", "format", "and", "or", "not", "in", "not in", "is", "is not", "compare"))
_NUMBERS = frozenset(("numpy.pi", "math.pi", "torch.pi", "numpy.e", "math.e"))
_IN_PLACE = ("resize", "resize_", "unsqueeze_", "squeeze_", "t_", "transpose_")
_MOST_STEPS = 600


class LossShapes:
    """Answers for one program; each value is looked at once."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[int, tuple[Value, Shape | None]] = {}
        self._steps = 0
        self._changed = _changed_in_place(program)

    def of(self, value: Value | None) -> Shape | None:
        """The shape, one size per axis; None where even the number of axes is not known."""
        if value is None:
            return None
        value = resolved(value)
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        self._known[id(value)] = (value, None)
        if id(value) in self._changed:
            return None
        self._steps += 1
        found = self._look(value) if self._steps < _MOST_STEPS else None
        self._known[id(value)] = (value, found)
        return found

    def _look(self, value: Value) -> Shape | None:
        if isinstance(value, Const):
            return () if isinstance(value.value, int | float) else None
        if isinstance(value, Name):
            return () if value.qualified in _NUMBERS else None
        if isinstance(value, Either):
            shapes = {self.of(option) for option in value.options}
            return shapes.pop() if len(shapes) == 1 else None
        if isinstance(value, Operation):
            return self._arithmetic(value)
        axes = axes_of_array(value)
        if axes is not None:
            return (None,) * axes
        if isinstance(value, Item):
            return self._item(value)
        if isinstance(value, Attribute):
            inner = self.of(value.base)
            if inner is not None and value.name == "T":
                return inner[::-1]
            return inner if value.name in ("data", "real") else None
        if isinstance(value, Element):
            return self._element(value)
        if isinstance(value, Collection):
            plain = value.kind in ("list", "tuple") and not value.open and value.items
            inner = self.of(value.items[0]) if plain else None
            return (len(value.items), *inner) if inner is not None else None
        return self._call(value) if isinstance(value, Call) else None

    def _arithmetic(self, value: Operation) -> Shape | None:
        if value.operator == "@" and len(value.operands) == 2:
            left, right = self.of(value.operands[0]), self.of(value.operands[1])
            if left and right and len(right) <= 2:
                return left[:-1] + (right[-1:] if len(right) == 2 else ())
            return None
        if value.operator in _NO_ARITHMETIC:
            return None
        return broadcast([self.of(operand) for operand in value.operands])

    def _element(self, value: Element) -> Shape | None:
        source = resolved(value.iterable)
        if isinstance(source, Call):
            if source.qualified in ("range", "enumerate"):
                return ()
            name, inputs = named(source)
            if name in ("split", "chunk", "array_split", "tensor_split") and inputs:
                inner = self.of(inputs[0])
                return (("piece", id(value)), *inner[1:]) if inner else None
        inner = self.of(source)
        return inner[1:] if inner else None

    def _item(self, value: Item) -> Shape | None:
        part = part_of_batch(self._program, value)
        if part is not None:
            inner = self.of(part.value)
            if inner is None or (part.rows and not inner):
                return None
            inner = inner[1:] if part.rows else inner
            return (("batch", id(part.element)), *inner) if part.batched else inner
        whole = split_from(value)
        if whole is not None:
            inner = self.of(whole)
            return (
                (("split", id(resolved(value.base)), constant(value.key) % 2), *inner[1:]) if inner else None
            )
        base = resolved(value.base)
        if isinstance(base, Call) and isinstance(value.key, Const):
            name, inputs = named(base)
            if name == "sort" and inputs:
                return self.of(inputs[0])
            if name == "topk" and inputs:
                return best(base, self.of(inputs[0]))
            if name in _PAIRS and inputs:
                return reduced(base, self.of(inputs[0]), whole=False)
            if name in ("lstm", "gru", "rnn") and inputs:
                inner = self.of(inputs[0])
                return (*inner[:-1], None) if inner is not None and value.key.value == 0 else None
            if name in ("split", "chunk", "unbind", "train_test_split"):
                return None
        inner = self.of(base)
        if inner is None:
            return None
        many = isinstance(value.key, Collection) and value.key.kind == "tuple"
        return self._picked(
            inner, value.key.items if many and isinstance(value.key, Collection) else [value.key]
        )

    def _picked(self, inner: Shape, keys: Sequence[Value]) -> Shape | None:
        left = list(inner)
        shape: list[Size] = []
        for position, key in enumerate(keys):
            key = resolved(key)
            if isinstance(key, Const) and key.value is None:
                shape.append(1)
            elif isinstance(key, Const) and key.value is Ellipsis:
                behind = [other for other in keys[position + 1 :] if constant(other, 0) is not None]
                while len(left) > len(behind):
                    shape.append(left.pop(0))
            elif not left:
                return None
            else:
                sizes = self._chosen(key, left.pop(0))
                if sizes is None:
                    return None
                shape.extend(sizes)
        return (*shape, *left)

    def _chosen(self, key: Value, size: Size) -> Shape | None:
        """What a key leaves of one axis."""
        if isinstance(key, Operation) and key.operator == "slice":
            limits = tuple(part.value if isinstance(part, Const) else id(part) for part in key.operands)
            return (size,) if limits == (None, None, None) else (("slice", size, *limits),)
        if isinstance(key, Operation) and key.operator in _MASKS:
            mask = self.of(key)
            return (("mask", id(key)),) if mask is not None and len(mask) == 1 else None
        if isinstance(key, Param):
            return () if key.name == INDEX else None
        rows = self.of(key)
        if rows is None or len(rows) > 1:
            return None
        return tuple(("chosen", id(key)) for _ in rows)

    def _call(self, call: Call) -> Shape | None:
        scaled = scaled_from(call)
        if scaled is not None:
            return self.of(scaled)
        name, inputs = named(call)
        if not name:
            return None
        makes = not call.method or _is_generator(call)
        if name in _SIZES_FIRST and makes:
            sizes = call.args or tuple(call.keywords[key] for key in ("size",) if key in call.keywords)
            if call.open or not sizes:
                return None
            return given_size(sizes[0]) if len(sizes) == 1 else tuple(number(size) for size in sizes)
        if name in _SIZE_LAST and makes:
            given = call.argument("size", _SIZE_LAST[name])
            return given_size(given if given is not None or len(call.args) != 2 else call.args[1])
        if name in _ONE_DIMENSION:
            return (None,)
        if not inputs:
            return None
        if name in _REDUCE:
            return reduced(call, self.of(inputs[0]))
        if name in _JOINED:
            return broadcast([self.of(part) for part in inputs])
        if name in ("stack", "cat", "concat", "concatenate"):
            parts = resolved(inputs[0])
            first = self.of(parts.items[0]) if isinstance(parts, Collection) and parts.items else None
            return stacked(call, name, parts, first)
        if name in ("view_as", "reshape_as"):
            return self.of(inputs[-1])
        if name in ("view", "reshape") and len(call.args) > 0:
            like = resolved(call.args[-1])
            if isinstance(like, Attribute) and like.name == "shape":
                return self.of(like.base)
        inner = self.of(inputs[0])
        if inner is None and name in ("view", "reshape", "flatten"):
            return laid_out(call)
        if inner is None or name in SAME:
            return inner
        change = CHANGES.get(name)
        return change(call, operation(call), inner) if change is not None else None


def _is_generator(call: Call) -> bool:
    made = resolved(call.receiver)
    return isinstance(made, Call) and made.qualified.startswith("numpy.random.")


def _changed_in_place(program: Program) -> frozenset[int]:
    """The `id`s of arrays that get another shape after they were made: `a.resize((n, 1))`, `a.shape = n, 1`."""
    owners = [event.call.receiver for event in program.methods_of(*_IN_PLACE)]
    owners += [
        event.target.base
        for event in program.events
        if event.kind == STORE and event.target is not None and event.target.name == "shape"
    ]
    return frozenset(id(resolved(owner)) for owner in owners if owner is not None)
