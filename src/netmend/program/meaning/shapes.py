"""Follow shapes through a program, from layer to layer, as far as constants prove them."""

from __future__ import annotations

from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.layouts import indexed, joined, laid_out, reduced
from netmend.program.meaning.modules import DROPOUTS, NORMS, RECURRENT
from netmend.program.meaning.operations import ACTIVATIONS, Op, operation
from netmend.program.meaning.remember import once
from netmend.program.meaning.samples import made_shape, sample_of
from netmend.program.meaning.sizes import (
    Shape,
    axes_of,
    convolved,
    merged,
    numbers,
    recurrent_width,
    setting,
    transposed,
    width,
)

_KEEPS = (ACTIVATIONS - {"glu"}) | DROPOUTS | NORMS | frozenset(
    ("identity", "contiguous", "clone", "detach", "float", "double", "half", "to", "cuda", "cpu", "type", "type_as", "abs", "exp",
     "log", "sqrt", "clamp", "neg", "sign", "sin", "cos", "square", "transformerencoder", "transformerencoderlayer",
     "localresponsenorm", "normalize", "relu_", "requires_grad_", "astype", "from_numpy", "tensor", "as_tensor", "long",
     "add_", "mul_", "div_", "sub_", "pow", "nan_to_num", "bfloat16", "numpy", "layer_norm", "batch_norm", "group_norm",
     "instance_norm", "feature_dropout", "pin_memory", "dequantize")
)  # fmt: skip
_MOST_DEPTH = 60


class Shapes:
    """Shapes of values, worked out once each."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Value, Shape | None]] = {}
        self._depth = 0

    def forget(self, value: Value) -> None:
        value = resolved(value)
        self._known[id(value)] = (value, None)

    def of(self, value: Value | None) -> Shape | None:
        """The shape of a tensor; None when nothing is known of it."""
        if value is None:
            return None
        value = resolved(value)
        known = self._known.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        if self._depth > _MOST_DEPTH:
            return None
        self._known[id(value)] = (value, None)
        self._depth += 1
        try:
            shape = self._found(value)
        finally:
            self._depth -= 1
        self._known[id(value)] = (value, shape)
        return shape

    def _found(self, value: Value) -> Shape | None:
        if isinstance(value, Call):
            op = operation(value)
            made = made_shape(value)
            if made is not None or op is None:
                return made
            return self._computed(op)
        if isinstance(value, Item):
            return self._item(value)
        if isinstance(value, Operation):
            return self._arithmetic(value)
        if isinstance(value, Either):
            shapes = [self.of(option) for option in value.options]
            return shapes[0] if shapes and all(shape == shapes[0] for shape in shapes) else None
        if isinstance(value, Attribute) and value.name == "data":
            return self.of(value.base)
        return None

    def _arithmetic(self, value: Operation) -> Shape | None:
        if len(value.operands) != 2 or value.operator not in ("+", "-", "*", "/", "**", "//", "%"):
            return None
        left, right = (resolved(operand) for operand in value.operands)
        if isinstance(left, Const) or isinstance(right, Const):
            return merged(self.of(left), self.of(right), scalar=True)
        one, other = self.of(left), self.of(right)
        return merged(one, other) if one is not None and other is not None else None

    def _item(self, value: Item) -> Shape | None:
        base = resolved(value.base)
        if isinstance(base, Element):
            sample = sample_of(base.iterable)
            place = constant(value.key)
            if sample is None or not isinstance(place, int) or not 0 <= place < len(sample):
                return None
            found = sample[place]
            if isinstance(found, Shape):
                return found
            rows = self.of(found)
            return Shape((None, *rows.dims[1:])) if rows is not None and rows.whole and rows.dims else None
        op = operation(base)
        if op is not None and op.layer is not None and isinstance(value.key, Const):
            if op.name in RECURRENT and value.key.value == 0:
                given = self.of(op.input)
                rank = given.rank if given is not None and given.rank in (2, 3) else 3
                return Shape((*([None] * ((rank or 3) - 1)), recurrent_width(op.layer)))
            if op.name == "gru" and value.key.value == 1:
                return Shape((None, None, width(op, "hidden_size", 1)))
            if op.name == "multiheadattention" and value.key.value == 0:
                return Shape((width(op, "embed_dim", 0),), False)
        inner = operation(resolved(base.base)) if isinstance(base, Item) else None
        if inner is not None and inner.name == "lstm" and isinstance(base, Item) and constant(base.key) == 1:
            is_plain = inner.layer is not None and "proj_size" not in inner.layer.keywords
            is_state = constant(value.key) == 0 and is_plain
            return Shape((None, None, width(inner, "hidden_size", 1))) if is_state else None
        if op is not None and op.name in ("max", "min", "sort", "topk", "median", "split", "chunk", "unbind"):
            if op.name in ("max", "min", "median") and constant(value.key) == 0 and len(op.value.args) >= 1:
                return reduced(op, self.of(op.input))
            return None
        if op is not None and op.name in RECURRENT | {"multiheadattention"}:
            return None
        return indexed(self.of(base), value.key)

    def _computed(self, op: Op) -> Shape | None:
        name = op.name.replace("_", "") if op.name not in _KEEPS else op.name
        if name in _KEEPS:
            return self.of(op.input)
        axes = axes_of(name)
        if name == "linear" and op.layer is not None:
            given = self.of(op.input)
            size = width(op, "out_features", 1)
            return given.with_last(size) if given is not None and given.dims else Shape((size,), False)
        if name in ("embedding",) and op.layer is not None:
            given = self.of(op.input)
            size = width(op, "embedding_dim", 1)
            return Shape((*given.dims, size)) if given is not None and given.whole else Shape((size,), False)
        if axes is not None and name.startswith(("conv", "maxpool", "avgpool", "adaptive")):
            return self._spatial(op, name, axes)
        if name in ("cat", "concat", "concatenate") and op.inputs:
            return self._joined(op)
        if name in ("mean", "sum", "amax", "amin", "max", "min", "argmax", "norm", "logsumexp", "squeeze"):
            return reduced(op, self.of(op.input))
        return laid_out(op, self.of(op.input), self)

    def _joined(self, op: Op) -> Shape | None:
        listed = resolved(op.inputs[0])
        if not isinstance(listed, Collection) or listed.open:
            return None
        return joined(op, [self.of(item) for item in listed.items])

    def _spatial(self, op: Op, name: str, axes: int) -> Shape | None:
        given = self.of(op.input)
        if given is not None and given.rank is not None and given.rank not in (axes + 1, axes + 2):
            return None
        lead: tuple[int | None, ...] = (None,)
        if given is not None and given.rank == axes + 1:
            lead = ()
        elif given is not None and given.rank == axes + 2:
            lead = given.dims[:1]
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


@once
def shapes(program: Program) -> Shapes:
    """The shapes of a program's values; of those that are changed in place nothing is known."""
    found = Shapes()
    for event in program.methods_of("unsqueeze_", "squeeze_", "t_", "transpose_", "resize_", "swapaxes_"):
        if event.call.receiver is not None:
            found.forget(event.call.receiver)
    return found
