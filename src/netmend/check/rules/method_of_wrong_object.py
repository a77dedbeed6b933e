from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Instance, Value, resolved
from netmend.program.meaning.losses import loss_kind
from netmend.program.meaning.tensors import is_tensor
from netmend.vocabulary.finding import Finding

# What is asked of which object, and whose method it is.
_WRONG = {
    "optimizer": {"backward": "the loss", "eval": "the model", "train": "the model"},
    "scheduler": {"zero_grad": "the optimizer", "backward": "the loss"},
    "tensor": {"zero_grad": "the optimizer", "step": "the optimizer", "eval": "the model"},
    "model": {"step": "the optimizer", "backward": "the loss"},
}  # fmt: skip
HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nloss = nn.functional.mse_loss(net(x), y)\n"


@register
class MethodOfWrongObject(StaticRule):
    """A method is called on an object that does not have it: `loss.zero_grad()`, `optimizer.backward()`, `model.step()`.

    The program stops with an AttributeError there.

    `backward()` belongs to the loss, `step()` and `zero_grad()` to the optimizer, `train()` and `eval()` to the model.
    """

    code = "S719"
    cause = "API-USAGE"
    message = "The object has no such method."
    triggers = (".zero_grad(", ".step(", ".backward(", ".eval(", ".train(")

    GOOD = (
        Snippet("each its own", HEAD + "optimizer.zero_grad()\nloss.backward()\noptimizer.step()\nnet.zero_grad()\nnet.eval()\n"),
        Snippet("an engine that steps", "import deepspeed\nimport torch\n\nmodel, _, _, _ = deepspeed.initialize(model=net)\nmodel.backward(loss)\nmodel.step()\n"),
        Snippet("a model with its own step", "import torch\nfrom torch import nn\n\nclass World(nn.Module):\n    def step(self, action):\n        return action\n\nWorld().step(1)\n"),
        Snippet("a model from elsewhere", "import torch\n\ndef rollout(model, actions):\n    for action in actions:\n        model.step(action)\n"),
        Snippet("made by a class method", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n\n"
                "    @classmethod\n    def load(cls, path):\n        model = cls(torch.load(path))\n        return model.eval()\n"),
        Snippet("a criterion is a module", HEAD + "criterion = nn.MSELoss()\ncriterion.zero_grad()\ncriterion.eval()\n"),
        Snippet("an optimizer of its own", "import torch\n\nclass Free(torch.optim.Optimizer):\n    def eval(self):\n        pass\n\nFree(p, {}).eval()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("zero_grad of the loss", HEAD + "loss.zero_grad()\nloss.backward()\n", line=7),
        Snippet("backward of the optimizer", HEAD + "optimizer.zero_grad()\noptimizer.backward(loss)\n", line=8),
        Snippet("step of the model", HEAD + "loss.backward()\nnet.step()\n", line=8),
        Snippet("in a class", "import torch\nfrom torch import nn\n\nclass Trainer:\n    def __init__(self, net):\n        self.net = net\n        self.opt = torch.optim.Adam(net.parameters())\n\n"
                "    def step(self, x, y):\n        loss = nn.functional.cross_entropy(self.net(x), y)\n        self.opt.backward()\n        self.opt.step()\n", line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        names = {name for wrong in _WRONG.values() for name in wrong}
        for event in program.methods_of(*names):
            call = event.call
            kind = _kind(call.receiver) if call is not None else ""
            owner = _WRONG.get(kind, {}).get(call.method) if call is not None else None
            if (
                call is not None
                and owner is not None
                and not any(isinstance(above, ast.IfExp) for above in program.above(event.node))
            ):
                what = "The loss is a tensor and" if kind == "tensor" else f"The {kind}"
                yield self.finding(
                    program, event.node, f"{what} has no {call.method}(); it belongs to {owner}."
                )


def _kind(value: Value | None) -> str:
    given = value
    value = resolved(value) if value is not None else None
    if isinstance(value, Call):
        name = value.qualified
        if name.startswith("torch.optim.lr_scheduler.") and name.rpartition(".")[2][:1].isupper():
            return "scheduler"
        if name.startswith("torch.optim.") and name.count(".") == 2 and name.rpartition(".")[2][:1].isupper():
            return "optimizer"
        if (
            name.startswith("torch.nn.")
            and name.count(".") == 2
            and name[9:10].isupper()
            and not loss_kind(value)
        ):
            return "" if name in ("torch.nn.Parameter", "torch.nn.Module") else "model"
        return "tensor" if is_tensor(given) else ""
    if isinstance(value, Instance):
        is_plain = (
            value.cls.is_known
            and value.cls.inherits("torch.nn.Module")
            and value.cls.method("__getattr__") is None
        )
        return (
            "model"
            if is_plain and not any(part.inherits("pytorch_lightning.") for part in (value.cls,))
            else ""
        )
    return "tensor" if is_tensor(given) else ""
