"""Methods that are not called, called on the wrong object, or past the hooks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.examples import TORCH, net
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import CallEvent, before
from netmend.program.engine.joined import SHARING
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Class, Either, Function, Instance, Value, resolved
from netmend.program.meaning.losses import loss_kind
from netmend.program.meaning.number_types import is_tensor
from netmend.program.meaning.operations import walk
from netmend.program.meaning.training import backward_calls, grad_is_off
from netmend.program.text.edits import replace, wrap
from netmend.vocabulary.finding import Fix

NET = net("fc = nn.Linear(4, 2)", forward="        return self.fc(x)\n\n")


class ForwardCalled(StaticRule, code="S703", cause="API-USAGE", advisory=True):
    """`model.forward(x)` is called in place of `model(x)`.

    Calling the model runs hooks too: those of `torch.compile`, DDP, FSDP, pruning, spectral norm, and of tools that watch a run.
    With `forward` called directly they are all skipped, without a message. Told where the result is trained on, once per file.

    Call the model: `model(x)`.
    """

    message = "forward() is called directly, which skips every hook; call the model itself: model(x)."
    triggers = (".forward(",)

    GOOD = (
        Snippet("the model is called", NET + "net = Net()\nout = net(torch.randn(2, 4))\n"),
        Snippet("forward of the class above", NET + "class Wide(Net):\n    def forward(self, x):\n        return super().forward(x) * 2\n\nout = Wide()(x)\n"),
        Snippet("a function with a forward", "import torch\n\nclass Square(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
                "        return x * x\n\nSquare.forward(None, 3)\n"),
    )  # fmt: skip
    BAD = (
        mended("in the loop", NET + "net = Net()\nfor x, y in loader:\n    out = net⟨.forward → ⟩(x)\n    out.mean().backward()\n"),
        Snippet("in a function", "import torch\n\ndef train(model: torch.nn.Module, loader, criterion, optimizer):\n    for x, y in loader:\n"
                "        optimizer.zero_grad()\n        loss = criterion(model.forward(x), y)\n        loss.backward()\n        optimizer.step()\n", line=6),
        Snippet("a container of layers", "from torch import nn\n\nnet = nn.Sequential(nn.Linear(4, 2), nn.ReLU())\nout = net.forward(x)\nout.sum().backward()\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        places: dict[ast.AST, None] = {}
        learnt: set[int] | None = None
        for event in program.calls:
            node = event.node
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr != "forward":
                continue
            if not _is_model(_receiver(event)) or grad_is_off(event) or _in_a_module(program, node):
                continue
            if learnt is None:
                learnt = {id(value) for loss in backward_calls(program) for value in _all(loss.call)}
            if id(event.value) in learnt:
                places[node] = None
        for node in list(places)[:1]:
            assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            edits = replace(program, node.func, program.source(node.func.value))
            others = [("forward() here too", other) for other in list(places)[1:]]
            yield self.finding(program, node, fix=Fix("Call the model", edits), see=others)


def _all(backward: Call) -> Iterator[Value]:
    """Everything that a backward goes through; followed calls are looked at from outside and inside."""
    for value in walk(backward.receiver):
        yield value
        if isinstance(value, Call) and value.result is not None:
            yield from value.args


def _receiver(event: CallEvent) -> Value | None:
    call = event.call
    if isinstance(call.function, Function):
        return call.function.owner if call.function.name == "forward" else None
    return resolved(call.receiver)


def _is_model(value: Value | None) -> bool:
    if isinstance(value, Instance):
        return value.cls.inherits("torch.nn.Module") and value.cls.method("__call__") is None
    if isinstance(value, Call):
        return value.qualified.startswith("torch.nn.") and not value.qualified.startswith(
            "torch.nn.functional."
        )
    return getattr(value, "annotation", "") == "torch.nn.Module"


def _in_a_module(program: Program, node: ast.AST) -> bool:
    """Inside a class of modules there are reasons for it: the outer call has run the hooks."""
    for above in program.above(node):
        if isinstance(above, ast.ClassDef):
            cls = program.machine.classes.get(id(above))
            return (
                not isinstance(cls, Class)
                or not cls.is_known
                or cls.inherits("torch.nn.", "pytorch_lightning.")
            )
    return False


_METHODS = ("step", "zero_grad", "backward", "eval", "train")
_ENDS = ("\n", "  #", " #", ";", "\r")
UNCALLED_HEAD = """\
import torch

