from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Element, Item, Value, constant, resolved
from netmend.program.meaning.layouts import sizes_given
from netmend.program.meaning.operations import ACTIVATIONS, operation
from netmend.program.meaning.paths import UNCHANGED
from netmend.program.meaning.sizes import whole_number
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader\n\n"
_KEEP_BATCH = UNCHANGED | ACTIVATIONS | frozenset(
    ("linear", "conv1d", "conv2d", "conv3d", "maxpool1d", "maxpool2d", "avgpool2d", "max_pool2d", "batchnorm1d", "batchnorm2d", "embedding")
)  # fmt: skip


@register
class BatchSizeHardCoded(StaticRule):
    """`view` or `reshape` names a batch size that the loader does not give.

    The batch is cut into another number of rows: values of different samples are mixed, or the call stops. Even the right number stops
    at the last, smaller batch.

    Take the size from the data: `x.view(x.size(0), -1)`.
    """

    code = "S332"
    cause = "HYP-BATCH-IMPL"
    message = "The batch has {size} samples, not {written}; take the size from the data: x.size(0)."
    advisory = True
    triggers = ("DataLoader(", ".backward(")

    GOOD = (
        Snippet("from the data", HEAD + "for x, y in DataLoader(data, batch_size=32):\n    x = x.view(x.size(0), -1)\n"),
        Snippet("left to be counted", HEAD + "for x, y in DataLoader(data, batch_size=32):\n    x = x.view(-1, 784)\n"),
        Snippet("same size, nothing left over", HEAD + "for x, y in DataLoader(data, batch_size=32, drop_last=True):\n    x = x.view(32, -1)\n"),
        Snippet("size not known", HEAD + "for x, y in DataLoader(data, batch_size=size):\n    x = x.view(64, -1)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("another size", HEAD + "for x, y in DataLoader(data, batch_size=32):\n    x = x.view(64, -1)\n", line=6),
        Snippet("in the model", HEAD + "conv = nn.Conv2d(1, 4, 3)\nloader = DataLoader(data, 16)\n\ndef run(x):\n    x = torch.relu(conv(x))\n    return x.reshape(8, -1)\n\n"
                "for x, y in loader:\n    out = run(x)\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls:
            call = event.call
            op = operation(call) if call is not None and call.result is None else None
            if call is None or op is None or op.name not in ("view", "reshape") or op.input is None:
                continue
            wanted = sizes_given(op)
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
