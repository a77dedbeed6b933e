from __future__ import annotations

import ast
import re

from netmend.check.examples import TORCH_F
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import Event, Loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, resolved
from netmend.program.meaning.batches import is_from_loop
from netmend.program.meaning.gradient_flow import is_computed, layers_of, lost, reach
from netmend.program.meaning.losses import loss_uses
from netmend.program.meaning.operations import walk
from netmend.program.meaning.optimisers import made_optimisers, updated_by_hand
from netmend.program.meaning.policy_terms import Terms, falling_gain, falling_value, growing_divergence
from netmend.program.meaning.roles import optimised
from netmend.program.meaning.signed_terms import flipped_gaussian, is_flipped_hinge, signed_terms
from netmend.program.meaning.training import backward_calls, is_backward, is_step, stepped
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Fix

HEAD = f"""{TORCH_F}
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
LOOP = "for x, y in loader:\n    optimizer.zero_grad()\n    loss = {}\n    loss.backward()\n    optimizer.step()\n"
_MEANT = re.compile(
    "adv|attack|unlearn|forget|ascent|revers|fgsm|pgd|maxim|confus|domain|discrim|critic|fool", re.IGNORECASE
)
_MEANT_NAME = re.compile(
    "attack|unlearn|forget|ascent|revers|fgsm|pgd|maxim|confus|domain|discrim|fool|adversar", re.IGNORECASE
)
POLICY = """\
import torch
from torch import nn
from torch.distributions import Categorical

policy = nn.Sequential(nn.Linear(4, 2), nn.Softmax(-1))
optimizer = torch.optim.Adam(policy.parameters())

def finish(log_probs, returns):
    losses = []
    for log_prob, R in zip(log_probs, returns):
        losses.append({})
    optimizer.zero_grad()
    loss = torch.stack(losses).sum()
    loss.backward()
    optimizer.step()
"""
PPO = """\
import torch

def update(agent, optimizer, batch, epochs):
    for epoch in range(epochs):
        log_prob, entropy, value = agent(batch.obs, batch.actions)
        ratio = (log_prob - batch.log_prob).exp()
        first = {} * ratio
        second = {} * torch.clamp(ratio, 0.8, 1.2)
        loss = {}.mean() + 0.5 * (value - batch.returns).pow(2).mean() - 0.01 * entropy.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
SURROGATE = """\
import torch
from torch import nn
from torch.distributions import Categorical

class PPO:
    def __init__(self, env):
        self.env = env
        self.actor, self.critic = nn.Linear(4, 2), nn.Linear(4, 1)
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=0.005)

    def learn(self, obs, acts, log_probs, rtgs):
        A_k = rtgs - self.critic(obs).squeeze().detach()
        A_k = (A_k - A_k.mean()) / (A_k.std() + 1e-10)
        for _ in range(5):
            curr_log_probs = Categorical(logits=self.actor(obs)).log_prob(acts)
            ratios = torch.exp(curr_log_probs - log_probs)
            surr1 = {0} * A_k
            surr2 = torch.clamp(ratios, 0.8, 1.2) * A_k
            actor_loss = {1}
            self.actor_optim.zero_grad()
            actor_loss.backward()
            self.actor_optim.step()
"""
DDPG = """\
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(3, 1)

    def forward(self, state):
        return 2 * torch.tanh(self.l1(state))

class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = nn.Linear(4, 1), nn.Linear(4, 1)

    def forward(self, state, action):
        sa = torch.cat([state, action], 1)
        return self.l1(sa), self.l2(sa)

    def Q1(self, state, action):
        return self.l1(torch.cat([state, action], 1))

class TD3:
    def __init__(self):
        self.actor, self.critic = Actor(), Critic()
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-4)

    def train(self, replay_buffer):
        state, action, next_state, reward, not_done = replay_buffer.sample(256)
        with torch.no_grad():
            q1, q2 = self.critic_target(next_state, self.actor(next_state))
            target = {1} + not_done * 0.99 * torch.min(q1, q2)
        current1, current2 = self.critic(state, action)
        critic_loss = F.mse_loss(current1, target) + F.mse_loss(current2, target)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        actor_loss = {0}
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
"""
TWO_FUNCTIONS = """\
import torch
from torch import nn

q, q_target = nn.Linear(4, 1), nn.Linear(4, 1)
pi = nn.Sequential(nn.Linear(3, 1), nn.Tanh())
pi_optimizer, q_optimizer = torch.optim.Adam(pi.parameters()), torch.optim.Adam(q.parameters())

def compute_loss_q(o, a, r, o2, d):
    with torch.no_grad():
        backup = {1}r + 0.99 * (1 - d) * q_target(torch.cat([o2, pi(o2)], -1))
    return ((q(torch.cat([o, a], -1)) - backup) ** 2).mean()

def compute_loss_pi(o):
    return {0}q(torch.cat([o, pi(o)], -1)).mean()

def update(o, a, r, o2, d):
    q_optimizer.zero_grad()
    compute_loss_q(o, a, r, o2, d).backward()
    q_optimizer.step()
    pi_optimizer.zero_grad()
    loss_pi = compute_loss_pi(o)
    loss_pi.backward()
    pi_optimizer.step()
"""
ENCODER = """\
import torch
import torch.nn.functional as F

def loss_function(recon_x, x, mu, logvar):
    fit = F.binary_cross_entropy(recon_x, x.view(-1, 784), reduction="sum")
    divergence = {} * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return {}

def train(model, loader, optimizer, args):
    for x, _ in loader:
        optimizer.zero_grad()
        recon, mu, logvar = model(x)
        loss = loss_function(recon, x, mu, logvar)
        loss.backward()
        optimizer.step()
"""


