"""The loss is computed, but no gradient reaches the weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.examples import TORCH, TORCH_F
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import CallEvent, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const, Value, resolved
from netmend.program.meaning.gradient_flow import (
    Cut,
    Reach,
    compared,
    is_computed,
    is_forced,
    layers_of,
    lost,
    reach,
)
from netmend.program.meaning.roles import optimised
from netmend.program.meaning.training import backward_calls, is_left_to_caller, is_step, stepped
from netmend.vocabulary.finding import Finding

PATH_HEAD = f"""{TORCH_F}
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
PARTS = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(4, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.features(x){})

net = Net()
{}optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
"""
LOOP = "for x, y in loader:\n    optimizer.zero_grad()\n    loss = {}\n    loss.backward()\n    optimizer.step()\n"


class GradientPathCut(StaticRule, code="S222", cause="LOS-GRAPH-CUT"):
    """Every path from trainable weights to the loss goes through something that stops gradients.

    `.detach()`, `.data`, `.item()`, `.numpy()`, `torch.tensor(prediction)`, argmax, rounding, comparisons, whole-number types and `no_grad`
    let no gradient through. `backward()` then fails, or the layers behind the cut keep their random start while the rest trains.

    Compute the loss from the prediction itself, in torch operations with a gradient; detach only what must not learn.
    """

    message = "{} stops the gradient here: {} can never learn from this loss."
    triggers = (".backward(",)

    GOOD = (
        Snippet("plain", PATH_HEAD + LOOP.format("F.cross_entropy(net(x), y)")),
        Snippet("generator and discriminator", "import torch\nfrom torch import nn\nG, D = nn.Linear(2, 4), nn.Linear(4, 1)\nopt_g = torch.optim.Adam(G.parameters())\n"
                "opt_d = torch.optim.Adam(D.parameters())\nfor real in loader:\n    fake = G(torch.randn(8, 2))\n"
                "    loss_d = D(fake.detach()).mean() - D(real).mean()\n    loss_d.backward()\n    opt_d.step()\n    loss_g = -D(fake).mean()\n    loss_g.backward()\n    opt_g.step()\n"),
        Snippet("a frozen, loaded backbone", PARTS.format(".detach()", "net.features.load_state_dict(torch.load('features.pt'))\n")),
        Snippet("result written in place", PATH_HEAD + "for x, y in loader:\n    out = torch.zeros(8, 3)\n    out[:4] = net(x)\n    out[4:] = net(z).detach()\n    F.mse_loss(out, y).backward()\n"),
        Snippet("a step shared with evaluation", PATH_HEAD + "def step(model, x, y, opt=None):\n    loss = F.cross_entropy(model(x), y)\n    if opt is not None:\n"
                "        loss.backward()\n        opt.step()\n        opt.zero_grad()\n    return loss.item()\n\nfor batch in loader:\n    step(net, *batch, optimizer)\n"
                "with torch.no_grad():\n    print(sum(step(net, *batch) for batch in held_out))\n"),
        Snippet("a temperature that learns from what the network gives", PATH_HEAD + "log_alpha = torch.zeros(1)\nlog_alpha.requires_grad = True\n"
                "tune = torch.optim.Adam([log_alpha])\nfor x in loader:\n    optimizer.zero_grad()\n    (net(x) * log_alpha.exp().detach()).mean().backward()\n    optimizer.step()\n"
                "    tune.zero_grad()\n    loss = -(log_alpha.exp() * (net(x) + 3.0).detach()).mean()\n    loss.backward()\n    tune.step()\n"),
        Snippet("a weight that is switched on by hand", PATH_HEAD + "scale = torch.ones(3)\nscale.requires_grad_(True)\ntune = torch.optim.SGD([scale], lr=0.1)\n"
                "for x, y in loader:\n    tune.zero_grad()\n    loss = F.mse_loss(scale * net(x).detach(), y)\n    loss.backward()\n    tune.step()\n"),
        Snippet("what an optimiser holds", PATH_HEAD + "prompt = make_prompt(4)\ntune = torch.optim.SGD([prompt], lr=0.1)\nfor x, y in loader:\n    tune.zero_grad()\n"
                "    loss = F.mse_loss(prompt + net(x).detach(), y)\n    loss.backward()\n    tune.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("a leaf that nobody trains", PATH_HEAD + "scale = torch.ones(3)\n" + LOOP.format("F.mse_loss(scale * net(x).detach(), y)"), line=10),
        Snippet("argmax", PATH_HEAD + LOOP.format("F.mse_loss(net(x).argmax(dim=1).float(), y.float())"), line=9),
        Snippet("under no_grad", PATH_HEAD + "def train(model, loader, optimizer):\n    for x, y in loader:\n        with torch.no_grad():\n            out = model(x)\n"
                "        loss = F.cross_entropy(out, y)\n        loss.backward()\n        optimizer.step()\n\ntrain(net, loader, optimizer)\n", line=10),
        Snippet("between two parts", PARTS.format(".detach()", ""), line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        reaches = [
            (event, loss, reach(program, loss))
            for event in backward_calls(program)
            if not is_left_to_caller(event)
            for loss in lost(event)
            if not is_forced(loss)
        ]
        for event, loss, found in reaches:
            if not found.open and not found.unknown and found.behind and compared(loss) is None:
                layer, cut = next(iter(found.behind.values()))
                yield self._cut(program, event, cut, "nothing in the model")
        for start, layer, cut in _left_behind(program, [(event, found) for event, _, found in reaches]):
            yield self._cut(program, start, cut, _name(program, layer))

    def _cut(self, program: Program, event: Event, cut: Cut, who: str) -> Finding | None:
        message = self.message.format(cut.title, who).replace(
            "nothing in the model can never", "nothing in the model can"
        )
        return self.finding(program, cut.node, message, see=[("backward() starts here", event.node)])


def _left_behind(
    program: Program, reaches: list[tuple[CallEvent, Reach]]
) -> Iterator[tuple[CallEvent, Value, Cut]]:
    """Layers that the optimiser holds and that no loss of the program gets to."""
    if any(found.unknown for _, found in reaches) or _is_set_by_hand(program):
        return
    reached = {key for _, found in reaches for key in found.open}
    held: set[int] | None = None
    for event, found in reaches:
        for layer, cut in found.hidden:
            if id(layer) in reached or not program.entry_of(event).complete:
                continue
            held = _held(program) if held is None else held
            if id(layer) in held:
                yield event, layer, cut


def _held(program: Program) -> set[int]:
    owners = [owner for event in program.calls if is_step(event) for owner in optimised(stepped(event)) or ()]
    return {id(layer) for owner in owners for layer in layers_of(owner)}


def _is_set_by_hand(program: Program) -> bool:
    """Weights are loaded, copied or frozen somewhere: a cut is then what was meant."""
    if program.methods_of(
        "load_state_dict", "from_pretrained", "copy_", "lerp_", "update_parameters", "requires_grad_"
    ):
        return True
    return any(
        event.target is not None
        and event.target.name == "requires_grad"
        and not (isinstance(event.value, Const) and event.value.value)
        for event in program.events
    )


def _name(program: Program, layer: Value) -> str:
    above = program.parent(layer.node) if layer.node is not None else None
    target = above.targets[0] if isinstance(above, ast.Assign) else None
    return f"`{ast.unparse(target)}`" if target is not None else "a layer before it"


FORCED_HEAD = f"""{TORCH}\
from torch.autograd import Variable

net = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss()
"""


class GradientForcedOnLoss(StaticRule, code="S223", cause="LOS-GRAPH-CUT"):
    """The loss is told to require a gradient just before backward().

    A loss that was computed from trainable weights requires a gradient by itself. Forcing it makes the error message go away and leaves
    the loss a lonely leaf: `backward()` runs, no weight gets a gradient, nothing is learned.

    Remove it and find what cuts the path: `.data`, `.item()`, `.detach()`, numpy, argmax, `no_grad`, or frozen weights.
    """

    message = "Forcing requires_grad on the loss hides a cut graph: backward() reaches no weight. Remove it and fix the cut."
    triggers = ("requires_grad = True", "requires_grad=True", "requires_grad_(")
    patterns = (r"\.backward\(",)

    GOOD = (
        Snippet("input that needs a gradient", FORCED_HEAD + "x.requires_grad = True\nloss = criterion(net(x), y)\nloss.backward()\n"),
        Snippet("gradient handed over in two steps", FORCED_HEAD + "h = net(x)\nleaf = h.detach().requires_grad_()\nloss = criterion(leaf, y)\nloss.backward()\nh.backward(leaf.grad)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("attribute set", FORCED_HEAD + "out = net(x).argmax(1).float()\nloss = nn.functional.mse_loss(out, y)\nloss.requires_grad = True\nloss.backward()\n", line=9),
        Snippet("new tensor from the number", FORCED_HEAD + "loss = torch.tensor(criterion(net(x), y).item(), requires_grad=True)\nloss.backward()\n", line=7),
        Snippet("old variable", FORCED_HEAD + "for x, y in loader:\n    loss = criterion(net(x), y)\n    loss = Variable(loss.data, requires_grad=True)\n    loss.backward()\n", line=9),
        Snippet("as a method", FORCED_HEAD + "loss = criterion(net(x).detach(), y).requires_grad_()\nloss.backward()\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        stores: dict[int, Event] | None = None
        for event in backward_calls(program):
            if stores is None:
                stores = _stores(program)
            for loss in lost(event)[:1]:
                value = resolved(loss)
                store = stores.get(id(value))
                if store is not None and store.order < event.order and is_computed(value):
                    yield self.finding(program, store.node, see=[("backward()", event.node)])
                elif is_forced(value) and compared(value) is None:
                    yield self.finding(program, value.node or event.node, see=[("backward()", event.node)])


def _stores(program: Program) -> dict[int, Event]:
    """`value.requires_grad = True`, by value."""
    return {
        id(resolved(event.target.base)): event
        for event in program.stores
        if event.target.name == "requires_grad"
        and event.target.base is not None
        and isinstance(event.value, Const)
        and event.value.value is True
    }


ACCURACY_HEAD = f"""{TORCH}
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""


