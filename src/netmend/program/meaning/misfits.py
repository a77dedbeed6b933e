"""Layers that do not fit what reaches them, as far as constants prove it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.program import Program, once
from netmend.program.engine.values import resolved
from netmend.program.meaning.layouts import sizes_given
from netmend.program.meaning.modules import BATCH_NORMS, DROPOUTS, RECURRENT
from netmend.program.meaning.operations import ACTIVATIONS, Op, operation
from netmend.program.meaning.paths import UNCHANGED, paths, previous
from netmend.program.meaning.shapes import Shapes, shapes
from netmend.program.meaning.sizes import Shape, axes_of, convolved, numbers, whole_number, width

WIDTH, FLATTEN, NORM, KERNEL = "width", "flatten", "norm", "kernel"
# What leaves the number of axes alone between a convolution and a linear layer.
_MAPS = UNCHANGED | ACTIVATIONS | BATCH_NORMS | {"maxpool2d", "avgpool2d", "max_pool2d", "avg_pool2d", "maxpool3d", "avgpool3d",
                                                 "groupnorm", "instancenorm2d", "adaptiveavgpool2d", "adaptivemaxpool2d",
                                                 "adaptive_avg_pool2d", "adaptive_max_pool2d"}  # fmt: skip
_SAME_AXES = UNCHANGED | ACTIVATIONS


@dataclass(frozen=True)
class Misfit:
    kind: str
    op: Op
    message: str
    cause: str = ""


@once
def misfits(program: Program) -> tuple[Misfit, ...]:
    """Every layer that constants prove not to fit its input."""
    known = shapes(program)
    found: list[Misfit] = []
    for op in paths(program).ops:
        found.extend(_examined(op, known))
    return tuple(found)


def _examined(op: Op, known: Shapes) -> Iterator[Misfit]:
    name = op.name
    if name in ("view", "reshape"):
        yield from _view(op, known)
        return
    if op.layer is None or op.input is None:
        if name in ("max_pool2d", "avg_pool2d", "max_pool1d", "avg_pool1d"):
            yield from _kernel(op, known.of(op.input), name.replace("_", ""))
        return
    given = known.of(op.input)
    if name == "linear":
        yield from _linear(op, given)
    elif name.startswith("conv"):
        yield from _convolution(op, given)
    elif name.startswith(("maxpool", "avgpool")):
        yield from _kernel(op, given, name)
    elif name in BATCH_NORMS:
        yield from _norm(op, given)
    elif name == "dropout2d":
        before = previous(op, _SAME_AXES)
        if before is not None and before.name == "linear" and (given is None or given.rank in (None, 3)):
            # of rows of features, (N, C), it drops single values as Dropout does
            yield Misfit(
                NORM, op, "Dropout2d after a Linear layer drops along the wrong axis; use nn.Dropout."
            )
    elif given is not None and given.last is not None:
        yield from _last_axis(op, given)


def _last_axis(op: Op, given: Shape) -> Iterator[Misfit]:
    wanted = None
    if op.name in RECURRENT:
        wanted = width(op, "input_size", 0)
    elif op.name == "layernorm":
        wanted = numbers(op.layer.argument("normalized_shape", 0), 1)[0] if op.layer is not None else None
    elif op.name == "multiheadattention":
        wanted = width(op, "embed_dim", 0)
    if wanted is not None and wanted != given.last:
        title = {"layernorm": "LayerNorm", "multiheadattention": "MultiheadAttention"}.get(
            op.name, op.name.upper()
        )
        yield Misfit(
            WIDTH, op, f"{title} expects {wanted} features, but {given.last} reach it.", "LYR-DIM-MISMATCH"
        )


def _linear(op: Op, given: Shape | None) -> Iterator[Misfit]:
    wanted = width(op, "in_features", 0)
    if wanted is None or given is None:
        return
    source = previous(op, _MAPS)
    is_map = source is not None and source.name in ("conv2d", "conv3d") and (given.rank or 0) >= 4
    if is_map and given.last != wanted:
        channels = given.dims[1]
        if given.last is not None or (channels and wanted % channels == 0):
            yield Misfit(
                FLATTEN, op,
                "The feature map of a convolution reaches this Linear layer with all its axes; "
                "flatten it first: torch.flatten(x, 1).", "LYR-FLATTEN-MISSING",
            )  # fmt: skip
        return
    if given.last is None or given.last == wanted:
        return
    before = previous(op, _SAME_AXES)
    is_flat = before is not None and before.name in ("flatten", "view", "reshape")
    yield Misfit(
        WIDTH, op,
        f"Linear expects {wanted} features, but {given.last} reach it; write nn.Linear({given.last}, …)"
        f"{'' if is_flat else ' or change the layer before'}.",
        "LYR-IN-SAMPLE" if is_flat else "LYR-DIM-MISMATCH",
    )  # fmt: skip


def _convolution(op: Op, given: Shape | None) -> Iterator[Misfit]:
    axes = axes_of(op.name)
    if given is None or axes is None:
        return
    title = f"{'ConvTranspose' if 'transpose' in op.name else 'Conv'}{axes}d"
    if given.rank is not None and given.rank not in (axes + 1, axes + 2):
        yield Misfit(
            WIDTH, op,
            f"{title} needs input with {axes + 2} axes, but the shape here is {given.words()}.", "INP-LAYER-SHAPE",
        )  # fmt: skip
        return
    wanted, channels = width(op, "in_channels", 0), given.at(axes + 1)
    if wanted is not None and channels is not None and wanted != channels:
        before = operation(resolved(op.input))
        yield Misfit(
            WIDTH, op,
            f"{title} expects {wanted} channels, but {channels} reach it.",
            "LYR-DIM-MISMATCH" if before is not None and before.layer is not None else "LYR-IN-SHAPE",
        )  # fmt: skip
        return
    if "transpose" not in op.name:
        yield from _kernel(op, given, op.name)


def _kernel(op: Op, given: Shape | None, name: str) -> Iterator[Misfit]:
    axes = axes_of(name)
    if given is None or axes is None or given.rank not in (axes + 1, axes + 2):
        return
    for axis in range(axes):
        size = given.at(axes - axis)
        left = convolved(size, op, axis, axes)
        if left is not None and left < 1:
            kind = "pooling window" if "pool" in name else "kernel"
            yield Misfit(
                KERNEL, op, f"The {kind} is larger than its input, of which only {size} are left here."
            )
            return


def _norm(op: Op, given: Shape | None) -> Iterator[Misfit]:
    axes = axes_of(op.name)
    if axes is None:
        return
    source = previous(op, _SAME_AXES | DROPOUTS | {"maxpool1d", "maxpool2d", "maxpool3d", "avgpool2d"})
    is_layer = source is not None and source.layer is not None
    expected = (
        axes_of(source.name) if source is not None and is_layer and source.name.startswith("conv") else None
    )
    if expected is not None and expected != axes:
        if given is None or given.rank == expected + 2:
            message = f"BatchNorm{axes}d after a {expected}-d convolution: use nn.BatchNorm{expected}d."
            yield Misfit(NORM, op, message)
        return
    is_linear = source is not None and is_layer and source.name == "linear"
    if is_linear and axes > 1 and (given is None or given.rank in (None, 2)):
        yield Misfit(NORM, op, f"BatchNorm{axes}d after a Linear layer: use nn.BatchNorm1d.")
        return
    wanted, features = width(op, "num_features", 0), None
    if given is not None and given.rank is not None:
        if given.rank not in ((2, 3) if axes == 1 else (axes + 2,)):
            yield Misfit(NORM, op, f"BatchNorm{axes}d does not take input of shape {given.words()}.")
            return
        features = given.dims[1]
    elif is_linear and given is not None:
        features = given.last
    if wanted is not None and features is not None and wanted != features:
        message = f"BatchNorm{axes}d expects {wanted} features, but {features} reach it."
        yield Misfit(WIDTH, op, message, "LYR-DIM-MISMATCH")


def _view(op: Op, known: Shapes) -> Iterator[Misfit]:
    """`x.view(-1, n)` of a feature map whose samples do not have n values."""
    given = known.of(op.input)
    wanted = sizes_given(op.value)
    if given is None or given.rank != 4 or given.sample is None or wanted is None or len(wanted) != 2:
        return
    size = whole_number(wanted[1])
    if whole_number(wanted[0]) == -1 and size is not None and size > 0 and given.sample % size:
        yield Misfit(
            WIDTH, op,
            f"A sample has {given.words().split(' × ', 1)[1]} = {given.sample} values here, not {size}.", "LYR-IN-SAMPLE",
        )  # fmt: skip
