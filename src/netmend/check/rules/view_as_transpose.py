from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Item, Value, resolved
from netmend.program.meaning.layouts import sizes_given
from netmend.program.meaning.operations import Op, operation
from netmend.program.meaning.paths import paths
from netmend.program.meaning.shapes import shapes
from netmend.program.meaning.sizes import Shape, whole_number
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom torch import nn\n\n"


@register
class ViewAsTranspose(StaticRule):
    """`view` or `reshape` is given the tensor's own sizes in another order.

    They do not move axes, they only cut the same row of numbers differently: values of different samples, channels or steps end up
    mixed, and nothing crashes.

    Use `x.permute(...)` or `x.transpose(...)`.
    """

    code = "S311"
    cause = "TSR-SHAPE"
    message = "view and reshape do not swap axes, they scramble the values; use permute or transpose."
    triggers = (".view(", ".reshape(", "torch.reshape(")
    patterns = (
        r"\.(?:view|reshape)\(\s*\w+\.(?:size\(\s*-?[1-9]|shape\[\s*-?[1-9])",
        r"\.(?:view|reshape)\(\s*(?:\w+\s*,\s*\()?[a-z]\w*\s*,\s*[a-z]\w*\s*(?:,\s*[a-z]\w*\s*)?\)",
    )

    GOOD = (
        Snippet("permuted", HEAD + "def swap(x):\n    n, steps, leads = x.shape\n    return x.permute(0, 2, 1)\n"),
        Snippet("axes joined", HEAD + "def join(x):\n    n, c, h, w = x.shape\n    return x.view(n, c, h * w)\n"),
        Snippet("permuted before", HEAD + "def swap(x):\n    n, c, h, w = x.shape\n    x = x.permute(0, 2, 3, 1)\n    return x.reshape(n, h, w, c)\n"),
        Snippet("same order", HEAD + "def keep(x):\n    return x.view(x.size(0), x.size(1), x.size(2))\n"),
        Snippet("sizes of another tensor", HEAD + "def like(x, y):\n    n, t, f = y.shape\n    return x.view(n, f, t)\n"),
        Snippet("shift of relative positions", HEAD + "def shift(x):\n    n, h, rows, columns = x.shape\n    y = x.reshape(n, h, columns, rows)[:, :, 1:]\n    return y.reshape(n, h, rows, columns - 1)\n"),
        Snippet("row to column", HEAD + "x = torch.randn(1, 8)\ny = x.view(8, 1)\n"),
        Snippet("split and joined", HEAD + "def heads(x):\n    n, t, f = x.shape\n    return x.view(n, t, 8, f // 8)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("sizes unpacked", HEAD + "def swap(x):\n    n, steps, leads = x.shape\n    return x.view(n, leads, steps)\n", line=6),
        Snippet("sizes asked one by one", HEAD + "class Net(nn.Module):\n    def forward(self, x):\n        return x.reshape(x.size(1), x.size(0), -1)\n", line=6,
                fixed=None),
        Snippet("pictures with channels last", HEAD + "x = torch.rand(64, 32, 32, 3)\ny = x.reshape(64, 3, 32, 32)\n", line=5),
        Snippet("matrix", HEAD + "def swap(x):\n    rows, columns = x.size()\n    return torch.reshape(x, (columns, rows))\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        known = shapes(program)
        for event in program.calls:
            call = event.call
            if call is None or call.result is not None:
                continue
            op = operation(call)
            if op is None or op.name not in ("view", "reshape") or op.input is None:
                continue
            wanted = sizes_given(op)
            if wanted is None or len(wanted) < 2:
                continue
            order = [_axis(value, resolved(op.input)) for value in wanted]
            if not _is_swapped(order, wanted) and not _is_swapped_shape(known.of(op.input), wanted):
                continue
            if not _is_cut_again(program, op):
                yield self.finding(program, call.node or event.node, fix=_fix(program, op, order))


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
    edits = replace(program, node, text)
    return Fix("Use permute", edits, "unsafe") if edits else None