class AccuracyAsLoss(StaticRule, code="S224", cause="LOS-GRAPH-CUT"):
    """backward() starts from an accuracy: the share of predictions that equal the labels.

    A comparison has no gradient. `backward()` fails with "does not require grad", or, where that was silenced, no weight ever changes.

    Train on a loss with a gradient (cross-entropy, BCEWithLogits) and only report the accuracy.
    """

    message = "An accuracy has no gradient; call backward() on a loss such as cross-entropy."
    triggers = (".backward(",)

    GOOD = (
        Snippet("accuracy beside the loss", ACCURACY_HEAD + "out = net(x)\nloss = nn.functional.cross_entropy(out, y)\naccuracy = (out.argmax(1) == y).float().mean()\n"
                "loss.backward()\nprint(accuracy)\n"),
        Snippet("soft accuracy", ACCURACY_HEAD + "p = net(x).softmax(1)\n(1 - p.gather(1, y[:, None]).mean()).backward()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("error rate", ACCURACY_HEAD + "for x, y in loader:\n    accuracy = (net(x).argmax(1) == y).float().mean()\n    loss = 1 - accuracy\n    loss.backward()\n    optimizer.step()\n", line=9),
        Snippet("forced to need a gradient", ACCURACY_HEAD + "wrong = (net(x).argmax(dim=1) != y).float().sum()\nwrong.requires_grad_().backward()\n", line=7),
        Snippet("in a helper", ACCURACY_HEAD + "def accuracy(out, y):\n    return out.argmax(1).eq(y).float().mean()\n\nloss = -accuracy(net(x), y)\nloss.backward()\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in backward_calls(program):
            for loss in lost(event)[:1]:
                node = compared(loss)
                if node is not None:
                    yield self.finding(program, event.node, see=[("the comparison", node)])
