from __future__ import annotations

import ast
from dataclasses import dataclass

from netmend.check.rule import NOWHERE, Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import Class
from netmend.program.meaning.formulas import Formula, NotElementwise
from netmend.program.text.queries import inside

FORWARD = """\
import torch
from torch.autograd import Function

class Bump(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return {0}

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return {1}
"""
_POINTS = (-2.71, -1.93, -1.37, -0.83, -0.41, -0.17, 0.13, 0.47, 0.79, 1.31, 1.87, 2.63)
_STEP = 1e-5
_CLOSE = 0.05  # relative; hand-written approximations of a slope are this near


class CustomBackwardWrong(StaticRule, code="S340", cause="TRN-GRAD", in_tests=False):
    """The `backward` of an `autograd.Function` does not compute the slope of its `forward`.

    Training follows what `backward` returns. With a wrong sign the layers in front are pushed uphill, with a wrong formula in a
    wrong direction; the loss falls slowly or not at all, and no error says why. The formulas were compared at several inputs.

    Derive the formula again, and check it with `torch.autograd.gradcheck` in float64.
    """

    message = (
        "backward() is not the derivative of forward(): at {0} the slope is {1:.3g}, but this gives {2:.3g}."
    )
    triggers = ("autograd.Function", "autograd import Function", "(Function)")
    patterns = (NOWHERE,)  # read from the text alone

    GOOD = (
        Snippet("right", FORWARD.format("2 * x / (1 + x * x)", "grad * 2 * (1 - x * x) / (1 + x * x) ** 2")),
        Snippet("rounded, straight through", FORWARD.format("torch.round(x)", "grad")),
        Snippet("gradient reversal", FORWARD.format("x.clone()", "-0.1 * grad")),
        Snippet("guided", FORWARD.format("x.clamp(min=0)", "grad * (x > 0) * (grad > 0)")),
        Snippet("not elementwise", FORWARD.format("x.softmax(1)", "grad * x")),
        Snippet("kept by attribute", FORWARD.format("torch.tanh(x)", "grad * ctx.slope").replace("        return torch.tanh(x)",
                "        y = torch.tanh(x)\n        ctx.slope = 1 - y * y\n        return y")),
        Snippet("masked", "import torch\n\nclass Leaky(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n"
                "        return torch.where(x > 0, x, 0.1 * x)\n\n    @staticmethod\n    def backward(ctx, g):\n        x, = ctx.saved_tensors\n"
                "        out = g.clone()\n        out[x < 0] *= 0.1\n        return out\n"),
        Snippet("an average for the backward alone", "import torch\n\nclass LogOfMean(torch.autograd.Function):\n    @staticmethod\n"
                "    def forward(ctx, input, average):\n        ctx.save_for_backward(average)\n        return input.log()\n\n    @staticmethod\n"
                "    def backward(ctx, grad):\n        average, = ctx.saved_tensors\n        return grad / average, None\n"),
        Snippet("gradient clipped on purpose", FORWARD.format("x * x", "(2 * x * grad).clamp(-1, 1)")),
    )  # fmt: skip
    BAD = (
        Snippet("sign", FORWARD.format("2 * x / (1 + x * x)", "grad * 2 * (x * x - 1) / (1 + x * x) ** 2"), line=13),
        Snippet("odd where it is even", FORWARD.format("torch.sign(x) * x.abs() ** 3 / (1 + x.abs() ** 3)", "grad * 3 * x / (1 + x.abs() ** 3) ** 2"), line=13),
        Snippet("of the output", "import torch\n\nclass Squash(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, input):\n"
                "        out = torch.sigmoid(input)\n        ctx.save_for_backward(out)\n        return out\n\n    @staticmethod\n"
                "    def backward(ctx, grad_output):\n        out = ctx.saved_tensors[0]\n        grad_input = grad_output * out * (1 + out)\n"
                "        return grad_input\n", line=14),
        Snippet("slope of one side only", "import torch\nfrom torch import autograd\n\nclass Huberish(autograd.Function):\n    @staticmethod\n"
                "    def forward(ctx, x, width):\n        ctx.save_for_backward(x)\n        ctx.width = width\n        return torch.sqrt(x ** 2 + width ** 2)\n\n"
                "    @staticmethod\n    def backward(ctx, grad):\n        x, = ctx.saved_tensors\n        return grad * x.abs() / torch.sqrt(x.pow(2) + ctx.width ** 2), None\n", line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        constants = _constants(program.tree)
        for cls in program.classes:
            pair = _pair(cls)
            wrong = _wrong(*pair, constants) if pair is not None else None
            if pair is None or wrong is None:
                continue
            node = next(inside(pair[1], ast.Return))
            yield self.finding(program, node, self.message.format(wrong.where, wrong.slope, wrong.given))


@dataclass(frozen=True)
class _Wrong:
    where: str
    slope: float
    given: float


def _pair(cls: Class) -> tuple[ast.FunctionDef, ast.FunctionDef] | None:
    forward, backward = cls.methods.get("forward"), cls.methods.get("backward")
    if forward is None or backward is None or "setup_context" in cls.methods:
        return None
    if not cls.inherits("torch.autograd.Function", "torch.autograd.function.Function"):
        return None
    one, other = forward.definition, backward.definition
    return (one, other) if isinstance(one, ast.FunctionDef) and isinstance(other, ast.FunctionDef) else None


def _constants(tree: ast.Module) -> dict[str, float]:
    found: dict[str, float] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.Constant):
            target, value = node.targets[0], node.value.value
            if isinstance(target, ast.Name) and isinstance(value, int | float):
                found[target.id] = float(value)
    return found


def _wrong(forward: ast.FunctionDef, backward: ast.FunctionDef, constants: dict[str, float]) -> _Wrong | None:
    """The first input at which `backward` contradicts `forward` in a way that nobody means."""
    count = len(forward.args.posonlyargs) + len(forward.args.args) - 1
    if not 1 <= count <= 4:
        return None
    name = forward.args.args[1].arg if len(forward.args.args) > 1 else "x"
    seen: list[tuple[float, float, float]] = []
    for place, point in enumerate(_POINTS):
        others = [0.6 + 0.1 * ((place + 3 * extra) % 7) for extra in range(count - 1)]
        try:
            seen.append((point, *_slopes(forward, backward, [point, *others], constants)))
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        except (NotElementwise, IndexError, TypeError):
            return None
    slopes = [slope for _, slope, _ in seen if abs(slope) > 1e-6]
    if len(seen) < 6 or len(slopes) < 4 or max(slopes) - min(slopes) < 1e-4 * max(map(abs, slopes)):
        return None  # constant pieces have stand-ins, straight lines are reversed or scaled on purpose
    if len(slopes) < len(seen):
        return None
    ratios = [(given / slope, point, slope, given) for point, slope, given in seen]
    if any(given == 0 for _, _, given in seen):
        return None
    typical = sorted(ratio for ratio, *_ in ratios)[len(ratios) // 2]
    worst = max(ratios, key=lambda item: abs(item[0] - 1))
    is_scaled = typical > 0 and all(abs(ratio - typical) < _CLOSE * typical for ratio, *_ in ratios)
    if is_scaled:
        return None
    return _Wrong(f"{name} = {worst[1]:g}", worst[2], worst[3])


def _slopes(
    forward: ast.FunctionDef, backward: ast.FunctionDef, inputs: list[float], constants: dict[str, float]
) -> tuple[float, float]:
    """The slope of `forward` in its first argument, and what `backward` gives for it."""

    def value(shift: float, context: dict[str, object]) -> float:
        found = Formula(context, constants).run(forward, [inputs[0] + shift, *inputs[1:]])
        if len(found) != 1 or found[0] is None:
            raise NotElementwise
        return found[0]

    context: dict[str, object] = {}
    middle = value(0.0, context)
    for place in range(1, len(inputs)):
        moved = [number * 1.1 if each == place else number for each, number in enumerate(inputs)]
        if Formula({}, constants).run(forward, moved)[0] == middle:
            raise NotElementwise  # given for the backward alone: it is meant to differ
    slope = (value(_STEP, {}) - value(-_STEP, {})) / (2 * _STEP)
    given = []
    for gradient in (1.0, 2.0, -1.0):
        first = Formula(dict(context), constants).run(backward, [gradient])[0]
        if first is None:
            raise NotElementwise
        given.append(first / gradient)
    if max(given) - min(given) > 1e-9 * max(1.0, abs(given[0])):
        raise NotElementwise  # clipped or guided on purpose: not proportional to what comes in
    return slope, given[0]
