"""Draws and derivatives whose gradient is lost."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value
from netmend.program.meaning.derivatives import derivatives_in, network_differentiated, networks
from netmend.program.meaning.draws import Draw, asked_openly, draws, layers_in, scores_draw
from netmend.program.meaning.gradient_flow import lost
from netmend.program.meaning.judged_answers import model_of, pulls
from netmend.program.meaning.losses import loss_uses
from netmend.program.meaning.operations import walk
from netmend.program.meaning.optimisers import steps
from netmend.program.meaning.policy_terms import all_answers
from netmend.program.meaning.roles import bare, optimised
from netmend.program.meaning.statements import with_argument
from netmend.program.meaning.training import backward_calls, loss_of
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

SAC = """\
import torch
from torch import nn
from torch.distributions import Normal

class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.mean, self.log_std = nn.Linear(3, 64), nn.Linear(64, 1), nn.Linear(64, 1)

    def forward(self, x, deterministic=False):
        h = torch.relu(self.body(x))
        mean, std = self.mean(h), self.log_std(h).clamp(-20, 2).exp()
        dist = Normal(mean, std)
        a = mean if deterministic else dist.{0}
        return torch.tanh(a), dist.log_prob(a).sum(1, keepdim=True)

actor = Actor()
q1, q2 = nn.Linear(4, 1), nn.Linear(4, 1)
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
q_opt = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=3e-4)

def learn(s, a, r, s2, done):
    with torch.no_grad():
        a2, logp2 = actor(s2)
        target = r + 0.99 * (1 - done) * (q1(torch.cat([s2, a2], 1)) - 0.2 * logp2)
    q_loss = nn.functional.mse_loss(q1(torch.cat([s, a], 1)), target)
    q_opt.zero_grad()
    q_loss.backward()
    q_opt.step()
    a, log_pi = actor(s)
    value = torch.min(q1(torch.cat([s, a], 1)), q2(torch.cat([s, a], 1)))
    actor_loss = {1}
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
"""
VAE = """\
import torch
from torch import nn
import torch.nn.functional as F

class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.mu, self.log_var = nn.Linear(784, 64), nn.Linear(64, 8), nn.Linear(64, 8)
        self.decoder, self.probe = nn.Linear(8, 784), nn.Linear(8, 10)

    def reparameterize(self, mu, log_var):
        std = torch.exp(0.5 * log_var)
        return mu + torch.randn_like(std) * std

    def forward(self, x):
        h = F.relu(self.encoder(x))
        mu, log_var = self.mu(h), self.log_var(h)
        z = {0}
        return torch.sigmoid(self.decoder({1})), mu, log_var, z

vae = VAE()
optimizer = torch.optim.Adam(vae.parameters())
for x, y in loader:
    recon, mu, log_var, z = vae(x)
    kl = -0.5 * torch.sum(1 + log_var - mu.pow(2) - log_var.exp())
    loss = F.binary_cross_entropy(recon, x, reduction="sum") + kl{2}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_WAY = "self.reparameterize(mu, log_var)"


