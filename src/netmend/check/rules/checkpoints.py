"""State dicts: saved, loaded, matched."""

from __future__ import annotations

import ast

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Operation, Value, constant, resolved
from netmend.program.meaning.states import model_of_state, state_names
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Fix

HEAD = f"""{TORCH}
class Pretext(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.predict = nn.Linear(16, 4)

class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.head = nn.Linear(16, 2)

first, second = Pretext(), Classifier()
"""


class CheckpointWithoutMatch(StaticRule, code="S341", cause="TRN-CKPT"):
    """`load_state_dict(…, strict=False)` gets a state in which not one name fits the model.

    Names that do not match are skipped without a word, so nothing is loaded: the model goes on with random weights although it
    seems to be pretrained.

    Give the names the right prefix, or load the part itself: `second.encoder.load_state_dict(first.backbone.state_dict())`.
    """

    message = "Nothing is loaded here: the state holds {0}…, the model expects {1}…; rename the keys, or load the part itself."
    triggers = ("load_state_dict(",)
    needs = "state_dict"
    patterns = (r"load_state_dict\([^\n]*strict",)

    GOOD = (
        Snippet("the part itself", HEAD + "second.encoder.load_state_dict(first.backbone.state_dict(), strict=False)\n"),
        Snippet("renamed", HEAD + "state = {k.replace('backbone', 'encoder'): v for k, v in first.state_dict().items()}\n"
                "second.load_state_dict(state, strict=False)\n"),
        Snippet("a file from elsewhere", HEAD + "second.load_state_dict(torch.load('b.pt'), strict=False)\n"),
        Snippet("unwrapped", HEAD + "wrapped = nn.DataParallel(first)\ntorch.save(wrapped.module.state_dict(), 'a.pt')\n"
                "first.load_state_dict(torch.load('a.pt'), strict=False)\n"),
        Snippet("what is missing is looked at", HEAD + "missing, _ = second.load_state_dict(first.state_dict(), strict=False)\nprint(missing)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("other prefix, through a file", HEAD + "torch.save(first.state_dict(), 'a.pt')\nsecond.load_state_dict(torch.load('a.pt'), strict=False)\n", line=18),
        Snippet("directly", HEAD + "def transfer(a, b):\n    b.load_state_dict(a.state_dict(), strict=False)\n\ntransfer(first, second)\n", line=18),
        Snippet("filtered to nothing", HEAD + "own = second.state_dict()\nown.update({k: v for k, v in first.state_dict().items() if k in own})\nsecond.load_state_dict(own)\n", line=18),
        Snippet("wrapped when saved", HEAD + "wrapped = nn.DataParallel(first)\ntorch.save({'net': wrapped.state_dict()}, 'a.pt')\n"
                "again = Pretext()\nagain.load_state_dict(torch.load('a.pt')['net'], strict=False)\n", line=20),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.methods_of("load_state_dict", "update"):
            call = event.call
            if not call.args or not isinstance(program.parent(event.node), ast.Expr):
                continue
            model = _filled(call)
            source = model_of_state(program, call.args[0], event.order) if model is not None else None
            if source is None:
                continue
            given, wanted = state_names(source), state_names(model)
            if given and wanted and not given & wanted:
                message = self.message.format(min(given), min(wanted))
                yield self.finding(program, event.node, message)


def _filled(call: Call) -> Value | None:
    """The model that gets only the names that fit: by `strict=False`, or by `own.update(fitting)` on its own state."""
    if call.method == "load_state_dict":
        is_lenient = constant(call.argument("strict", 1), True) is False
        return call.receiver if is_lenient else None
    own = resolved(call.receiver)
    is_filter = isinstance(resolved(call.args[0]), Collection)
    if is_filter and isinstance(own, Call) and own.method == "state_dict" and not own.args:
        return own.receiver
    return None


class MissingWeightsUnnoticed(StaticRule, code="S711", cause="TRN-CKPT", advisory=True):
    """`load_state_dict(…, strict=False)` is called and what it returns is not looked at.

    With `strict=False` names that do not match are skipped without a word. A checkpoint with another prefix (`module.`, `model.`)
    then loads nothing at all, and the model starts from random weights.

    Look at the result: `missing, unexpected = model.load_state_dict(state, strict=False)`; stop where something is missing that
    should not be.
    """

    message = "Weights that do not match are skipped silently; check the missing and unexpected keys that this call returns."
    triggers = ("strict=False",)

    GOOD = (
        Snippet("strict", "import torch\n\nmodel.load_state_dict(torch.load('a.pt'))\n"),
        Snippet(
            "looked at",
            "import torch\n\nmissing, unexpected = model.load_state_dict(state, strict=False)\nassert not missing\n",
        ),
        Snippet(
            "another strict",
            "import torch\n\npairs = zip(a, b, strict=False)\nmodel.load_state_dict(state, strict=True)\n",
        ),
    )
    BAD = (
        Snippet("script", "import torch\n\nmodel.load_state_dict(state, strict=False)\n", line=3),
        Snippet("class", "import torch\n\nclass Runner:\n    def load(self, path):\n        self.net.load_state_dict(torch.load(path)['net'], strict=False)\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.methods_of("load_state_dict"):
            call = event.call
            if constant(call.keywords.get("strict"), True) is not False:
                continue
            if isinstance(program.parent(event.node), ast.Expr):
                yield self.finding(program, event.node)


class StateDictIsAPath(StaticRule, code="S712", cause="API-USAGE"):
    """`load_state_dict` is given the name of a file.

    It expects the weights themselves and stops with a TypeError.

    Load the file first: `model.load_state_dict(torch.load(path))`.
    """

    message = (
        "load_state_dict() wants weights, not the name of a file; write load_state_dict(torch.load(path))."
    )
    triggers = ("load_state_dict(",)

    GOOD = (
        Snippet("loaded", "import torch\n\nmodel.load_state_dict(torch.load('net.pt'))\n"),
        Snippet(
            "of unknown kind", "import torch\n\ndef resume(model, path):\n    model.load_state_dict(path)\n"
        ),
    )
    BAD = (
        mended("a literal", "import torch\n\nmodel.load_state_dict(⟨'net.pt' → torch.load('net.pt')⟩)\n"),
        Snippet("a path that was put together", "import os\nimport torch\n\npath = os.path.join(folder, 'net.pt')\nmodel.load_state_dict(path)\n", line=5),
        Snippet("a formatted string", "import torch\n\ndef resume(net, epoch):\n    net.load_state_dict(f'net-{epoch}.pt')\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.methods_of("load_state_dict"):
            call = event.call
            if call.args and call.node is not None and _is_text(call.args[0]):
                edits = wrap(program, call.node.args[0], "torch.load(", ")")
                yield self.finding(program, event.node, fix=Fix("Load the file", edits))


def _is_text(value: Value) -> bool:
    value = resolved(value)
    if isinstance(value, Const):
        return isinstance(value.value, str)
    if isinstance(value, Operation):
        return value.operator == "format" or (
            value.operator == "+" and any(_is_text(part) for part in value.operands)
        )
    return isinstance(value, Call) and value.qualified in ("os.path.join", "pathlib.Path", "str")
