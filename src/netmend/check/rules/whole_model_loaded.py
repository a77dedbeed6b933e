from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.library.versions import reached
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, resolved
from netmend.program.meaning.removed_symbols import is_chosen_by_version
from netmend.program.meaning.roles import MODEL, role, same
from netmend.vocabulary.finding import Finding, Related

HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Sequential(nn.Linear(4, 2))\n"


@register
class WholeModelLoaded(StaticRule):
    """A whole model is loaded by `torch.load` without `weights_only=False`.

    Since torch 2.6 `torch.load` reads weights only and refuses a pickled model: the program stops when it wants to use what it trained.

    Save `model.state_dict()` and load it into a new model. For a file that is known to be harmless, `weights_only=False` also works.
    """

    code = "S727"
    cause = "API-USAGE"
    message = "Since torch 2.6, torch.load rejects whole models; save and load model.state_dict(), or pass weights_only=False for a file you trust."
    triggers = (".load(",)
    needs = "torch"
    patterns = (r"\bload\(",)

    GOOD = (
        Snippet("weights", HEAD + "torch.save(net.state_dict(), 'net.pt')\nnet.load_state_dict(torch.load('net.pt'))\nnet.eval()\n"),
        Snippet("allowed", HEAD + "torch.save(net, 'net.pt')\nagain = torch.load('net.pt', weights_only=False)\nagain.eval()\n"),
        Snippet("another file", HEAD + "torch.save(net, 'net.pt')\nstate = torch.load('old.pt')\n"),
        Snippet("classes are named", HEAD + "torch.serialization.add_safe_globals([nn.Sequential, nn.Linear])\ntorch.save(net, 'net.pt')\nagain = torch.load('net.pt')\n"),
        Snippet("a part of a checkpoint", HEAD + "checkpoint = torch.load(path)\nnet.load_state_dict(checkpoint['model'])\nepoch = checkpoint['epoch']\n"),
        Snippet("tried first", "import torch\n\ntry:\n    net = torch.load(path)\n    net.eval()\nexcept Exception:\n    net = None\n"),
    )  # fmt: skip
    BAD = (
        Snippet("saved and loaded", HEAD + "torch.save(net, 'net.pt')\nagain = torch.load('net.pt')\nprint(again(x))\n", line=6),
        Snippet("used as a model", "import torch as t\n\ndef predict(path, x):\n    model = t.load(path, map_location='cpu')\n    model.eval()\n    with t.no_grad():\n        return model(x)\n", line=4),
        Snippet("path in a variable", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(4, 2)\n\n"
                "def main(path='best.pth'):\n    net = Net()\n    torch.save(net, path)\n    best = torch.load(path)\n    return best\n", line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        if not reached("torch", "2.6") or "safe_globals" in program.text:
            return
        loads = [(event, event.call) for event in program.calls_of("torch.load") if _is_plain(event.call)]
        if not loads:
            return
        saved = [event for event in program.calls_of("torch.save") if _is_model(event.call)]
        used = {id(resolved(event.call.receiver)) for event in program.methods_of("eval", "parameters", "named_parameters")
                if event.call is not None and event.call.receiver is not None and not event.call.args}  # fmt: skip
        for event, call in loads:
            if call is None or is_chosen_by_version(program, event.node):
                continue
            path = call.argument("f", 0)
            writer = next((save for save in saved if save.call is not None and _is_same_file(save.call.argument("f", 1), path)), None)  # fmt: skip
            if writer is not None:
                place = program.place(writer.node)
                related = (Related("The whole model is saved here.", place.file, place.line, place.column),)
                yield self.finding(program, event.node, related=related)
            elif id(call) in used:
                yield self.finding(program, event.node)


def _is_plain(call: Call | None) -> bool:
    return call is not None and not call.open and not {"weights_only", "pickle_module"} & call.keywords.keys()


def _is_model(call: Call | None) -> bool:
    given = call.argument("obj", 0) if call is not None else None
    return given is not None and role(given) == MODEL


def _is_same_file(one: Value | None, other: Value | None) -> bool:
    if one is None or other is None:
        return False
    written = [
        ast.dump(value.node) for value in (one, other) if isinstance(value.node, ast.Constant | ast.JoinedStr)
    ]
    return same(one, other) or (len(written) == 2 and written[0] == written[1])