for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
"""


class MethodNotCalled(StaticRule, code="S707", cause="API-CALL-MISSING"):
    """A method stands alone on a line without brackets: `optimizer.step`.

    Python looks the method up and throws it away. Nothing is called: without `step()` the weights stay as they are, without
    `zero_grad()` gradients pile up, without `eval()` dropout stays on.

    Write the brackets: `optimizer.step()`.
    """

    message = "The method is named but not called; add the parentheses."
    triggers = tuple(f".{method}{end}" for method in _METHODS for end in _ENDS)

    GOOD = (
        Snippet("called", UNCALLED_HEAD + "    optimizer.step()\n"),
    )  # fmt: skip
    BAD = (
        mended("step", UNCALLED_HEAD + "    optimizer.step⟨ → ()⟩\n"),
        mended("eval in a class", "import torch\n\nclass Trainer:\n    def validate(self):\n        self.model.eval⟨ → ()⟩  # no dropout\n"
                "        return run(self.model)\n"),
        Snippet("backward", "import torch\n\ndef train(model, loader, opt):\n    for x in loader:\n        opt.zero_grad()\n        model(x).sum().backward\n        opt.step()\n",
                line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for node in program.nodes:
            if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Attribute):
                continue
            method = node.value
            if method.attr not in _METHODS or any(
                isinstance(above, ast.Try | ast.With) for above in _blocks(program, node)
            ):
                continue
            edits = wrap(program, method, "", "()")
            text = f"{method.attr} is named but not called; write {method.attr}()."
            yield self.finding(program, method, text, fix=Fix("Call it", edits, "safe"))


def _blocks(program: Program, node: ast.AST) -> Iterator[ast.AST]:
    """What stands around, up to the function: a `try` or a `with` may be about the look-up itself."""
    for above in program.above(node):
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            return
        if isinstance(above, ast.With) and not any(
            "raises" in program.source(item.context_expr).lower() for item in above.items
        ):
            continue
        if isinstance(above, ast.Try) and all(map(_is_about_more, above.handlers)):
            continue
        yield above


def _is_about_more(handler: ast.ExceptHandler) -> bool:
    """Does it catch something that a look-up does not raise: `except KeyboardInterrupt:`?"""
    caught = ast.unparse(handler.type) if handler.type is not None else ""
    return bool(caught) and not any(word in caught for word in ("Attribute", "Exception"))


WRAPPED_HEAD = f"""{TORCH}\
from torch.nn.parallel import DistributedDataParallel as DDP

