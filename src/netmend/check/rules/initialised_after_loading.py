from __future__ import annotations

import ast

from netmend.check.examples import NET_CLASS, TORCH
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.library.operations import FLOATS, MOVES
from netmend.program.engine.history import EXIT, RETURN, Block, Body, Branch, CallEvent, Event, Guard
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Class, Value, resolved
from netmend.program.meaning.initialisers import Kinds, covers, set_by_function, set_by_loop
from netmend.program.meaning.models import is_part

HEAD = f"""{TORCH}{NET_CLASS}\
        self.backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16))
        self.head = nn.Linear(16, 2)

def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        nn.init.zeros_(m.bias)

"""
START = HEAD + "model = Net()\n"
LOAD = "model.backbone.load_state_dict(torch.load('backbone.pt'))\n"
BY_LOOP = """\
def start(net):
    for m in net.modules():
        if isinstance(m, (nn.Linear, nn.Conv2d)):
            m.weight.data.normal_(0, 0.02)

"""
# What may be done with a model without using what was loaded.
_HARMLESS = frozenset(
    (
        *MOVES,
        *FLOATS,
        "train",
        "eval",
        "requires_grad_",
        "parameters",
        "named_parameters",
        "modules",
        "children",
        "apply",
        "load_state_dict",
    )
)
_PASSIVE = ("print", "len", "isinstance", "hasattr", "getattr", "super", "torch.nn.", "torch.optim.", "torch.load", "torch.compile")  # fmt: skip