class DrawWithoutGradient(StaticRule, code="S239", cause="LOS-GRAPH-CUT"):
    """A network is to learn through what is drawn from it, but the draw lets no gradient back.

    `dist.sample()` draws outside the graph: a critic's value of such an action, or the picture decoded from such a code, says nothing to the network that
    described the distribution; the same holds for `.detach()` behind the draw. The loss still falls, for its other terms reach that network.

    Draw with `dist.rsample()` (mean + noise * spread), and leave what was drawn in the graph. `sample()` is right where the likelihood of the draw is
    weighed by a reward.
    """

    message = "No gradient goes back through this {}: the network that the draw comes from learns nothing from {}; {}."
    triggers = (".backward(",)

    GOOD = (
        Snippet("drawn with a way back", SAC.format("rsample()", "(0.2 * log_pi - value).mean()")),
        Snippet("a critic that learns about draws", SAC.format("sample()", "nn.functional.mse_loss(value, r)").replace("actor_opt.", "q_opt.")),
        Snippet("a second head on the cut code", VAE.format(_WAY, "z", " + F.cross_entropy(vae.probe(z.detach()), y)")),
    )  # fmt: skip
    BAD = (
        mended("an action without a way back", SAC.format("⟨sample → rsample⟩()", "(0.2 * log_pi - value).mean()")),
        mended("cut behind the draw", SAC.format("rsample()⟨.detach() → ⟩", "(0.2 * log_pi - value).mean()")),
        mended("a code that is cut", VAE.format(_WAY, "z⟨.detach() → ⟩", "")),
        mended("a code that is sampled", VAE.format("torch.distributions.Normal(mu, log_var.exp()).⟨sample → rsample⟩()", "z", "")),
        Snippet("written with methods", VAE.format(_WAY, "z.detach()", "").replace("mu + torch.randn_like(std) * std", "torch.FloatTensor(std.size()).normal_().mul(std).add_(mu)"), line=19),
        Snippet("data of the code", VAE.format(_WAY, "z.data", ""), line=19),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in backward_calls(program):
            for loss in lost(event)[:1]:
                for draw, what in (
                    *self._through_critic(program, event, loss),
                    *self._through_decoder(program, event, loss),
                ):
                    yield self._finding(program, event, draw, what)

    def _through_critic(self, program: Program, event: Event, loss: Value) -> Iterator[tuple[Draw, str]]:
        held = _held_next(program, event)
        for pull in pulls(all_answers(program), loss):
            critic = model_of(pull.answer)
            if not pull.upward or critic is None or held & layers_in(critic):
                continue
            for argument in (*pull.answer.args, *pull.answer.keywords.values()):
                for draw in draws(program, argument):
                    if held & draw.models:
                        yield draw, "the critic's value"

    def _through_decoder(self, program: Program, event: Event, loss: Value) -> Iterator[tuple[Draw, str]]:
        inside = {id(part) for part in walk(loss)}
        fits = [use.prediction for use in loss_uses(program) if id(use.call) in inside]
        predictions = [value for value in fits if value is not None]
        found = [draw for value in predictions for draw in draws(program, value)]
        if not found:
            return
        held = _held_next(program, event)
        reached = frozenset().union(*(asked_openly(program, value) for value in predictions))
        for draw in found:
            if not draw.calls & reached and not scores_draw(loss, draw) and held & draw.models:
                yield draw, "what is made of it"

    def _finding(self, program: Program, event: Event, draw: Draw, what: str) -> Finding | None:
        words, advice = (
            ("sample()", "draw with rsample()") if draw.is_sample else ("detach()", "leave it out")
        )
        fix = _draw_with_gradient(program, draw)
        return self.finding(
            program,
            draw.node,
            self.message.format(words, what, advice),
            fix=fix,
            see=[("backward() starts here", event.node)],
        )


def _draw_with_gradient(program: Program, draw: Draw) -> Fix | None:
    node = draw.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    owner = program.source(node.func.value)
    if draw.is_sample:
        edits = replace(program, node.func, f"{owner}.rsample")
        return Fix("Draw with rsample()", edits)
    edits = replace(program, node, owner)
    return Fix("Leave out detach()", edits)


def _held_next(program: Program, backward: Event) -> frozenset[int]:
    """The layers that the next step moves."""
    following = next((optimiser for event, optimiser in steps(program) if event.order > backward.order), None)
    owners = [bare(owner) for owner in optimised(following) or ()]
    return frozenset(key for owner in owners if owner is not None for key in layers_in(owner))


HEAD = f"""{TORCH}
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


class DerivativeWithoutGraph(StaticRule, code="S231", cause="LOS-GRAPH-CUT"):
    """A derivative of the network, taken by `torch.autograd.grad` without `create_graph=True`, is a part of the loss.

    Without its graph the derivative is a plain number to `backward()`: the network gets no gradient from it. The residual of an equation
    or a gradient penalty then shows in the loss but teaches nothing.

    Take the derivative with its graph: `torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)`.
    """

    message = "This derivative enters the loss as a constant, so it is not trained; compute it with create_graph=True."
    triggers = ("autograd.grad(", "autograd import")
    needs = "backward"
    patterns = (r"autograd\.grad\(", r"\.backward\(")

    GOOD = (
        Snippet("with its graph", PHYSICS.format(", create_graph=True", RESIDUAL)),
        Snippet("unpacked options", PHYSICS.format(", **options", RESIDUAL)),
        Snippet("by position", PHYSICS.format(", True, True", RESIDUAL)),
        Snippet("detached on purpose", PHYSICS.format(", retain_graph=True", "(du.detach() + 0.5 * u).pow(2).mean()")),
        Snippet("a weight of the loss", PHYSICS.format(", retain_graph=True", "(du.abs() * (u - t.sin()).pow(2)).mean()")),
        Snippet("a target from another network", PHYSICS.format("", "(other(t) - du).pow(2).mean()").replace("optimizer =", "other = nn.Linear(1, 1)\noptimizer =")),
        Snippet("first-order adaptation", HEAD + "w = torch.zeros(1, 1, requires_grad=True)\nfor x, y in data:\n    inner = (x @ w - y).pow(2).mean()\n"
                "    g = torch.autograd.grad(inner, w)[0]\n    fast = w - 0.1 * g\n    loss = (x @ fast - y).pow(2).mean()\n" + STEP),
    )  # fmt: skip
    BAD = (
        mended("residual of an equation", PHYSICS.format(", retain_graph=True⟨ → , create_graph=True⟩", RESIDUAL)),
        mended("gradient penalty", PENALTY.format("⟨False → True⟩")),
        Snippet("the network is a derivative", "import torch\nfrom torch import nn\nfrom torch.autograd import grad\n\nclass Hamiltonian(nn.Module):\n    def __init__(self):\n"
                "        super().__init__()\n        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))\n\n    def forward(self, x):\n        h = self.net(x).sum()\n"
                "        return grad(h, x, retain_graph=True)[0]\n\nmodel = Hamiltonian()\noptimizer = torch.optim.Adam(model.parameters())\nfor x, y in data:\n    x.requires_grad_(True)\n"
                "    loss = nn.functional.mse_loss(model(x), y) + 0.01 * model.net(x).pow(2).mean()\n" + STEP, line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in backward_calls(program):
            loss = loss_of(event)
            if loss is None:
                continue
            trained = networks(program, loss)
            for call in derivatives_in(program, loss):
                if trained & network_differentiated(program, call):
                    yield self.finding(
                        program,
                        call.node,
                        fix=_keep_graph(program, call),
                        see=[("backward() is called here.", event.node)],
                    )


def _keep_graph(program: Program, call: Call) -> Fix | None:
    if call.node is None or len(call.args) > 4 or program.place(call.node).file != program.file:
        return None
    return Fix("Keep the graph of the derivative", with_argument(program, call.node, "create_graph", "True"))
