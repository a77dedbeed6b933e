from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import always
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant, resolved
from netmend.program.meaning.loop_state import Carried, carried, has_graph_of, learns
from netmend.program.meaning.loops import runs_once, turns
from netmend.program.meaning.training import Round, grad_is_off
from netmend.program.meaning.training_steps import loss_of
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
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
END = "    loss = nn.functional.mse_loss(out, y)\n    loss.backward()\n    opt.step()\n"
FUNCTION = """\
def train(model, loader, optimizer, criterion):
    hidden = model.init_hidden()
    for x, y in loader:
        optimizer.zero_grad()
        output, hidden = model(x, hidden)
        loss = criterion(output, y)
        loss.backward()
        optimizer.step()
"""


@register
class StateNotDetached(StaticRule):
    """A state is carried from one round to the next together with its graph.

    `backward()` then goes back through the round before, whose graph is already gone: "Trying to backward through the graph a second
    time". With `retain_graph=True` it runs, but each step goes through all rounds so far, slower and with more memory every time.

    Detach it between rounds: `state = state.detach()`, for an LSTM each of its two parts.
    """

    code = "S122"
    cause = "LOOP-DETACH"
    message = "A state carries its graph into the next iteration, so backward() goes through all previous ones; detach it."
    triggers = (".backward(",)

    GOOD = (
        Snippet("detached", HEAD + "    out, state = net(x, state)\n    state = state.detach()\n" + END),
        Snippet("detached at the start", HEAD + "    if state is not None:\n        state = state.detach()\n    out, state = net(x, state)\n" + END),
        Snippet("a new state in each round", HEAD + "    state = torch.zeros(1, 5, 8)\n    out, state = net(x, state)\n" + END),
        Snippet("both parts detached", FUNCTION.replace("model(x, hidden)", "model(x, tuple(part.detach() for part in hidden))")),
        Snippet("state not used again", HEAD + "    out, last = net(x)\n" + END),
        Snippet("detached by a helper", "from tools import repackage\n\n" + FUNCTION.replace("        output, hidden", "        hidden = repackage(hidden)\n        output, hidden")),
        Snippet("detached in place", FUNCTION + "        hidden.detach_()\n"),
        Snippet("differentiated once per window", HEAD.replace("    opt.zero_grad()\n", "") + "    out, state = net(x, state)\n    if len(x) > 9:\n        opt.zero_grad()\n"
                "        out.mean().backward()\n        opt.step()\n        state = state.detach()\n"),
        Snippet("a queue of keys without a graph", HEAD + "    with torch.no_grad():\n        key, _ = net(y)\n    out, _ = net(x)\n    out = out * queue.mean()\n" + END
                + "    queue = torch.cat([key, queue])[:64]\n"),
        Snippet("a running scale", HEAD + "    out, _ = net(x)\n    out = out / scale\n" + END + "    with torch.no_grad():\n        scale = 0.9 * scale + 0.1 * out.std()\n"),
        Snippet("the class with the highest score", HEAD + "    out, _ = net(torch.cat([x, state]))\n" + END + "    _, state = torch.max(out, 1)\n"),
        Snippet("an average of numbers", HEAD + "    out, _ = net(x)\n    state = 0.9 * (state or 0) + 0.1 * out.mean().item()\n" + END),
    )  # fmt: skip
    BAD = (
        Snippet("carried", HEAD + "    out, state = net(x, state)\n" + END, line=19),
        Snippet("carried with the graph kept", HEAD + "    out, state = net(x, state)\n" + END.replace("backward()", "backward(retain_graph=True)"), line=19),
        Snippet("carried in a function", FUNCTION, line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in turns(program):
            if (
                runs_once(turn.loop)
                or not all(always(event, turn.loop) for event in turn.backward)
                or _detaches(turn)
            ):
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