class InitialisedAfterLoading(StaticRule, code="S346", cause="ARC-INIT-WEIGHT", in_tests=False):
    """Trained weights are loaded, and then every layer is given new start values.

    `model.apply(init_weights)` reaches all layers inside the model, also those that were just loaded. The trained weights are gone, and
    nothing tells so: training starts from random weights.

    Initialise first and load afterwards, or initialise only what is new: `model.head.apply(init_weights)`.
    """

    message = (
        "This overwrites the weights loaded before; initialise first, or initialise only the new layers."
    )
    triggers = ("load_state_dict(",)
    patterns = (r"load_state_dict\(",)

    GOOD = (
        Snippet("first start values, then load", START + "model.apply(init_weights)\n" + LOAD),
        Snippet("only the new part", START + LOAD + "model.head.apply(init_weights)\n"),
        Snippet("loaded again", START + LOAD + "model.apply(init_weights)\n" + LOAD),
        Snippet("asked for", START + LOAD + "if fresh:\n    model.apply(init_weights)\n"),
        Snippet("left before", HEAD + "def build(path):\n    model = Net()\n    if path:\n        model.load_state_dict(torch.load(path))\n        return model\n"
                "    model.apply(init_weights)\n    return model\n"),
        Snippet("used before it starts anew", START + LOAD + "print(evaluate(model))\nmodel.apply(init_weights)\n"),
        Snippet("no start values", START + "def freeze(m):\n    for p in m.parameters():\n        p.requires_grad = False\n\n" + LOAD + "model.apply(freeze)\n"),
        Snippet("some layers start anew", START.replace("nn.Linear(8, 16)", "nn.Conv1d(1, 8, 3)") + "model.load_state_dict(torch.load('a.pt'))\nmodel.apply(init_weights)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("a part is loaded, all is set", START + LOAD + "model.apply(init_weights)\n", line=17),
        Snippet("in a function", HEAD + "def finetune(path):\n    model = Net().cuda()\n    if path:\n        model.load_state_dict(torch.load(path)['model'])\n"
                "    model.train()\n    model.apply(init_weights)\n    return model\n", line=20),
        Snippet("a loop over the layers", HEAD + BY_LOOP + "def finetune(model, path):\n    model.load_state_dict(torch.load(path))\n    start(model)\n", line=22),
        Snippet("in the model itself", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self, backbone):\n        super().__init__()\n        self.backbone = backbone\n"
                "        self.backbone.load_state_dict(torch.load('b.pt'))\n        self.head = nn.Linear(16, 2)\n        self.apply(self.start)\n\n    def start(self, m):\n"
                "        if isinstance(m, nn.Conv2d):\n            nn.init.kaiming_normal_(m.weight)\n        elif isinstance(m, nn.Linear):\n            nn.init.normal_(m.weight, 0, 0.01)\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        loads = [event for event in program.methods_of("load_state_dict") if _model(event) is not None]
        if not loads:
            return
        for event in program.methods_of("apply", "modules", "parameters"):
            model, kinds = _model(event), _kinds(program, event)
            earlier = [
                load for load in loads if load.order < event.order and kinds and is_part(_model(load), model)
            ]
            if not earlier or model is None:
                continue
            load = earlier[-1]
            loaded = _model(load)
            if loaded is None or not covers(kinds, loaded) or not _always_follows(program, load, event):
                continue
            if _is_used(program, loaded, load, event) or _comes_back(program, loaded, event):
                continue
            node = _where_called(load, event)
            yield self.finding(program, node, see=[("The trained weights are loaded here.", load.node)])


def _model(event: CallEvent) -> Value | None:
    return event.call.receiver


def _kinds(program: Program, event: CallEvent) -> Kinds:
    call = event.call
    if call.method == "apply":
        return set_by_function(call.args[0]) if len(call.args) == 1 else frozenset()
    return set_by_loop(program, event.node)


def _bodies(event: Event) -> list[Body]:
    return [part for part in event.around() if isinstance(part, Body)]


def _always_follows(program: Program, first: Event, second: Event) -> bool:
    """Does `second` happen whenever `first` has: no branch or loop of its own, no way out between them?"""
    above: set[int] = {id(first.block), *(id(part.block) for part in first.around())}
    block: Block | None = second.block
    while block is not None and id(block) not in above:
        part = block.parent
        if isinstance(part, Branch) and not (part.kind == "try" and part.blocks[0] is block):
            return False
        if part is None or not isinstance(part, Body | Guard | Branch):
            return False
        block = part.block
    frames = {id(body) for body in _bodies(second)}
    for event in program.events:
        if event.kind in (RETURN, EXIT) and first.order < event.order < second.order:
            bodies = _bodies(event)
            if not bodies or id(bodies[0]) in frames:
                return False
    return block is not None


def _is_used(program: Program, model: Value, first: Event, second: Event) -> bool:
    """Is the model run, saved or handed to something between?"""
    inside = {id(body.call) for body in _bodies(second)}
    for event in program.calls:
        call = event.call
        if not first.order < event.order < second.order or id(call) in inside:
            continue
        if isinstance(resolved(call.function), Class) or call.qualified.startswith(_PASSIVE):
            continue
        if call.method and call.receiver is not None:
            if is_part(model, call.receiver) and call.method not in _HARMLESS:
                return True
        elif is_part(model, call.function):
            return True
        if any(is_part(model, value) for value in (*call.args, *call.keywords.values())):
            return True
    return False


def _comes_back(program: Program, model: Value, after: Event) -> bool:
    """Are weights loaded once more, later on?"""
    for event in program.calls:
        call = event.call
        if event.order <= after.order:
            continue
        if call.method == "load_state_dict" and (
            is_part(model, call.receiver) or is_part(call.receiver, model)
        ):
            return True
        name = ast.unparse(call.node.func).lower() if call.node is not None else ""
        is_loading = any(word in name for word in ("load", "restore", "resume"))
        if is_loading and any(is_part(model, value) for value in _given(call)):
            return True
    return False


def _given(call: Call) -> tuple[Value, ...]:
    return (*call.args, *call.keywords.values())


def _where_called(first: Event, second: Event) -> ast.AST:
    """Where the code that loads calls what sets the weights."""
    known = {id(body) for body in _bodies(first)}
    node: ast.AST = second.node
    for body in _bodies(second):
        if id(body) in known:
            break
        if body.call is not None and body.call.node is not None:
            node = body.call.node
    return node
