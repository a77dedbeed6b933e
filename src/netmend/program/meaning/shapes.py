"""Follow shapes through a program, from value to value, as far as the text proves them."""

from __future__ import annotations

from collections.abc import Sequence

from netmend.program.engine.program import Program, once
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
from netmend.program.meaning.arrays import axes_of_array, made_shape, picture, scaled_from, split_from
from netmend.program.meaning.batches import INDEX, Part, part_of_batch
from netmend.program.meaning.layouts import (
    best,
    flattened,
    joined,
    permuted,
    reduced,
    squeezed,
    unsqueezed,
    viewed,
)
from netmend.program.meaning.losses import width as outputs_of
from netmend.program.meaning.modules import DROPOUTS, NORMS, RECURRENT
from netmend.program.meaning.operations import ACTIVATIONS, Op, named, operation
from netmend.program.meaning.sizes import (
    Shape,
    Size,
    axes_of,
    broadcast,
    convolved,
    numbers,
    recurrent_width,
    setting,
    transposed,
    whole_number,
    width,
)

_KEEPS = (ACTIVATIONS - {"glu"}) | DROPOUTS | NORMS | frozenset(
    ("identity", "contiguous", "clone", "detach", "float", "double", "half", "to", "cuda", "cpu", "type", "type_as", "abs", "exp",
     "log", "sqrt", "clamp", "neg", "sign", "sin", "cos", "square", "transformerencoder", "transformerencoderlayer",
     "localresponsenorm", "normalize", "relu_", "requires_grad_", "astype", "from_numpy", "tensor", "as_tensor", "long",
     "add_", "mul_", "div_", "sub_", "pow", "nan_to_num", "bfloat16", "numpy", "layer_norm", "batch_norm", "group_norm",
     "instance_norm", "feature_dropout", "pin_memory", "dequantize", "tan", "int", "bool", "round", "zeros_like", "ones_like",
     "randn_like", "rand_like", "full_like", "empty_like", "cumsum", "log1p", "expm1", "asarray", "array", "copy", "float32",
     "bernoulli", "erf", "floor", "ceil", "sinh", "cosh", "atan", "asin", "acos", "mod", "log10", "log2", "clip")
)  # fmt: skip
_REDUCE = frozenset(
    ("mean", "sum", "std", "var", "argmax", "argmin", "amax", "amin", "any", "all", "prod", "norm", "logsumexp", "nanmean")
)  # fmt: skip
_SEVERAL = RECURRENT | {
    *("sort", "topk", "max", "min", "median", "mode", "split", "chunk", "unbind", "train_test_split"),
    "multiheadattention",
}
_JOINED = frozenset(("maximum", "minimum", "where", "hypot", "atan2", "mul", "add", "sub", "div", "lerp"))
_MASKS = frozenset(("==", "!=", "<", ">", "<=", ">=", "&", "|", "~"))
_NO_ARITHMETIC = frozenset(("slice", "format", "and", "or", "not", "in", "not in", "is", "is not", "compare"))
_NUMBERS = frozenset(("numpy.pi", "math.pi", "torch.pi", "numpy.e", "math.e"))
_IN_PLACE = ("unsqueeze_", "squeeze_", "t_", "transpose_", "resize", "resize_", "swapaxes_")
_MOST_DEPTH = 60


Sizes = tuple[Size, ...]


