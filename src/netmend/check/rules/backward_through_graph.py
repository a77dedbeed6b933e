"""backward() needs a graph: one that is there, and not one of an earlier step."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.check.examples import NET_CLASS, TORCH
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.library.operations import ARITHMETIC, SUMMARIES
from netmend.program.engine.history import always
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Const,
    Element,
    Item,
    Operation,
    Param,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.kept_graphs import Carried, carried, has_graph_of, learns
from netmend.program.meaning.loops import call_events, runs_once, turns
from netmend.program.meaning.losses import loss_use
from netmend.program.meaning.operations import LAYOUT, operation, origins
from netmend.program.meaning.roles import MODEL, role, same
from netmend.program.meaning.training import Round, backward_calls, grad_is_off, is_left_to_caller, loss_of

BACKWARD_HEAD = f"""{TORCH}\
from torch.nn import functional as F

net = nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters())
for x, y in data:
    opt.zero_grad()
"""
BACKWARD_END = "    loss.backward()\n    opt.step()\n"
SHARED = """\
import torch
from torch import nn

net = nn.Linear(4, 3)
optimizer = torch.optim.Adam(net.parameters())

def step(model, x, y, opt=None):
    loss = nn.functional.mse_loss(model(x), y)
    {}
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return loss.item()

for epoch in range(9):
    for x, y in data:
        step(net, x, y, optimizer)
"""
_DATA = frozenset(
    f"torch.{name}"
    for name in ("randn", "rand", "randint", "zeros", "ones", "full", "arange", "tensor", "from_numpy", "eye")
)
_LAYOUT = LAYOUT - {"requires_grad_"}  # what is made a leaf by hand may be what is differentiated for
_SMOOTH = frozenset(
    (*ARITHMETIC, *SUMMARIES, "pow", "square", "abs", "exp", "log", "softmax", "log_softmax", "sigmoid")
)


class BackwardWithoutGraph(StaticRule, code="S121", cause="LOOP-NO-GRAD"):
    """backward() is called on a loss whose network ran under no_grad() or inference_mode().

    Nothing was recorded, so there is nothing to differentiate: `backward()` raises "element 0 of tensors does not require grad", or,
    if the loss was made to require gradients by hand, the weights get none.

    Run the forward pass of training with gradients on; keep `no_grad` for evaluation.
    """

    message = "The network ran with gradients switched off, so backward() has nothing to differentiate; run the forward pass outside no_grad."
    triggers = (".backward(",)

    GOOD = (
        Snippet("gradients on", BACKWARD_HEAD + "    loss = F.mse_loss(net(x), y)\n" + BACKWARD_END),
        Snippet("targets given first", BACKWARD_HEAD + "    with torch.no_grad():\n        target = teacher(x)\n    loss = F.mse_loss(target, net(x))\n" + BACKWARD_END),
        Snippet("weights of the loss without", BACKWARD_HEAD + "    with torch.no_grad():\n        weight = F.mse_loss(net(x), y)\n    loss = weight * net(x).mean()\n" + BACKWARD_END),
        Snippet("a start value that is then improved", BACKWARD_HEAD + "    with torch.no_grad():\n        guess = net(x)\n    guess.requires_grad_(True)\n    opt = torch.optim.Adam([guess])\n    loss = F.mse_loss(guess, y)\n" + BACKWARD_END),
        Snippet("switched on again", BACKWARD_HEAD + "    with torch.no_grad():\n        with torch.enable_grad():\n            loss = F.mse_loss(net(x), y)\n" + BACKWARD_END),
        Snippet("shared, batches unpacked in the call", SHARED.format("if opt is not None:") + "    with torch.no_grad():\n        print(sum(step(net, *batch) for batch in held_out))\n"),
        Snippet("shared, left early", SHARED.format("if opt is None:\n        return loss.item()\n    if True:") + "    with torch.no_grad():\n        for batch in held_out:\n            step(net, *batch)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("shared, and evaluation trains too", SHARED.format("if True:") + "    with torch.no_grad():\n        for batch in held_out:\n            step(net, *batch)\n", line=10),
        Snippet("the network", BACKWARD_HEAD + "    with torch.no_grad():\n        out = net(x)\n    loss = F.mse_loss(out, y)\n" + BACKWARD_END, line=12),
        Snippet("data made here", BACKWARD_HEAD.replace("for x, y in data:", "x, y = torch.randn(9, 4), torch.randn(9, 3)\nfor epoch in range(9):")
                + "    with torch.no_grad():\n        out = net(x)\n    loss = F.mse_loss(out, y)\n" + BACKWARD_END, line=13),
        Snippet("all of it", BACKWARD_HEAD + "    with torch.no_grad():\n        loss = (net(x) - y).square().mean()\n        loss.backward()\n        opt.step()\n", line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        if any(event.target.name == "requires_grad" for event in program.stores):
            return
        for backward in backward_calls(program):
            loss = loss_of(backward) if not is_left_to_caller(backward) else None
            if loss is not None and program.entry_of(backward).complete and self._is_cut(program, loss):
                yield self.finding(program, backward.node)

    def _is_cut(self, program: Program, loss: Value, depth: int = 12) -> bool:
        """Is everything that the loss is computed from free of a graph, and a network among it?"""
        found = [self._graph(program, origin, depth) for origin in origins(loss, _LAYOUT)]
        return bool(found) and all(answer is False for answer in found)

    def _graph(self, program: Program, value: Value, depth: int) -> bool | None:
        """True: may carry a graph; False: surely none although a network took part; None: data without one."""
        value = resolved(value)
        if depth == 0:
            return True
        if isinstance(value, Const | Element):
            return None
        if isinstance(value, Item | Attribute):
            return self._graph(program, value.base, depth - 1)
        if isinstance(value, Operation):
            return _joined([self._graph(program, operand, depth - 1) for operand in value.operands])
        if isinstance(value, Param) and not role(value):
            return True
        if not isinstance(value, Call):
            return True
        if any(same(event.call.receiver, value) for event in program.methods_of("requires_grad_")):
            return True
        event = call_events(program).get(id(value))
        if event is not None and grad_is_off(event):
            return False if self._uses_network(event.call, depth) else None
        return self._through(program, value, depth)

    def _through(self, program: Program, value: Call, depth: int) -> bool | None:
        event = call_events(program).get(id(value))
        use = loss_use(event) if event is not None else None
        if use is not None and use.prediction is not None and use.target is not None:
            parts = [part for given in (use.prediction, use.target) for part in origins(given, _LAYOUT)]
            return _joined([self._graph(program, part, depth - 1) for part in parts])
        if value.qualified in _DATA and "requires_grad" not in value.keywords and not value.open:
            return None
        op = operation(value)
        if op is None or op.layer is not None or op.name not in _SMOOTH:
            return True
        return _joined(
            [self._graph(program, part, depth - 1) for given in op.inputs for part in origins(given, _LAYOUT)]
        )

    def _uses_network(self, call: Call | None, depth: int) -> bool:
        """Was a network among what computed this?"""
        if call is None or depth == 0:
            return False
        if role(call.function) == MODEL:
            return True
        given = (*call.args, *((call.receiver,) if call.receiver is not None else ()))
        for value in given:
            for part in _leaves(value, 6):
                if part is not call and self._uses_network(part, depth - 1):
                    return True
        return False


def _leaves(value: Value, depth: int) -> Iterator[Call]:
    """The calls that a value is directly computed from, through arithmetic and parts."""
    if isinstance(value, Call):
        yield value
    elif depth and isinstance(value, Operation):
        for operand in value.operands:
            yield from _leaves(operand, depth - 1)
    elif depth and isinstance(value, Item | Attribute):
        yield from _leaves(value.base, depth - 1)


def _joined(answers: list[bool | None]) -> bool | None:
    if True in answers:
        return True
    return False if False in answers else None


STATE_HEAD = f"""{TORCH}{NET_CLASS}\
        self.rnn = nn.GRU(4, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x, state=None):
        y, state = self.rnn(x, state)
        return self.out(y), state

