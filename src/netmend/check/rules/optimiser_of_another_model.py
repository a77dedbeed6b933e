from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from netmend.check.examples import net
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Instance, Name, Value, resolved
from netmend.program.meaning.models import is_module, new_parameters, parts
from netmend.program.meaning.operations import parts_of, walk
from netmend.program.meaning.optimisers import made_optimisers
from netmend.program.meaning.roles import bare
from netmend.program.meaning.training import Round, grad_is_off, loss_of, rounds, stepped
from netmend.program.meaning.uses import calls_given

HEAD = net("fc = nn.Linear(4, 2)", forward="        return self.fc(x)\n\n")
LOOP = "for x, y in data:\n    optimizer.zero_grad()\n    nn.functional.cross_entropy({0}(x), y).backward()\n    optimizer.step()\n"


_NONE = "The loss is computed with {0}, but its parameters are in no optimiser, so it is not trained."
_PARTLY = "The optimisers hold only a part of {0}; the rest keeps its random initial values. Pass all parameters, or freeze the rest."


class OptimiserOfAnotherModel(StaticRule, code="S403", cause="OPT-PARAMS"):
    """Parameters of the model that the loss is computed with are in no optimiser.

    Gradients reach the model, but the optimiser that steps holds other parameters, so this model keeps its random initial values; what
    learns is another one or only a part.

    Give the optimiser the parameters of every model that shall learn; freeze the others or compute them under `no_grad`.
    """

    message = (
        "The loss is computed with this model, but its parameters are in no optimiser, so it is not trained."
    )
    triggers = ("optim.", "optim import", "optimizer = ")

    GOOD = (
        Snippet("its own optimiser", HEAD + "net = Net()\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n" + LOOP.format("net")),
        Snippet("adversaries with two optimisers", HEAD + "G, D = Net(), Net()\nopt_g = torch.optim.Adam(G.parameters())\n"
                "opt_d = torch.optim.Adam(D.parameters())\nfor x in data:\n    opt_d.zero_grad()\n    D(G(x).detach()).mean().backward()\n"
                "    opt_d.step()\n    opt_g.zero_grad()\n    D(G(x)).mean().backward()\n    opt_g.step()\n"),
        Snippet("a frozen teacher", HEAD + "teacher, net = Net(), Net()\nteacher.requires_grad_(False)\n"
                "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x in data:\n    optimizer.zero_grad()\n"
                "    nn.functional.mse_loss(net(x), teacher(x)).backward()\n    optimizer.step()\n"),
        Snippet("features without gradient", HEAD + "body, head = Net(), nn.Linear(2, 2)\noptimizer = torch.optim.SGD(head.parameters(), lr=0.1)\n"
                "for x in data:\n    with torch.no_grad():\n        z = body(x)\n    optimizer.zero_grad()\n    head(z).sum().backward()\n"
                "    optimizer.step()\n"),
        Snippet("weights are loaded", HEAD + 'body, head = Net(), nn.Linear(2, 2)\nbody.load_state_dict(torch.load("body.pt"))\n'
                "optimizer = torch.optim.SGD(head.parameters(), lr=0.1)\nfor x in data:\n    optimizer.zero_grad()\n"
                "    head(body(x)).sum().backward()\n    optimizer.step()\n"),
        Snippet("the input is what is trained", HEAD + "net = Net()\nimage = torch.rand(1, 4, requires_grad=True)\n"
                "optimizer = torch.optim.Adam([image], lr=0.1)\nfor x in data:\n    optimizer.zero_grad()\n    net(image).sum().backward()\n"
                "    optimizer.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("the old model's optimiser", HEAD + "old = Net()\noptimizer = torch.optim.SGD(old.parameters(), lr=0.1)\nnet = Net()\n"
                + LOOP.format("net"), line=13),
        Snippet("encoder forgotten", HEAD + "encoder, decoder = Net(), nn.Linear(2, 2)\noptimizer = torch.optim.Adam(decoder.parameters())\n"
                "for x, y in data:\n    code = encoder(x)\n    loss = nn.functional.cross_entropy(decoder(code), y)\n"
                "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n", line=13),
        Snippet("the teacher instead of the student", HEAD + "def make():\n    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))\n\n"
                "teacher, student = make(), make()\nopt = torch.optim.Adam(teacher.parameters())\nfor x, y in data:\n    with torch.no_grad():\n"
                "        goal = teacher(x)\n    loss = nn.functional.mse_loss(student(x), goal)\n    opt.zero_grad()\n    loss.backward()\n"
                "    opt.step()\n", line=16),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in rounds(program):
            if turn.opaque or not program.entry_of(turn.loop).complete:
                continue
            if program.entry_of(turn.loop).kind != "file":
                continue
            held = _held(program, turn)
            if held is None:
                continue
            for model, call in _used(turn):
                layers = list(new_parameters(model))
                missed = [layer for layer in layers if id(layer) not in held]
                if not missed or id(model) in held or not _is_fresh(program, model):
                    continue
                event = next((event for event in turn.loop.body.events() if event.value is call), None)
                if event is None or grad_is_off(event):
                    continue
                message = _NONE if len(missed) == len(layers) else _PARTLY
                name = program.source(call.node.func) if call.node is not None else "the model"
                node = _only_optimiser(program) or event.node
                yield self.finding(
                    program,
                    node,
                    message.format(name),
                    see=[("The loss is computed with it here.", event.node)],
                )
                break


def _only_optimiser(program: Program) -> ast.AST | None:
    """Where the one optimiser of the program is made: there the parameters are missing."""
    made = made_optimisers(program)
    return made[0].event.node if len(made) == 1 else None


def _held(program: Program, turn: Round) -> set[int] | None:
    """Everything inside the models of all optimisers; None when what one of them holds cannot be told."""
    for event in turn.step:
        optimiser = stepped(event)
        if optimiser is None or not isinstance(resolved(optimiser), Call):
            return None
    held: set[int] = set()
    for made in made_optimisers(program):
        if not made.models or not all(is_module(model) for model in made.models):
            return None
        for model in made.models:
            if isinstance(model, Attribute):
                held.add(id(bare(model.base)))
            held.update(id(part) for part in parts(model))
    return held


def _used(turn: Round) -> Iterator[tuple[Instance | Call, Call]]:
    """Models that the losses of the round are computed with, and the calls of them."""
    waiting: list[Value] = [loss for event in turn.backward if (loss := loss_of(event)) is not None]
    seen: set[int] = set()
    while waiting and len(seen) < 3000:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Call):
            if value.method in ("detach", "item", "numpy", "tolist") or value.qualified.startswith(
                "torch.no_grad"
            ):
                continue
            callee = bare(value.function)
            if (
                (isinstance(callee, Instance) or _is_stack(callee, value))
                and is_module(callee)
                and any(True for _ in new_parameters(callee))
            ):
                yield callee, value
        elif isinstance(value, Attribute) and value.name == "data":
            continue
        waiting.extend(parts_of(value))


