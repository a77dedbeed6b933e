from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE, Event, common_loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, options, resolved
from netmend.program.meaning.optimisers import steps
from netmend.program.meaning.roles import MODEL, role
from netmend.program.text.edits import insert_before, wrap
from netmend.vocabulary.finding import Finding, Fix, Related

HEAD = "import copy\nimport torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nbest, state = 0, None\n"
LOOP = """\
for epoch in range(9):
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
    accuracy = evaluate(net)
    if accuracy > best:
        best = accuracy
        state = {0}
"""
TRAINER = """\
import torch

class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())

    def fit(self, data):
        for epoch in range(9):
            for x, y in data:
                self.optimizer.zero_grad()
                self.model(x).mean().backward()
                self.optimizer.step()
            if self.better():
                self.best = {0}
        self.model.load_state_dict(self.best)
"""


@register
class BestStateNotCopied(StaticRule):
    """The best weights are kept as `model.state_dict()` without a copy and loaded again after more training.

    `state_dict()` returns the very tensors of the model. Training goes on changing them, so what is loaded in the end are the
    last weights, not the best.

    Copy them: `copy.deepcopy(model.state_dict())`.
    """

    code = "S609"
    cause = "TRN-CKPT"
    message = (
        "state_dict() is not a copy: further training changes it too. Keep copy.deepcopy(model.state_dict())."
    )
    triggers = ("load_state_dict(",)
    patterns = (r"state_dict\(\)(?:\.copy\(\))?\)?[ \t]*(?:$|\n|#|;)",)

    GOOD = (
        Snippet(
            "copied", HEAD + LOOP.format("copy.deepcopy(net.state_dict())") + "net.load_state_dict(state)\n"
        ),
        Snippet(
            "cloned",
            HEAD
            + LOOP.format("{k: v.clone() for k, v in net.state_dict().items()}")
            + "net.load_state_dict(state)\n",
        ),
        Snippet(
            "written to disk", HEAD + LOOP.format("net.state_dict()\n        torch.save(state, 'best.pt')")
        ),
        Snippet(
            "handed to a twin at once",
            HEAD
            + "twin = nn.Linear(4, 2)\n"
            + LOOP.format("net.state_dict()\n        twin.load_state_dict(state)"),
        ),
        Snippet(
            "another one is loaded",
            HEAD + LOOP.format("net.state_dict()") + "net.load_state_dict(torch.load('best.pt'))\n",
        ),
    )
    BAD = (
        Snippet("alias", HEAD + LOOP.format("net.state_dict()") + "net.load_state_dict(state)\n", line=16,
                fixed=HEAD + LOOP.format("copy.deepcopy(net.state_dict())") + "net.load_state_dict(state)\n"),
        Snippet("in a trainer", TRAINER.format("self.model.state_dict()"), line=15,
                fixed="import copy\n" + TRAINER.format("copy.deepcopy(self.model.state_dict())")),
        Snippet("a shallow copy", HEAD + LOOP.format("dict(net.state_dict())") + "net.load_state_dict(state)\n", line=16),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        stores: dict[int, Event] = {}
        for event in program.events:
            if event.kind == STORE and isinstance(event.value, Call) and _state(event.value) is not None:
                stores[id(event.value)] = event
        if not stores:
            return
        for load in program.methods_of("load_state_dict"):
            call = load.call
            given = call.argument("state_dict", 0) if call is not None else None
            for option in options(resolved(given)) if given is not None else ():
                store = stores.get(id(option))
                if (
                    store is not None
                    and isinstance(option, Call)
                    and option.node is not None
                    and _trains_between(program, store, load)
                ):
                    place = program.place(load.node)
                    loaded = Related("It is loaded again here.", place.file, place.line, place.column)
                    yield self.finding(
                        program, option.node, fix=self._fix(program, option), related=(loaded,)
                    )

    def _fix(self, program: Program, state: Call) -> Fix | None:
        if state.node is None or state.method != "state_dict":
            return None
        edits = wrap(program, state.node, "copy.deepcopy(", ")")
        if not edits:
            return None
        imported = [part for part in program.tree.body if isinstance(part, ast.Import | ast.ImportFrom)]
        if any(
            isinstance(part, ast.Import)
            and any(name.name == "copy" and not name.asname for name in part.names)
            for part in imported
        ):
            return Fix("Keep a copy", edits, "safe")
        plain = [
            part
            for part in imported
            if not (isinstance(part, ast.ImportFrom) and part.module == "__future__")
        ]
        added = insert_before(program, plain[0], "import copy") if plain else ()
        return Fix("Keep a copy", (*added, *edits), "safe") if added else None


def _state(value: Call) -> Value | None:
    """The model whose state a value is without a copy: `model.state_dict()`, `dict(model.state_dict())`, `….copy()`."""
    if value.method == "state_dict" and not value.args and value.result is None:
        return value.receiver if role(value.receiver) == MODEL else None
    inner = None
    if value.qualified == "dict" and len(value.args) == 1:
        inner = value.args[0]
    elif value.method == "copy" and not value.args:
        inner = value.receiver
    return _state(inner) if isinstance(inner, Call) else None


def _trains_between(program: Program, store: Event, load: Event) -> bool:
    """Does an optimiser step after the state was kept and before it is loaded?"""
    for step, _ in steps(program):
        if store.order < step.order < load.order:
            return True
        loop = common_loop(store, step)
        if loop is not None and store.order < load.order and not any(part is loop for part in load.around()):
            return True
    return False