net = Net()
opt = torch.optim.Adam(net.parameters())
state = None
for x, y in stream:
    opt.zero_grad()
"""
STATE_END = "    loss = nn.functional.mse_loss(out, y)\n    loss.backward()\n    opt.step()\n"
STATE_FUNCTION = """\
def train(model, loader, optimizer, criterion):
    hidden = model.init_hidden()
    for x, y in loader:
        optimizer.zero_grad()
        output, hidden = model(x, hidden)
        loss = criterion(output, y)
        loss.backward()
        optimizer.step()
"""


class StateNotDetached(StaticRule, code="S122", cause="LOOP-DETACH"):
    """A state is carried from one round to the next together with its graph.

    `backward()` then goes back through the round before, whose graph is already gone: "Trying to backward through the graph a second
    time". With `retain_graph=True` it runs, but each step goes through all rounds so far, slower and with more memory every time.

    Detach it between rounds: `state = state.detach()`, for an LSTM each of its two parts.
    """

    message = "A state carries its graph into the next iteration, so backward() goes through all previous ones; detach it."
    triggers = (".backward(",)

    GOOD = (
        Snippet("detached", STATE_HEAD + "    out, state = net(x, state)\n    state = state.detach()\n" + STATE_END),
        Snippet("detached at the start", STATE_HEAD + "    if state is not None:\n        state = state.detach()\n    out, state = net(x, state)\n" + STATE_END),
        Snippet("both parts detached", STATE_FUNCTION.replace("model(x, hidden)", "model(x, tuple(part.detach() for part in hidden))")),
        Snippet("state not used again", STATE_HEAD + "    out, last = net(x)\n" + STATE_END),
        Snippet("detached by a helper", "from tools import repackage\n\n" + STATE_FUNCTION.replace("        output, hidden", "        hidden = repackage(hidden)\n        output, hidden")),
        Snippet("detached in place", STATE_FUNCTION + "        hidden.detach_()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("carried", STATE_HEAD + "    out, state = net(x, state)\n" + STATE_END, line=19),
        Snippet("carried with the graph kept", STATE_HEAD + "    out, state = net(x, state)\n" + STATE_END.replace("backward()", "backward(retain_graph=True)"), line=19),
        Snippet("carried in a function", STATE_FUNCTION, line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in turns(program):
            if runs_once(turn.loop) or not all(always(event, turn.loop) for event in turn.backward):
                continue
            if _detaches(turn):
                continue
            for state in carried(turn.loop):
                if self._is_connected(program, turn, state):
                    yield self.finding(program, state.stored.node, self._message(state.name))

    def _message(self, name: str) -> str:
        return f"`{name}` carries its graph into the next iteration, so backward() goes through all previous ones; detach it."

    def _is_connected(self, program: Program, turn: Round, state: Carried) -> bool:
        """The next state stems from a network and from the last one, and so does what is differentiated."""
        value = state.stored.value
        if constant(resolved(value), 0) is None or grad_is_off(state.stored) or not learns(program, value):
            return False
        if not has_graph_of(program, value, state.before):
            return False
        return any(has_graph_of(program, loss_of(event), state.before) for event in turn.backward)


def _detaches(turn: Round) -> bool:
    return any(event.call is not None and event.call.method == "detach_" for event in turn.loop.events())
