from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Operation, Value, resolved
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Finding, Fix


@register
class StateDictIsAPath(StaticRule):
    """`load_state_dict` is given the name of a file.

    It expects the weights themselves and stops with a TypeError.

    Load the file first: `model.load_state_dict(torch.load(path))`.
    """

    code = "S712"
    cause = "API-USAGE"
    message = (
        "load_state_dict() wants weights, not the name of a file; write load_state_dict(torch.load(path))."
    )
    triggers = ("load_state_dict(",)

    GOOD = (
        Snippet("loaded", "import torch\n\nmodel.load_state_dict(torch.load('net.pt'))\n"),
        Snippet(
            "an item by its name",
            "import torch\n\nstate = torch.load('net.pt')\nmodel.load_state_dict(state['net'])\n",
        ),
        Snippet(
            "of unknown kind", "import torch\n\ndef resume(model, path):\n    model.load_state_dict(path)\n"
        ),
    )
    BAD = (
        Snippet("a literal", "import torch\n\nmodel.load_state_dict('net.pt')\n", line=3, fixed="import torch\n\nmodel.load_state_dict(torch.load('net.pt'))\n"),
        Snippet("a path that was put together", "import os\nimport torch\n\npath = os.path.join(folder, 'net.pt')\nmodel.load_state_dict(path)\n", line=5),
        Snippet("a formatted string", "import torch\n\ndef resume(net, epoch):\n    net.load_state_dict(f'net-{epoch}.pt')\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.methods_of("load_state_dict"):
            call = event.call
            if call is not None and call.args and call.node is not None and _is_text(call.args[0]):
                edits = wrap(program, call.node.args[0], "torch.load(", ")")
                yield self.finding(program, event.node, fix=Fix("Load the file", edits) if edits else None)


def _is_text(value: Value) -> bool:
    value = resolved(value)
    if isinstance(value, Const):
        return isinstance(value.value, str)
    if isinstance(value, Operation):
        return value.operator == "format" or (
            value.operator == "+" and any(_is_text(part) for part in value.operands)
        )
    return isinstance(value, Call) and value.qualified in ("os.path.join", "pathlib.Path", "str")