class Shapes:
    """Shapes of values, worked out once each."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[int, tuple[Value, Shape | None]] = {}
        self._depth = 0
        for value in _changed_in_place(program):
            self._known[id(value)] = (value, None)

    def sizes(self, value: Value | None) -> Sizes | None:
        """One size per axis; None where even the number of axes is not known."""
        shape = self.of(value)
        return shape.sizes if shape is not None and shape.whole else None

    def of(self, value: Value | None) -> Shape | None:
        """The shape of a tensor; None when nothing is known of it."""
        if value is None:
            return None
        value = resolved(value)
        if id(value) in self._known:
            return self._known[id(value)][1]
        if self._depth > _MOST_DEPTH:
            return None
        self._known[id(value)] = (value, None)
        self._depth += 1
        try:
            shape = self._look(value)
        finally:
            self._depth -= 1
        self._known[id(value)] = (value, shape)
        return shape

    def _look(self, value: Value) -> Shape | None:
        if isinstance(value, Const):
            return Shape(()) if isinstance(value.value, int | float) else None
        if isinstance(value, Name):
            return Shape(()) if value.qualified in _NUMBERS else None
        if isinstance(value, Either):
            shapes = {self.of(option) for option in value.options}
            return shapes.pop() if len(shapes) == 1 else None
        if isinstance(value, Operation):
            return self._arithmetic(value)
        axes = axes_of_array(value)
        if axes is not None:
            return Shape((None,) * axes)
        if isinstance(value, Item):
            return self._item(value)
        if isinstance(value, Attribute):
            inner = self.of(value.base)
            if value.name == "T" and inner is not None and inner.whole:
                return Shape(inner.sizes[::-1])
            return inner if value.name in ("data", "real") else None
        if isinstance(value, Element):
            return self._element(value)
        if isinstance(value, Collection):
            is_plain = value.kind in ("list", "tuple") and not value.open and value.items
            return (
                joined(
                    Call(Name("torch.stack")), "stack", [self.of(value.items[0])] * len(value.items), False
                )
                if is_plain
                else None
            )
        return self._call(value) if isinstance(value, Call) else None

    def _arithmetic(self, value: Operation) -> Shape | None:
        if value.operator == "@" and len(value.operands) == 2:
            left, right = (self.sizes(operand) for operand in value.operands)
            is_product = left and right and len(right) <= 2
            return Shape((*left[:-1], *right[1:])) if left and right and is_product else None
        if value.operator in _NO_ARITHMETIC:
            return None
        return broadcast([self.of(operand) for operand in value.operands])

    def _element(self, value: Element) -> Shape | None:
        source = resolved(value.iterable)
        name, inputs = named(source) if isinstance(source, Call) else ("", ())
        if isinstance(source, Call) and source.qualified in ("range", "enumerate"):
            return Shape(())
        is_piece = name in ("split", "chunk", "array_split", "tensor_split") and inputs
        sizes = self.sizes(inputs[0] if is_piece else source)
        if not sizes:
            return None
        return Shape((("piece", id(value)), *sizes[1:]) if is_piece else sizes[1:])

    def _item(self, value: Item) -> Shape | None:
        part = part_of_batch(self._program, value)
        if part is not None:
            return self._part(part)
        whole = split_from(value)
        if whole is not None:
            sizes = self.sizes(whole)
            rows = ("split", id(resolved(value.base)), constant(value.key) % 2)
            return Shape((rows, *sizes[1:])) if sizes else None
        base = resolved(value.base)
        if isinstance(base, Call) and isinstance(value.key, Const) and named(base)[0] in _SEVERAL:
            return self._one_of_several(base, value.key)
        inner = operation(resolved(base.base)) if isinstance(base, Item) else None
        if inner is not None and inner.name == "lstm" and isinstance(base, Item) and constant(base.key) == 1:
            is_plain = inner.layer is not None and "proj_size" not in inner.layer.keywords
            is_state = constant(value.key) == 0 and is_plain
            return Shape((None, None, width(inner, "hidden_size", 1))) if is_state else None
        sizes = self.sizes(base)
        many = isinstance(value.key, Collection) and value.key.kind == "tuple"
        keys = value.key.items if many and isinstance(value.key, Collection) else [value.key]
        return self._picked(sizes, keys) if sizes is not None else None

    def _part(self, part: Part) -> Shape | None:
        """A place of a batch."""
        if part.value is None:
            inner = picture(part.dataset) if part.position == 0 else None
        else:
            inner = self.of(part.value)
        if inner is None or not inner.whole or (part.rows and not inner.sizes):
            return None
        sizes = inner.sizes[1:] if part.rows else inner.sizes
        return Shape((("batch", id(part.element)), *sizes) if part.batched else sizes)

    def _one_of_several(self, call: Call, key: Const) -> Shape | None:
        """`x.max(1)[0]`, `lstm(x)[0]`."""
        name, inputs = named(call)
        op = operation(call)
        given = self.of(inputs[0]) if inputs else None
        if name == "sort":
            return given
        if name == "topk":
            return best(call, given)
        if name in ("max", "min", "median", "mode"):
            shape = reduced(call, name, given)
            return shape if shape is not None and shape.sizes else None
        if op is None or op.layer is None:
            return None
        if name in RECURRENT and key.value == 0:
            is_known = given is not None and given.rank in (2, 3)
            steps = given.sizes[:-1] if given is not None and is_known else (None, None)
            return Shape((*steps, recurrent_width(op.layer)))
        if name == "gru" and key.value == 1:
            return Shape((None, None, width(op, "hidden_size", 1)))
        if name == "multiheadattention" and key.value == 0:
            return Shape((width(op, "embed_dim", 0),), False)
        return None

    def _picked(self, sizes: Sizes, keys: Sequence[Value]) -> Shape | None:
        """`x[0]`, `x[:, -1]`, `x[..., None]`."""
        left = list(sizes)
        picked: list[Size] = []
        for position, key in enumerate(keys):
            key = resolved(key)
            if isinstance(key, Const) and key.value is None:
                picked.append(1)
            elif isinstance(key, Const) and key.value is Ellipsis:
                behind = [other for other in keys[position + 1 :] if constant(other, 0) is not None]
                while len(left) > len(behind):
                    picked.append(left.pop(0))
            elif not left:
                return None
            else:
                chosen = self._chosen(key, left.pop(0))
                if chosen is None:
                    return None
                picked.extend(chosen)
        return Shape((*picked, *left))

    def _chosen(self, key: Value, size: Size) -> Sizes | None:
        """What a key leaves of one axis."""
        if isinstance(key, Operation) and key.operator == "slice":
            limits = tuple(part.value if isinstance(part, Const) else id(part) for part in key.operands)
            return (size,) if limits == (None, None, None) else (("slice", size, *limits),)
        if isinstance(key, Operation) and key.operator in _MASKS:
            mask = self.sizes(key)
            return (("mask", id(key)),) if mask is not None and len(mask) == 1 else None
        if isinstance(key, Param):
            return () if key.name == INDEX else None
        rows = self.sizes(key)
        if rows is None or len(rows) > 1:
            return None
        return tuple(("chosen", id(key)) for _ in rows)

    def _call(self, call: Call) -> Shape | None:
        scaled = scaled_from(call)
        if scaled is not None:
            return self.of(scaled)
        name, inputs = named(call)
        made = made_shape(call)
        if made is not None or not inputs:
            return made
        name = name if name in _KEEPS else name.removesuffix("_").replace("_", "")
        if name in ("stack", "cat", "concat", "concatenate"):
            listed = resolved(inputs[0])
            parts = [self.of(item) for item in listed.items] if isinstance(listed, Collection) else []
            return joined(call, name, parts, isinstance(listed, Collection) and listed.open)
        if name in _JOINED:
            return broadcast([self.of(part) for part in inputs])
        given = self.of(inputs[-1] if name in ("viewas", "reshapeas") else inputs[0])
        if name in _KEEPS or name in ("viewas", "reshapeas"):
            return given
        if name in ("view", "reshape"):
            like = resolved(call.args[-1]) if call.args else None
            is_like = isinstance(like, Attribute) and like.name == "shape"
            return self.of(like.base) if isinstance(like, Attribute) and is_like else viewed(call, given)
        if name in ("flatten", "ravel"):
            return flattened(call, operation(call), given)
        if name in _REDUCE:
            return reduced(call, name, given)
        op = operation(call)
        return self._layer(op, name, given) if op is not None else None

    def _layer(self, op: Op, name: str, given: Shape | None) -> Shape | None:
        axes = axes_of(name)
        if name == "linear":
            size = outputs_of(op)
            return given.with_last(size) if given is not None and given.sizes else Shape((size,), False)
        if name == "embedding" and op.layer is not None:
            size = width(op, "embedding_dim", 1)
            return Shape((*given.sizes, size)) if given is not None and given.whole else Shape((size,), False)
        if axes is not None and name.startswith(("conv", "maxpool", "avgpool", "adaptive")):
            return self._spatial(op, name, axes)
        if given is None or not given.whole:
            return None
        if name == "onehot":
            return Shape((*given.sizes, whole_number(op.option("num_classes", 0))))
        if name == "squeeze":
            return squeezed(op.value, given)
        if name == "unsqueeze":
            return unsqueezed(op.value, given)
        return permuted(op.value, name, given) if name in ("permute", "transpose", "swapaxes", "t") else None

    def _spatial(self, op: Op, name: str, axes: int) -> Shape | None:
        given = self.of(op.input)
        if given is not None and given.rank is not None and given.rank not in (axes + 1, axes + 2):
            return None
        lead: tuple[Size, ...] = (None,)
        if given is not None and given.rank == axes + 1:
            lead = ()
        elif given is not None and given.rank == axes + 2:
            lead = given.sizes[:1]
        channels = given.at(axes + 1) if given is not None else None
        sizes = [given.at(axes - axis) if given is not None else None for axis in range(axes)]
        if name.startswith("conv"):
            if op.layer is None:
                return None
            channels = width(op, "out_channels", 1)
            change = transposed if name.startswith("convtranspose") else convolved
            sizes = [change(size, op, axis, axes) for axis, size in enumerate(sizes)]
        elif name.startswith("adaptive"):
            wanted = op.option("output_size", 0)
            sizes = numbers(wanted, axes)
        else:
            if setting(op.option("return_indices"), False) is not False:
                return None
            sizes = [convolved(size, op, axis, axes) for axis, size in enumerate(sizes)]
        if any(size is not None and size < 1 for size in sizes):
            sizes = [None] * axes
        return Shape((*lead, channels, *sizes))


def _changed_in_place(program: Program) -> list[Value]:
    """Arrays that get another shape after they were made: `a.resize((n, 1))`, `a.shape = n, 1`."""
    owners = [event.call.receiver for event in program.methods_of(*_IN_PLACE)]
    owners += [event.target.base for event in program.stores if event.target.name == "shape"]
    return [resolved(owner) for owner in owners if owner is not None]


shapes = once(Shapes)


def column_and_row(prediction: Sizes | None, target: Sizes | None) -> tuple[str, str] | None:
    """The two shapes in words, if they spread out over each other."""
    if prediction is None or target is None or 1 in (prediction[:1] + target[:1]):
        return None
    if len(prediction) == 2 and prediction[1] == 1 and len(target) == 1:
        return "(N, 1)", "(N,)"
    if len(target) == 2 and target[1] == 1 and len(prediction) == 1:
        return "(N,)", "(N, 1)"
    return None


def is_spread(value: Value) -> bool:
    """An axis was added right here: pairs are meant."""
    value = resolved(value)
    if isinstance(value, Item):
        keys = value.key.items if isinstance(value.key, Collection) else [value.key]
        return any(isinstance(key, Const) and key.value is None for key in keys)
    op = operation(value)
    return op is not None and op.name == "unsqueeze"
