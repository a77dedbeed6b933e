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

from netmend.adapters.torch.probes.bench import Bench, Found
from netmend.adapters.torch.watch.eligible import plain, tensors_in
from netmend.observe.sites import Sites
from netmend.vocabulary import Site

WHAT = "gradient check"
_MOST_NUMBERS = 100_000
_MOST_FUNCTIONS = 32
_MOST_NODES = 64
_STEP = 1e-4  # of a finite difference, relative to the size of the numbers
_FLAT = 1e-6  # a derivative below this part of the largest is none: rounding, sign and clamp are passed through on purpose
_OFF = 0.05
_AGREE = 0.01
_ENOUGH = 0.2  # share of numbers at which the function must have a slope
_DIRECTIONS = 5
Function = type[torch.autograd.Function]


Call = tuple[Any, ...]


def examine(bench: Bench) -> Iterator[Found]:
    kinds = written_by_user(bench.session.sites)
    calls: dict[Function, Call] = {}
    if kinds:
        with _recorded(kinds[:_MOST_FUNCTIONS]) as calls:
            bench.run()
    return outcomes(calls)


def outcomes(calls: dict[Function, Call]) -> Iterator[Found]:
    for kind, arguments in calls.items():
        error = _error(kind, arguments)
        if error is not None:
            yield Found({"function": kind.__name__, **error}, _site(kind), kind.__name__)


def written_by_user(sites: Sites) -> list[Function]:
    """Custom functions of the program itself."""
    kinds = torch.autograd.Function.__subclasses__()
    codes = [getattr(kind.forward, "__code__", None) for kind in kinds]
    return [
        kind
        for kind, code in zip(kinds, codes, strict=True)
        if code is not None and sites.is_user_file(code.co_filename)
    ]


def calls_behind(objective: Tensor, kinds: list[Function]) -> dict[Function, Call]:
    """Functions between the objective and the model, with what they saved for backward taken for their arguments.

    Any arguments will do for a comparison, as long as the function takes them.
    """
    calls: dict[Function, Call] = {}
    waiting, visited = [objective.grad_fn], 0
    while waiting and visited < _MOST_NODES:
        node: Any = waiting.pop(0)
        visited += 1
        if node is None:
            continue
        kind = getattr(node, "_forward_cls", None)
        if kind in kinds and kind not in calls:
            saved = tuple(t.detach() for t in node.saved_tensors)
            context = 0 if _separate_context(kind) else 1
            if len(inspect.signature(kind.forward).parameters) - context == len(saved):
                calls[kind] = saved
        waiting.extend(parent for parent, _ in node.next_functions)
    return calls


def _separate_context(kind: Function) -> bool:
    return kind.setup_context is not torch.autograd.Function.setup_context


@contextlib.contextmanager
def _recorded(kinds: list[Function]) -> Iterator[dict[Function, Call]]:
    """The arguments of the first call of each function."""
    calls: dict[Function, Call] = {}
    originals = {kind: vars(kind).get("forward") for kind in kinds}

    def recording(kind: Function, forward: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if kind not in calls and not kwargs:
                calls[kind] = args[0 if _separate_context(kind) else 1 :]
            return forward(*args, **kwargs)

        return call

    for kind in kinds:
        kind.forward = staticmethod(recording(kind, kind.forward))  # type: ignore[method-assign]
    try:
        yield calls
    finally:
        for kind, original in originals.items():
            if original is None:
                del kind.forward
            else:
                kind.forward = original  # type: ignore[method-assign]


def _error(kind: Function, arguments: Call) -> dict[str, Any] | None:
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
    arguments: Call
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

    def _slopes(self, point: Tensor, direction: Tensor | float, step: float) -> tuple[Tensor, Tensor]:
        """Finite differences with two steps: where they do not agree, there is no slope but a jump."""
        found = []
        for size in (step, step / 2):
            apart = self._at(point + size * direction) - self._at(point - size * direction)
            found.append(apart / (2 * size))
        return found[0], found[1]

    def _elements(
        self, point: Tensor, analytic: Tensor, weights: Tensor, step: float
    ) -> dict[str, Any] | None:
        slope, finer = (each * weights for each in self._slopes(point, 1.0, step))
        smooth = (slope - finer).abs() <= _AGREE * finer.abs()
        there = smooth & (finer.abs() > _FLAT * finer[smooth].abs().max()) if bool(smooth.any()) else smooth
        if (
            float(there.double().mean()) < _ENOUGH
        ):  # flat almost everywhere: its gradient is made up on purpose
            return None
        off = ((analytic - finer).abs() / finer.abs())[there]
        wrong = float((off > _OFF).double().mean())
        ratio = float((analytic / finer)[there].median())
        return {"error": float(off.median()), "wrong_share": wrong, "ratio": ratio}

    def _directions(
        self, point: Tensor, analytic: Tensor, weights: Tensor, step: float, generator: torch.Generator
    ) -> dict[str, Any] | None:
        errors, ratios = [], []
        for _ in range(_DIRECTIONS):
            direction = torch.randn(point.shape, generator=generator, dtype=torch.float64).to(point)
            slopes, finer = (each * weights for each in self._slopes(point, direction, step))
            numeric, expected = float(finer.sum()), float((analytic * direction).sum())
            if not numeric or abs(numeric) < 1e-3 * float(finer.abs().sum()):  # nearly cancels: says nothing
                continue
            if abs(float(slopes.sum()) - numeric) > _AGREE * abs(numeric):
                continue
            errors.append(abs(numeric - expected) / max(abs(numeric), abs(expected)))
            ratios.append(expected / numeric)
        if len(errors) < 2:
            return None
        off = sum(error > _OFF for error in errors) / len(errors)
        return {"error": sorted(errors)[len(errors) // 2], "wrong_share": off, "ratio": ratios[0]}


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