class LossMaximised(StaticRule, code="S217", cause="LOS-CALC"):
    """The optimiser is given a loss with the wrong sign, and makes the model worse with every step.

    Seen are: minus an ordinary loss of the model's own prediction against the labels; a log-likelihood without its minus; a hinge
    `max(0, 1 + y * score)`; a Gaussian likelihood whose two terms have opposite signs; a policy's log-probability times its return, or
    PPO's ratio times the advantage, without the minus; a critic's value of the actor's action, without the minus; minus the divergence of a variational encoder. The loss falls without end while
    the error grows.

    Optimisers minimise: give them the loss, or minus the log-likelihood.
    """

    message = "This loss is minimised with the wrong sign: {}."
    triggers = (".backward(",)

    GOOD = (
        Snippet("plain", HEAD + LOOP.format("F.cross_entropy(net(x), y)")),
        Snippet("likelihood with its minus", HEAD + LOOP.format("-torch.distributions.Categorical(logits=net(x)).log_prob(y).mean()")),
        Snippet("one of two terms", HEAD + LOOP.format("F.cross_entropy(net(x), y) - 0.1 * F.cross_entropy(net(z), y)")),
        Snippet("unlearning", HEAD + "def unlearn(forget_loader):\n    for x, y in forget_loader:\n        loss = -F.cross_entropy(net(x), y)\n        loss.backward()\n        optimizer.step()\n\nunlearn(loader)\n"),
        Snippet("entropy of the policy", HEAD + "for state in loader:\n    dist = torch.distributions.Normal(net(state), 1.0)\n    loss = dist.log_prob(dist.rsample()).mean()\n"
                "    loss.backward()\n    optimizer.step()\n"),
        Snippet("hinge", HEAD + LOOP.format("torch.clamp(1 - net(x) * y, min=0).mean()")),
        Snippet("Gaussian likelihood", HEAD + "for x, y in loader:\n    mu, log_var = net(x).chunk(2, 1)\n    loss = 0.5 * (log_var + (y - mu) ** 2 / log_var.exp()).mean()\n    loss.backward()\n"),
        Snippet("an advantage in costs", PPO.format("batch.cost_adv", "batch.cost_adv", "torch.max(first, second)")),
        Snippet("an optimiser that maximises", POLICY.format("log_prob * R").replace("parameters())", "parameters(), maximize=True)")),
        Snippet("the smaller of two gains", PPO.format("batch.adv", "batch.adv", "-torch.min(first, second)")),
        Snippet("the smaller of two gains, whatever they are called", SURROGATE.format("ratios", "(-torch.min(surr1, surr2)).mean()")),
        Snippet("another ratio", SURROGATE.format("curr_log_probs", "torch.min(surr1, surr2).mean()")),
        Snippet("a critic of costs", DDPG.format("self.critic.Q1(state, self.actor(state)).mean()", "cost")),
        Snippet("a critic's value of what was done", DDPG.format("self.critic.Q1(state, action).mean()", "reward")),
        Snippet("conservative values", DDPG.format("(self.critic.Q1(state, self.actor(state)) - self.critic.Q1(state, action)).mean()", "reward")),
        Snippet("costs, in functions", TWO_FUNCTIONS.format("", "-")),
        Snippet("fit and divergence", ENCODER.format("-0.5", "fit + divergence")),
    )  # fmt: skip
    BAD = (
        mended("returns without a minus", POLICY.format("⟨log_prob * R → -(log_prob * R)⟩")),
        Snippet("by what they are", POLICY.format("lp * R").replace("log_prob,", "lp,") + "\nkept, rewards = [], []\nfor s in states:\n    dist = Categorical(policy(s))\n"
                "    action = dist.sample()\n    kept.append(dist.log_prob(action))\n    rewards.append(step(action))\nfinish(kept, rewards)\n", line=11),
        Snippet("likelihood times reward", "import torch\n\ndef learn(policy, optimizer, states, actions, rewards):\n    dist = policy(states)\n"
                "    loss = (dist.log_prob(actions) * rewards.detach()).mean()\n    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n", line=5),
        Snippet("gain of one ratio lowered", PPO.format("-batch.adv", "batch.adv", "torch.max(first, second)"), line=9),
        mended("a surrogate whose gain is called anything", SURROGATE.format("ratios", "⟨ → -⟩torch.min(surr1, surr2).mean()")),
        mended("an actor through its critic without a minus", DDPG.format("⟨ → -⟩self.critic.Q1(state, self.actor(state)).mean()", "reward")),
        Snippet("a value beside another term", DDPG.format("(self.critic(state, self.actor(state))[0] + 0.001 * self.actor(state) ** 2).mean()", "reward"), line=43),
        mended("in functions without a minus", TWO_FUNCTIONS.format("⟨ → -⟩", "")),
        Snippet("divergence with the wrong sign", ENCODER.format("0.5", "fit + divergence"), line=6),
        Snippet("divergence taken away", ENCODER.format("-0.5", "(fit - divergence) / x.size(0)"), line=6),
        Snippet("negated at backward", HEAD + "criterion = nn.MSELoss()\nfor x, y in loader:\n    loss = criterion(net(x), y)\n    (-loss).backward()\n    optimizer.step()\n", line=10),
        Snippet("likelihood without minus", HEAD + LOOP.format("torch.distributions.Normal(net(x), 1.0).log_prob(y).mean()"), line=9),
        Snippet("hinge turned round", HEAD + "def hinge(score, target):\n    return torch.clamp(1 + score * target, min=0).mean()\n\n" + LOOP.format("hinge(net(x), y)"), line=8),
        Snippet("Gaussian likelihood with one sign wrong", HEAD + "for x, y in loader:\n    mu, log_var = net(x)[:, :1], net(x)[:, 1:2]\n"
                "    likelihood = log_var - (y - mu) ** 2 / log_var.exp()\n    loss = -likelihood.mean()\n    loss.backward()\n    optimizer.step()\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        uses = {id(use.call): use for use in loss_uses(program)}
        for event in backward_calls(program):
            for loss in lost(event)[:1]:
                terms = signed_terms(loss)
                why = flipped_gaussian(terms or [])
                if not why and terms is not None and len(terms) == 1:
                    sign, value = terms[0]
                    if (
                        sign < 0
                        and id(value) in uses
                        and _is_plain_training(program, event, uses[id(value)].target, value)
                    ):
                        why = "minus an ordinary loss makes the model worse; drop the minus"
                    elif sign > 0 and (_is_likelihood(program, value) or is_flipped_hinge(value)):
                        is_hinge = not isinstance(value, Call) or value.method != "log_prob"
                        why = (
                            "a hinge is max(0, 1 - y * score)"
                            if is_hinge
                            else "a log-likelihood should be maximised; put a minus before it"
                        )
                flipped = None if why else self._flipped(program, event, loss, terms or [])
                if flipped is not None:
                    node, why = flipped
                    yield self.finding(
                        program, node, self.message.format(why), fix=_negated(program, node, terms)
                    )
                elif why:
                    yield self.finding(program, resolved(loss).node or event.node, self.message.format(why))

    def _flipped(
        self, program: Program, event: Event, loss: Value, terms: Terms
    ) -> tuple[ast.AST, str] | None:
        value = growing_divergence(terms)
        if value is not None:
            why = "it contains minus the divergence, which then grows without bound; the divergence is -0.5 * (1 + log_var - mu² - exp(log_var))"
            return value.node or event.node, why
        value = falling_gain(terms)
        is_through_critic = value is None and falling_value(program, loss) is not None
        if (value is None and not is_through_critic) or _is_meant_by_name(program, event):
            return None
        if _ascends(program):
            return None
        if value is not None:
            return value.node or event.node, "the likelihood of rewarded actions falls; put a minus before it"
        why = "the actor learns the actions that its critic values least; the critic's value belongs in it with a minus"
        return resolved(loss).node or event.node, why


def _negated(program: Program, node: ast.AST, terms: Terms | None) -> Fix | None:
    """A minus before a product, a minimum or a mean that is the whole loss; the other signs want more than that."""
    is_product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
    if not isinstance(node, ast.expr) or not (
        is_product or (isinstance(node, ast.Call) and len(terms or ()) == 1)
    ):
        return None
    return Fix("Put a minus before it", wrap(program.module_of(node), node, "-", ""))


def _ascends(program: Program) -> bool:
    """An optimiser that maximises, or weights that are moved up their gradient by hand."""
    if any("maximize" in made.call.keywords for made in made_optimisers(program)):
        return True
    return any(updated_by_hand(event) is not None for event in program.events)


def _is_plain_training(program: Program, event: Event, target: Value | None, value: Value) -> bool:
    """Labels of the loop, one backward in it, and a step of the optimiser that holds the very model."""
    loops = event.loops()
    if not loops or target is None or not is_from_loop(target) or _is_meant(program, event, loops[0]):
        return False
    inside = list(loops[0].body.events())
    if sum(is_backward(other) for other in inside) != 1:
        return False
    owners = [owner for other in inside if is_step(other) for owner in optimised(stepped(other)) or ()]
    held = {id(layer) for owner in owners for layer in layers_of(owner)} | {id(owner) for owner in owners}
    return any(key in held for key in reach(program, value).open)


def _is_meant(program: Program, event: Event, loop: Loop) -> bool:
    """Words for training against a loss on purpose, in the loop or the names of the functions around."""
    return bool(_MEANT.search(program.source(loop.node))) or _is_meant_by_name(program, event)


def _is_meant_by_name(program: Program, event: Event) -> bool:
    return any(_MEANT_NAME.search(getattr(above, "name", "")) for above in program.above(event.node))


def _is_likelihood(program: Program, value: Value) -> bool:
    if not isinstance(value, Call) or value.method != "log_prob" or len(value.args) != 1:
        return False
    if value.receiver is None:
        return False
    made = resolved(value.receiver)
    is_distribution = isinstance(made, Call) and made.qualified.startswith("torch.distributions.")
    return is_distribution and is_computed(value.receiver) and not _has_sample(value.args[0])


def _has_sample(value: Value) -> bool:
    """Drawn or computed by the model itself: an entropy, no likelihood of data."""
    return is_computed(value) or any(
        isinstance(part, Call) and part.method in ("sample", "rsample", "act") for part in walk(value)
    )