def _is_stack(value: Value | None, call: Call) -> TypeGuard[Call]:
    """`net = nn.Sequential(…)` that is called by its own name; as `self.net(x)` it is a part of something."""
    is_named = call.node is not None and isinstance(call.node.func, ast.Name)
    return is_named and isinstance(value, Call) and value.qualified == "torch.nn.Sequential"


def _is_fresh(program: Program, model: Instance | Call) -> bool:
    """Made in this program from layers alone: nothing loaded, frozen or handed to code that is not seen."""
    inner = {id(part) for part in parts(model)}
    optimised = {
        id(value) for made in made_optimisers(program) for value in walk(made.call.argument("params", 0))
    }
    for event in program.calls:
        call = event.call
        if id(call) in optimised:
            continue
        if call.method in (
            "load_state_dict",
            "requires_grad_",
            "copy_",
            "parameters",
            "named_parameters",
            "apply",
        ):
            owner = bare(call.receiver)
            if owner is not None and (
                id(owner) in inner or (isinstance(owner, Attribute) and id(bare(owner.base)) in inner)
            ):
                return False
    for event in calls_given(program, model):
        call = event.call
        if call.result is None and not isinstance(call.function, Name):
            return False
        if isinstance(call.function, Name) and not call.function.qualified.startswith(
            ("torch.", "print", "copy.")
        ):
            return False
    return True
