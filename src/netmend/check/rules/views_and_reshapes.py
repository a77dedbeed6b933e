"""Reshaping that mixes up the axes or assumes a batch size."""

from __future__ import annotations

from netmend.check.examples import NET_CLASS, TORCH_F
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Element, Item, Value, constant, resolved
from netmend.program.meaning.layouts import sizes_given
from netmend.program.meaning.modules import BATCH_NORMS
from netmend.program.meaning.operations import ACTIVATIONS, Op, operation
from netmend.program.meaning.paths import UNCHANGED, paths, previous
from netmend.program.meaning.shapes import Shapes, shapes
from netmend.program.meaning.sizes import LITERAL_LAYERS, Shape, whole_number, width
from netmend.program.meaning.uses import operations
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

TRANSPOSE_HEAD = "import torch\nfrom torch import nn\n\n"


class ViewAsTranspose(StaticRule, code="S311", cause="TSR-SHAPE"):
    """`view` or `reshape` is given the tensor's own sizes in another order.

    They do not move axes, they only cut the same row of numbers differently: values of different samples, channels or steps end up
    mixed, and nothing crashes.

    Use `x.permute(...)` or `x.transpose(...)`.
    """

    message = "view and reshape do not swap axes, they scramble the values; use permute or transpose."
    triggers = (".view(", ".reshape(", "torch.reshape(")
    patterns = (
        r"\.(?:view|reshape)\(\s*\w+\.(?:size\(\s*-?[1-9]|shape\[\s*-?[1-9])",
        r"\.(?:view|reshape)\(\s*(?:\w+\s*,\s*\()?[a-z]\w*\s*,\s*[a-z]\w*\s*(?:,\s*[a-z]\w*\s*)?\)",
    )

    GOOD = (
        Snippet("permuted", TRANSPOSE_HEAD + "def swap(x):\n    n, steps, leads = x.shape\n    return x.permute(0, 2, 1)\n"),
        Snippet("sizes of another tensor", TRANSPOSE_HEAD + "def like(x, y):\n    n, t, f = y.shape\n    return x.view(n, f, t)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("sizes unpacked", TRANSPOSE_HEAD + "def swap(x):\n    n, steps, leads = x.shape\n    return x.view(n, leads, steps)\n", line=6),
        Snippet("sizes asked one by one", TRANSPOSE_HEAD + "class Net(nn.Module):\n    def forward(self, x):\n        return x.reshape(x.size(1), x.size(0), -1)\n", line=6,
                fixed=None),
        Snippet("pictures with channels last", TRANSPOSE_HEAD + "x = torch.rand(64, 32, 32, 3)\ny = x.reshape(64, 3, 32, 32)\n", line=5),
        Snippet("matrix", TRANSPOSE_HEAD + "def swap(x):\n    rows, columns = x.size()\n    return torch.reshape(x, (columns, rows))\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        known = shapes(program)
        for op, event in operations(program, "view", "reshape"):
            if op.value.result is not None or op.input is None:
                continue
            wanted = sizes_given(op.value)
            if wanted is None or len(wanted) < 2:
                continue
            order = [_axis(value, resolved(op.input)) for value in wanted]
            if not _is_swapped(order, wanted) and not _is_swapped_shape(known.of(op.input), wanted):
                continue
            if not _is_cut_again(program, op):
                yield self.finding(program, op.value.node or event.node, fix=_fix(program, op, order))


def _is_cut_again(program: Program, op: Op) -> bool:
    """Sliced and cut back afterwards: the shift of relative positions is written so, on purpose."""
    for user in paths(program).users.get(id(op.value), []):
        after = operation(user) if isinstance(user, Value) else None
        if isinstance(user, Item) or (
            after is not None and after.name in ("view", "reshape", "narrow", "view_as")
        ):
            return True
    return False


def _axis(value: Value, tensor: Value) -> int | None:
    """Which of the tensor's own sizes it is."""
    value = resolved(value)
    if isinstance(value, Call) and value.method == "size" and value.receiver is not None:
        return whole_number(value.argument("dim", 0)) if resolved(value.receiver) is tensor else None
    if isinstance(value, Item):
        base = resolved(value.base)
        is_shape = isinstance(base, Attribute) and base.name == "shape" and resolved(base.base) is tensor
        is_size = isinstance(base, Call) and base.method == "size" and not base.args and _is_of(base, tensor)
        return whole_number(value.key) if is_shape or is_size else None
    return None


def _is_of(call: Call, tensor: Value) -> bool:
    return call.receiver is not None and resolved(call.receiver) is tensor


def _is_swapped(order: list[int | None], wanted: tuple[Value, ...]) -> bool:
    """All sizes are the tensor's own (a last -1 aside), each once, from the first on, not in their order."""
    known = [place for place in order if place is not None]
    rest = len(order) - len(known)
    if rest > 1 or (
        rest == 1 and (whole_number(wanted[-1]) != -1 or order[-1] is not None or len(known) < 2)
    ):
        return False
    return sorted(known) == list(range(len(known))) and known != sorted(known)


def _is_swapped_shape(given: Shape | None, wanted: tuple[Value, ...]) -> bool:
    """Constant sizes: pictures with channels last become channels first, or the other way round."""
    if given is None or given.rank != 4 or len(wanted) != 4:
        return False
    old, new = given.dims[1:], tuple(whole_number(value) for value in wanted[1:])
    if None in old or None in new or 1 in old:
        return False
    return new != old and (new == (old[2], old[0], old[1]) or new == (old[1], old[2], old[0]))


def _fix(program: Program, op: Op, order: list[int | None]) -> Fix | None:
    places = [place for place in order if place is not None]
    node, source = op.value.node, op.value.receiver.node if op.value.receiver is not None else None
    if len(places) != len(order) or node is None or source is None or op.value.method == "":
        return None
    function = node.func
    text = f"{program.source(getattr(function, 'value', source))}.permute({', '.join(str(place) for place in places)})"
    return Fix("Use permute", replace(program, node, text), "unsafe")


NET = f"""{TORCH_F}{NET_CLASS}\
        self.conv = nn.Conv2d(1, 8, 3)
        self.bn = nn.BatchNorm2d(8)
        self.fc = nn.Linear(8 * 13 * 13, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn(self.conv(x))), 2)
"""
_SAME = UNCHANGED | ACTIVATIONS
_MAPS = (
    _SAME
    | BATCH_NORMS
    | {"max_pool2d", "avg_pool2d", "maxpool2d", "avgpool2d", "adaptiveavgpool2d", "adaptive_avg_pool2d"}
)


class BatchFlattenedAway(StaticRule, code="S329", cause="TSR-SHAPE"):
    """The whole batch is flattened into one row before a linear layer.

    `x.view(-1)`, `x.reshape(-1)` and `x.flatten()` join all axes, the batch too: with more than one sample the linear layer stops with
    a shape error.

    Keep the first axis: `torch.flatten(x, 1)`, `x.view(x.size(0), -1)`.
    """

    message = "This flattens the batch too; keep the first axis: torch.flatten(x, 1)."
    triggers = ("view(-1)", "reshape(-1)", "flatten(")
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("first axis kept", NET + "        return self.fc(torch.flatten(x, 1))\n"),
        Snippet("shaped again", NET + "        return self.fc(x.view(-1).view(4, -1))\n"),
        Snippet("one sample", "import torch\nfrom torch import nn\n\nout = nn.Linear(8, 2)(nn.Conv2d(1, 2, 1)(torch.randn(1, 1, 2, 2)).flatten())\n"),
        Snippet("origin not known", "from torch import nn\n\ndef head(x):\n    return nn.Linear(8, 2)(x.flatten())\n"),
    )  # fmt: skip
    BAD = (
        Snippet("viewed as one row", NET + "        x = x.view(-1)\n        return self.fc(x)\n", line=14),
        Snippet("flattened from the first axis", NET + "        return self.fc(F.relu(torch.flatten(x)))\n", line=14),
        Snippet("known size", "import torch\nfrom torch import nn\n\nx = torch.randn(16, 4, 2)\nout = nn.Linear(8, 2)(x.reshape(-1))\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        known = shapes(program)
        for op in paths(program).ops:
            if op.name != "linear" or op.layer is None:
                continue
            flat = previous(op, _SAME)
            if flat is not None and _joins_all(flat) and _has_batch(flat, op, known):
                yield self.finding(program, flat.node)


def _joins_all(op: Op) -> bool:
    if op.layer is not None:
        return False
    if op.name in ("view", "reshape"):
        wanted = sizes_given(op.value)
        return wanted is not None and len(wanted) == 1 and whole_number(wanted[0]) == -1
    if op.name != "flatten":
        return False
    start, end = op.option("start_dim", 0), op.option("end_dim", 1)
    return (start is None or constant(start) == 0) and (end is None or constant(end) == -1)


def _has_batch(flat: Op, linear: Op, known: Shapes) -> bool:
    """Constants prove more than one sample, or batch norm or a convolution over pictures says there is a batch."""
    given = known.of(flat.input)
    wanted = width(linear, "in_features", 0)
    if given is not None and given.whole and given.dims and given.dims[0] is not None:
        return given.dims[0] > 1 and wanted is not None and given.sample == wanted
    source = previous(flat, _MAPS)
    if source is None or source.name not in ("conv2d", "conv3d"):
        return False
    return (
        source.layer is not None and given is not None and given.rank == (4 if source.name == "conv2d" else 5)
    )


FIXED_HEAD = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader\n\n"
_KEEP_BATCH = UNCHANGED | ACTIVATIONS | frozenset(
    ("linear", "conv1d", "conv2d", "conv3d", "maxpool1d", "maxpool2d", "avgpool2d", "max_pool2d", "batchnorm1d", "batchnorm2d", "embedding")
)  # fmt: skip


class BatchSizeHardCoded(StaticRule, code="S332", cause="HYP-BATCH-IMPL", advisory=True):
    """`view` or `reshape` names a batch size that the loader does not give.

    The batch is cut into another number of rows: values of different samples are mixed, or the call stops. Even the right number stops
    at the last, smaller batch.

    Take the size from the data: `x.view(x.size(0), -1)`.
    """

    message = "The batch has {size} samples, not {written}; take the size from the data: x.size(0)."
    triggers = ("DataLoader(", ".backward(")

    GOOD = (
        Snippet("from the data", FIXED_HEAD + "for x, y in DataLoader(data, batch_size=32):\n    x = x.view(x.size(0), -1)\n"),
        Snippet("left to be counted", FIXED_HEAD + "for x, y in DataLoader(data, batch_size=32):\n    x = x.view(-1, 784)\n"),
        Snippet("same size, nothing left over", FIXED_HEAD + "for x, y in DataLoader(data, batch_size=32, drop_last=True):\n    x = x.view(32, -1)\n"),
        Snippet("size not known", FIXED_HEAD + "for x, y in DataLoader(data, batch_size=size):\n    x = x.view(64, -1)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("another size", FIXED_HEAD + "for x, y in DataLoader(data, batch_size=32):\n    x = x.view(64, -1)\n", line=6),
        Snippet("in the model", FIXED_HEAD + "conv = nn.Conv2d(1, 4, 3)\nloader = DataLoader(data, 16)\n\ndef run(x):\n    x = torch.relu(conv(x))\n    return x.reshape(8, -1)\n\n"
                "for x, y in loader:\n    out = run(x)\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls:
            call = event.call
            op = operation(call) if call.result is None else None
            if op is None or op.name not in ("view", "reshape") or op.input is None:
                continue
            wanted = sizes_given(op.value)
            if wanted is None or len(wanted) < 2:
                continue
            written, size = whole_number(wanted[0]), _batch_of(op.input)
            if written is not None and written > 1 and size is not None and written != size:
                yield self.finding(program, op.node, self.message.format(size=size, written=written))


def _batch_of(value: Value) -> int | None:
    """The batch size of the loader that a tensor stems from, the first axis untouched."""
    for _ in range(40):
        value = resolved(value)
        op = operation(value)
        if op is not None and op.name in _KEEP_BATCH and op.input is not None:
            value = op.input
            continue
        if isinstance(value, Item) and isinstance(resolved(value.base), Element):
            source = resolved(value.base)
            loader = resolved(source.iterable) if isinstance(source, Element) else None
            if (
                isinstance(loader, Call)
                and loader.qualified == "torch.utils.data.DataLoader"
                and not loader.open
            ):
                size = loader.argument("batch_size", 1)
                found = constant(size) if size is not None else 1
                return found if isinstance(found, int) and not isinstance(found, bool) else None
        return None
    return None
