"""Hand-written gradients: does the backward of a custom autograd.Function fit its forward?"""

from __future__ import annotations

import ast
import contextlib
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from netmend.adapters.torch.eligible import plain, tensors_in
from netmend.adapters.torch.probes.bench import Bench, Found
from netmend.vocabulary import Site

WHAT = "gradient check"
_MOST_NUMBERS = 100_000
_MOST_FUNCTIONS = 8
_STEP = 1e-4  # of a finite difference, relative to the size of the numbers
_FLAT = 1e-6  # a derivative below this part of the largest is none: rounding, sign and clamp are passed through on purpose
_OFF = 0.05
Function = type[torch.autograd.Function]


def examine(bench: Bench) -> Iterator[Found]:
    kinds = [kind for kind in torch.autograd.Function.__subclasses__() if _is_users(bench, kind)]
    if not kinds:
        return
    with _recorded(kinds[:_MOST_FUNCTIONS]) as calls:
        bench.run(training=True)
    for kind, arguments in calls.items():
        error = _error(kind, arguments)
        if error is not None:
            values = {"function": kind.__name__, **error}
            yield Found(values, _site(kind), kind.__name__)


def _is_users(bench: Bench, kind: Function) -> bool:
    code = getattr(kind.forward, "__code__", None)
    return code is not None and bench.session.sites.is_user_file(code.co_filename)


@contextlib.contextmanager
def _recorded(kinds: list[Function]) -> Iterator[dict[Function, tuple[Any, ...]]]:
    """The arguments of the first call of each function."""
    calls: dict[Function, tuple[Any, ...]] = {}
    own_context = {}
    originals = {kind: vars(kind).get("forward") for kind in kinds}

    def recording(kind: Function, forward: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if kind not in calls and not kwargs:
                calls[kind] = args[0 if own_context[kind] else 1 :]
            return forward(*args, **kwargs)

        return call

    for kind in kinds:
        own_context[kind] = kind.setup_context is not torch.autograd.Function.setup_context
        kind.forward = staticmethod(recording(kind, kind.forward))  # type: ignore[method-assign, assignment]
    try:
        yield calls
    finally:
        for kind, original in originals.items():
            if original is None:
                del kind.forward
            else:
                kind.forward = original  # type: ignore[method-assign, assignment]


def _error(kind: Function, arguments: tuple[Any, ...]) -> dict[str, Any] | None:
    """How far the gradient is off, for the argument where it is worst; None where nothing can be said."""
    tensors = [a for a in arguments if isinstance(a, Tensor)]
    if not all(plain(t) for t in tensors) or sum(t.numel() for t in tensors) > _MOST_NUMBERS:
        return None
    worst: dict[str, Any] | None = None
    for index, argument in enumerate(arguments):
        if isinstance(argument, Tensor) and argument.is_floating_point() and argument.numel():
            try:
                found = _Check(kind, arguments, index).outcome()
            except Exception:  # noqa: BLE001 - written for one precision, or for something else about its input
                continue
            if found is not None and (worst is None or found["error"] > worst["error"]):
                worst = {**found, "argument": index}
    return worst


@dataclass
class _Check:
    """One argument of a function, moved a little, against what backward says."""

    kind: Function
    arguments: tuple[Any, ...]
    index: int

    def outcome(self) -> dict[str, Any] | None:
        generator = torch.Generator().manual_seed(0)
        point = _double(self.arguments[self.index])
        with torch.enable_grad():
            leaf = point.clone().requires_grad_()
            output = self._value(leaf)
            if output is None or not output.requires_grad:
                return None
            weights = 0.5 + torch.rand(output.shape, generator=generator, dtype=torch.float64)
            weights = weights.to(output)
            (analytic,) = torch.autograd.grad(output, leaf, weights, allow_unused=True)
        if analytic is None or (output.shape == point.shape and torch.equal(output.detach(), point)):
            return None  # a function that changes nothing but the gradient does that on purpose
        step = _STEP * max(1.0, float(point.abs().max()))
        if self._one_by_one(point, output.detach(), step):
            return self._elements(point, analytic, weights, step)
        return self._directions(point, analytic, weights, step, generator)

    def _value(self, point: Tensor) -> Tensor | None:
        given = [_double(a) if isinstance(a, Tensor) else a for a in self.arguments]
        given[self.index] = point
        result = self.kind.apply(*given)
        return next((t for t in tensors_in(result) if t.is_floating_point()), None)

    def _at(self, point: Tensor) -> Tensor:
        with torch.no_grad():
            value = self._value(point.clone())
        assert value is not None
        return value.detach()

    def _one_by_one(self, point: Tensor, output: Tensor, step: float) -> bool:
        """Whether each number of the output depends on the number at the same place only."""
        if output.shape != point.shape or point.numel() < 2:
            return False
        mask = torch.arange(point.numel(), device=point.device).reshape(point.shape) % 2 == 0
        moved = self._at(point + step * mask)
        return torch.equal(moved[~mask], output[~mask])

    def _elements(self, point: Tensor, analytic: Tensor, weights: Tensor, step: float) -> dict[str, Any] | None:
        slope = (self._at(point + step) - self._at(point - step)) / (2 * step) * weights
        there = slope.abs() > _FLAT * slope.abs().max()
        if not bool(there.any()):
            return None
        off = ((analytic - slope).abs() / slope.abs().clamp(min=1e-12))[there]
        wrong = float((off > _OFF).double().mean())
        ratio = float((analytic / slope)[there].median())
        return {"error": float(off.median()) if wrong > 0.5 else wrong, "wrong_share": wrong, "ratio": ratio}

    def _directions(
        self, point: Tensor, analytic: Tensor, weights: Tensor, step: float, generator: torch.Generator
    ) -> dict[str, Any] | None:
        errors, ratios = [], []
        for _ in range(3):
            direction = torch.randn(point.shape, generator=generator, dtype=torch.float64).to(point)
            apart = self._at(point + step * direction) - self._at(point - step * direction)
            numeric = float((apart * weights).sum()) / (2 * step)
            expected = float((analytic * direction).sum())
            scale = max(abs(numeric), abs(expected))
            size = float((apart.abs() * weights).sum()) / (2 * step)
            if not numeric or abs(numeric) < 1e-3 * size:  # nearly cancels: says nothing
                continue
            errors.append(abs(numeric - expected) / scale)
            ratios.append(expected / numeric)
        if not errors:
            return None
        errors.sort()
        return {"error": errors[len(errors) // 2], "wrong_share": 1.0, "ratio": ratios[0]}


def _double(tensor: Tensor) -> Tensor:
    return tensor.detach().double() if tensor.is_floating_point() else tensor.detach()


def _site(kind: Function) -> Site | None:
    """The line on which backward returns what it takes for the gradient."""
    try:
        lines, start = inspect.getsourcelines(kind.backward)
        file = inspect.getsourcefile(kind.backward)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return None
    returns = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Return)]
    line = start + (max(returns) - 1 if returns else 0)
    return Site(file, line, function=f"{kind.__name__}.backward") if file else None