net = nn.Linear(12, 3)
"""
LOOP = "for x, y in loader:\n    loss = nn.functional.cross_entropy({}, y)\n    loss.backward()\n    optimizer.step()\n    optimizer.zero_grad()\n"


class WrappedModelBypassed(StaticRule, code="S709", cause="GPU-PARALLEL"):
    """The training step runs the inner model (`ddp.module(x)`, or the model before it was wrapped), not the wrapper.

    `DistributedDataParallel` averages gradients only when its own forward ran. Called past it, every process follows its own
    gradients: the replicas drift apart, without a message.

    Call the wrapper in training; use `.module` for saving and for evaluation.
    """

    message = "The training step bypasses the parallel wrapper, so gradients are not averaged; call the wrapper itself."
    triggers = ("DistributedDataParallel", "FullyShardedDataParallel")

    GOOD = (
        Snippet("the wrapper is called", WRAPPED_HEAD + "net = DDP(net)\n" + LOOP.format("net(x)")),
        Snippet("wrapped on one path", WRAPPED_HEAD + "if distributed:\n    net = DDP(net)\n" + LOOP.format("net(x)")),
    )  # fmt: skip
    BAD = (
        Snippet("module", WRAPPED_HEAD + "net = DDP(net)\n" + LOOP.format("net.module(x)"), line=8),
        Snippet("the model before", WRAPPED_HEAD + "ddp = DDP(net, device_ids=[0])\noptimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)\n" + LOOP.format("net(x)"), line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        wraps = [event for event in program.calls_of(*SHARING) if event.call.args]
        if not wraps:
            return
        through = {id(event.node) for event in program.calls if _calls_wrapper(event)}
        suspects = {
            id(event.value): event
            for event in program.calls
            if id(event.node) not in through and _goes_past(event, wraps)
        }
        if not suspects:
            return
        for backward in backward_calls(program):
            call = backward.call
            for value in walk(call.receiver):
                event = suspects.pop(id(value), None)
                if event is not None and not grad_is_off(event):
                    yield self.finding(program, event.node)


def _calls_wrapper(event: CallEvent) -> bool:
    call = event.call
    function = resolved(call.function)
    options = function.options if isinstance(function, Either) else (function,)
    return any(isinstance(option, Call) and option.qualified in SHARING for option in options)


def _goes_past(event: CallEvent, wraps: list[CallEvent]) -> bool:
    call = event.call
    if call.method == "module":
        return isinstance(made := resolved(call.receiver or call), Call) and made.qualified in SHARING
    model: Value = resolved(call.function)
    return any(before(wrap, event) and resolved(wrap.value.args[0]) is model for wrap in wraps)


# What is asked of which object, and whose method it is.
_WRONG = {
    "optimizer": {"backward": "the loss", "eval": "the model", "train": "the model"},
    "scheduler": {"zero_grad": "the optimizer", "backward": "the loss"},
    "tensor": {"zero_grad": "the optimizer", "step": "the optimizer", "eval": "the model"},
    "model": {"step": "the optimizer", "backward": "the loss"},
}  # fmt: skip
WRONG_HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nloss = nn.functional.mse_loss(net(x), y)\n"


class MethodOfWrongObject(StaticRule, code="S719", cause="API-USAGE"):
    """A method is called on an object that does not have it: `loss.zero_grad()`, `optimizer.backward()`, `model.step()`.

    The program stops with an AttributeError there.

    `backward()` belongs to the loss, `step()` and `zero_grad()` to the optimizer, `train()` and `eval()` to the model.
    """

    message = "The object has no such method."
    triggers = (".zero_grad(", ".step(", ".backward(", ".eval(", ".train(")

    GOOD = (
        Snippet("each its own", WRONG_HEAD + "optimizer.zero_grad()\nloss.backward()\noptimizer.step()\nnet.zero_grad()\nnet.eval()\n"),
        Snippet("a model from elsewhere", "import torch\n\ndef rollout(model, actions):\n    for action in actions:\n        model.step(action)\n"),
        Snippet("made by a class method", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n\n"
                "    @classmethod\n    def load(cls, path):\n        model = cls(torch.load(path))\n        return model.eval()\n"),
        Snippet("a criterion is a module", WRONG_HEAD + "criterion = nn.MSELoss()\ncriterion.zero_grad()\ncriterion.eval()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("zero_grad of the loss", WRONG_HEAD + "loss.zero_grad()\nloss.backward()\n", line=7),
        Snippet("backward of the optimizer", WRONG_HEAD + "optimizer.zero_grad()\noptimizer.backward(loss)\n", line=8),
        Snippet("step of the model", WRONG_HEAD + "loss.backward()\nnet.step()\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        names = {name for wrong in _WRONG.values() for name in wrong}
        for event in program.methods_of(*names):
            call = event.call
            kind = _kind(call.receiver)
            owner = _WRONG.get(kind, {}).get(call.method)
            if owner is not None and not any(
                isinstance(above, ast.IfExp) for above in program.above(event.node)
            ):
                what = "The loss is a tensor and" if kind == "tensor" else f"The {kind}"
                yield self.finding(
                    program, event.node, f"{what} has no {call.method}(); it belongs to {owner}."
                )


def _kind(value: Value | None) -> str:
    given = value
    value = resolved(value)
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
