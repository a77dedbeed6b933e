from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Name, Value
from netmend.program.meaning.models import bare
from netmend.program.meaning.optimisers import made_optimisers
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\n\nmodel = nn.Linear(4, 2)\n"
OPTIMISER = "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n"


@register
class OptimiserBeforeDevice(StaticRule):
    """The optimiser is built before the model is moved to its device.

    Current torch moves parameters in place, so this works for `.to(device)` and `.cuda()`. It does not for wrappers that make new
    parameters (FSDP, some accelerator back ends), and an optimiser whose state exists already keeps it on the old device.

    Move the model first, then build the optimiser.
    """

    code = "S402"
    cause = "OPT-PARAMS"
    message = (
        "The model is moved after its optimiser was created; move it first, as torch's documentation asks."
    )
    advisory = True
    triggers = (".to(", ".cuda(", ".xpu(")

    GOOD = (
        Snippet("moved first", HEAD + 'model = model.to("cuda")\n' + OPTIMISER),
        Snippet("moved to save it, at the end", HEAD + OPTIMISER + "model.cpu()\n"),
        Snippet("only the type changes", HEAD + OPTIMISER + "model.to(torch.float64)\n"),
        Snippet(
            "another model is moved",
            HEAD + "teacher = nn.Linear(4, 2)\n" + OPTIMISER + 'teacher.to("cuda")\n',
        ),
    )
    BAD = (
        Snippet("moved after", HEAD + OPTIMISER + 'model.to("cuda")\n', line=6),
        Snippet("in a function", "import torch\ndef prepare(model, device):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
                "    model = model.to(device)\n    return model, optimizer\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        optimisers = made_optimisers(program)
        for event in program.methods_of("to", "cuda", "xpu"):
            call = event.call
            if call is None or (call.method == "to" and not _is_device(call)):
                continue
            model = bare(call.receiver)
            entry = program.entry_of(event)
            if any(
                made.event.order < event.order
                and any(owner is model for owner in made.models)
                and program.entry_of(made.event) is entry
                and not made.event.loops()
                for made in optimisers
            ):
                yield self.finding(program, event.node)


def _is_device(call: Call) -> bool:
    given: Value | None = call.argument("device", 0)
    if isinstance(given, Name):
        return not given.qualified.startswith("torch.")
    return given is not None and not (isinstance(given, Const) and not isinstance(given.value, str))
