from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call
from netmend.program.meaning.arguments import with_argument
from netmend.program.meaning.derivatives import derivatives_in, network_differentiated, networks
from netmend.program.meaning.heads import where
from netmend.program.meaning.training import backward_calls
from netmend.program.meaning.training_steps import loss_of
from netmend.vocabulary.finding import Finding, Fix

HEAD = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters())
"""
STEP = "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
PHYSICS = (
    HEAD
    + """\
for step in range(1000):
    t = torch.rand(64, 1).requires_grad_(True)
    u = net(t)
    du = torch.autograd.grad(u, t, torch.ones_like(u){})[0]
    loss = {}
"""
    + STEP
)
PENALTY = """\
import torch
from torch import nn

def gradient_penalty(critic, real, fake):
    mixed = (0.5 * real + 0.5 * fake.detach()).requires_grad_(True)
    score = critic(mixed)
    grads = torch.autograd.grad(outputs=score.sum(), inputs=mixed, create_graph={})[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()

def train(critic, generator, data, optimizer):
    for real in data:
        fake = generator(torch.randn(64, 8)).detach()
        loss = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(critic, real, fake)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
RESIDUAL = "(du + 0.5 * u).pow(2).mean()"


@register
class DerivativeWithoutGraph(StaticRule):
    """A derivative of the network, taken by `torch.autograd.grad` without `create_graph=True`, is a part of the loss.

    Without its graph the derivative is a plain number to `backward()`: the network gets no gradient from it. The residual of an equation
    or a gradient penalty then shows in the loss but teaches nothing.

    Take the derivative with its graph: `torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)`.
    """

    code = "S231"
    cause = "LOS-GRAPH-CUT"
    message = "This derivative enters the loss as a constant, so it is not trained; compute it with create_graph=True."
    triggers = ("autograd.grad(", "autograd import")
    needs = "backward"
    patterns = (r"autograd\.grad\(", r"\.backward\(")

    GOOD = (
        Snippet("with its graph", PHYSICS.format(", create_graph=True", RESIDUAL)),
        Snippet("a choice", PHYSICS.format(", create_graph=training", RESIDUAL)),
        Snippet("unpacked options", PHYSICS.format(", **options", RESIDUAL)),
        Snippet("by position", PHYSICS.format(", True, True", RESIDUAL)),
        Snippet("only looked at", PHYSICS.format("", "(u - t.sin()).pow(2).mean()\n    print(du.norm())")),
        Snippet("detached on purpose", PHYSICS.format(", retain_graph=True", "(du.detach() + 0.5 * u).pow(2).mean()")),
        Snippet("a weight of the loss", PHYSICS.format(", retain_graph=True", "(du.abs() * (u - t.sin()).pow(2)).mean()")),
        Snippet("adversarial samples", PHYSICS.format("", "(net(t + 0.1 * du) - 1).pow(2).mean()")),
        Snippet("a target from another network", PHYSICS.format("", "(other(t) - du).pow(2).mean()").replace("optimizer =", "other = nn.Linear(1, 1)\noptimizer =")),
        Snippet("the target of a loss", PHYSICS.format(", retain_graph=True", "nn.functional.mse_loss(u, du)")),
        Snippet("first-order adaptation", HEAD + "w = torch.zeros(1, 1, requires_grad=True)\nfor x, y in data:\n    inner = (x @ w - y).pow(2).mean()\n"
                "    g = torch.autograd.grad(inner, w)[0]\n    fast = w - 0.1 * g\n    loss = (x @ fast - y).pow(2).mean()\n" + STEP),
        Snippet("weights by gradient size", HEAD + "for x, y in data:\n    a, b = net(x).pow(2).mean(), (net(x) - y).pow(2).mean()\n"
                "    g = torch.autograd.grad(a, net[0].weight, retain_graph=True)[0]\n    loss = a + g.norm() * b\n" + STEP),
        Snippet("penalty", PENALTY.format("True")),
    )  # fmt: skip
    BAD = (
        Snippet("residual of an equation", PHYSICS.format(", retain_graph=True", RESIDUAL), line=9,
                fixed=PHYSICS.format(", retain_graph=True, create_graph=True", RESIDUAL)),
        Snippet("gradient penalty", PENALTY.format("False"), line=7, fixed=PENALTY.format("True")),
        Snippet("second derivative", PHYSICS.format(", create_graph=True", "({} + u).pow(2).mean()").format(
                "torch.autograd.grad(du, t, torch.ones_like(du), retain_graph=True)[0]"), line=10),
        Snippet("the network is a derivative", "import torch\nfrom torch import nn\nfrom torch.autograd import grad\n\nclass Hamiltonian(nn.Module):\n    def __init__(self):\n"
                "        super().__init__()\n        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))\n\n    def forward(self, x):\n        h = self.net(x).sum()\n"
                "        return grad(h, x, retain_graph=True)[0]\n\nmodel = Hamiltonian()\noptimizer = torch.optim.Adam(model.parameters())\nfor x, y in data:\n    x.requires_grad_(True)\n"
                "    loss = nn.functional.mse_loss(model(x), y) + 0.01 * model.net(x).pow(2).mean()\n" + STEP, line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        told: set[int] = set()
        for event in backward_calls(program):
            loss = loss_of(event)
            if loss is None:
                continue
            trained = networks(program, loss)
            for call in derivatives_in(program, loss):
                if call.node is None or id(call.node) in told:
                    continue
                if trained & network_differentiated(program, call):
                    told.add(id(call.node))
                    place = where(program, "backward() is called here.", event.node)
                    yield self.finding(program, call.node, fix=_fix(program, call), related=place)


def _fix(program: Program, call: Call) -> Fix | None:
    if call.node is None or len(call.args) > 4 or program.place(call.node).file != program.file:
        return None
    edits = with_argument(program, call.node, "create_graph", "True")
    return Fix("Keep the graph of the derivative", edits) if edits else None
