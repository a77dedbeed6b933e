"""Elementwise tensor formulas, computed with plain numbers: what a short function gives for one element."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping

from netmend.library.operations import COPIES, MOVES

Number = float
_ONE: dict[str, Callable[[float], float]] = {
    "abs": abs, "exp": math.exp, "log": math.log, "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tan": math.tan,
    "tanh": math.tanh, "sinh": math.sinh, "cosh": math.cosh, "atan": math.atan, "arctan": math.atan, "log1p": math.log1p,
    "expm1": math.expm1, "erf": math.erf, "square": lambda x: x * x, "neg": lambda x: -x, "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / math.sqrt(x), "sign": lambda x: float((x > 0) - (x < 0)), "sgn": lambda x: float((x > 0) - (x < 0)),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)), "relu": lambda x: max(x, 0.0), "softplus": lambda x: math.log1p(math.exp(x)),
    "silu": lambda x: x / (1 + math.exp(-x)), "softsign": lambda x: x / (1 + abs(x)), "log2": math.log2, "log10": math.log10,
    "ones_like": lambda x: 1.0, "zeros_like": lambda x: 0.0, "asinh": math.asinh, "floor": math.floor, "ceil": math.ceil,
    "round": round, "logical_not": lambda x: float(not x),
}  # fmt: skip
_TWO: dict[str, Callable[[float, float], float]] = {
    "pow": lambda a, b: a**b, "mul": lambda a, b: a * b, "add": lambda a, b: a + b, "sub": lambda a, b: a - b,
    "div": lambda a, b: a / b, "maximum": max, "minimum": min, "multiply": lambda a, b: a * b, "ge": lambda a, b: float(a >= b),
    "gt": lambda a, b: float(a > b), "le": lambda a, b: float(a <= b), "lt": lambda a, b: float(a < b),
}  # fmt: skip
_SAME = frozenset((*MOVES, *COPIES, "float", "double", "half", "bool", "detach", "type_as"))
_MODULES = frozenset(
    ("torch", "F", "math", "np", "numpy", "torch.nn.functional", "nn.functional", "torch.special")
)


class NotElementwise(Exception):
    """The formula uses something that cannot be computed for one element."""


class Formula:
    """A function body run on numbers. `context` holds what `ctx` keeps between forward and backward."""

    def __init__(self, context: dict[str, object], constants: Mapping[str, float]) -> None:
        self.context = context
        self._constants = constants
        self._names: dict[str, float] = {}

    def run(self, definition: ast.FunctionDef, arguments: list[float]) -> list[float | None]:
        """What the function returns for these arguments (behind `ctx`)."""
        parameters = [*definition.args.posonlyargs, *definition.args.args]
        if len(parameters) != len(arguments) + 1 or definition.args.vararg or definition.args.kwonlyargs:
            raise NotElementwise
        self._ctx = parameters[0].arg
        self._names = {part.arg: value for part, value in zip(parameters[1:], arguments, strict=True)}
        for statement in definition.body:
            if isinstance(statement, ast.Return) and statement.value is not None:
                given = statement.value
                parts = given.elts if isinstance(given, ast.Tuple) else [given]
                return [
                    None if isinstance(part, ast.Constant) and part.value is None else self._number(part)
                    for part in parts
                ]
            self._statement(statement)
        raise NotElementwise

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Expr):
            if isinstance(node.value, ast.Constant):
                return
            if self._saves(node.value) and isinstance(node.value, ast.Call):
                self.context["saved_tensors"] = [self._number(part) for part in node.value.args]
                return
            raise NotElementwise
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            value = self._binary(node.op, self._number(node.target), self._number(node.value))
            self._names[node.target.id] = value
            return
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            raise NotElementwise
        self._store(node.targets[0], node.value)

    def _saves(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and ast.unparse(node.func) == f"{self._ctx}.save_for_backward"

    def _store(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._names[target.id] = self._number(value)
        elif isinstance(target, ast.Attribute) and ast.unparse(target.value) == self._ctx:
            self.context[target.attr] = self._number(value)
        elif isinstance(target, ast.Tuple | ast.List):
            saved = self.context.get("saved_tensors")
            is_saved = ast.unparse(value) in (f"{self._ctx}.saved_tensors", f"{self._ctx}.saved_variables")
            if not is_saved or not isinstance(saved, list) or len(saved) != len(target.elts):
                raise NotElementwise
            for part, number in zip(target.elts, saved, strict=True):
                if not isinstance(part, ast.Name):
                    raise NotElementwise
                self._names[part.id] = number
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            if not isinstance(target.slice, ast.Compare | ast.Name | ast.BinOp | ast.UnaryOp):
                raise NotElementwise
            if self._number(target.slice):  # a mask: only where it holds
                self._names[target.value.id] = self._number(value)
        else:
            raise NotElementwise

    def _number(self, node: ast.expr) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return float(node.value)
        if isinstance(node, ast.Name):
            if node.id in self._names:
                return self._names[node.id]
            if node.id in self._constants:
                return self._constants[node.id]
        if isinstance(node, ast.BinOp):
            return self._binary(node.op, self._number(node.left), self._number(node.right))
        if isinstance(node, ast.UnaryOp):
            value = self._number(node.operand)
            if isinstance(node.op, ast.Invert | ast.Not):
                return float(not value)
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compared(node.ops[0], self._number(node.left), self._number(node.comparators[0]))
        if isinstance(node, ast.Attribute):
            held = self.context.get(node.attr) if ast.unparse(node.value) == self._ctx else None
            if isinstance(held, int | float):
                return float(held)
            if ast.unparse(node) in ("math.pi", "torch.pi", "np.pi"):
                return math.pi
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == f"{self._ctx}.saved_tensors":
            saved = self.context.get("saved_tensors")
            place = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if isinstance(saved, list) and isinstance(place, int):
                return float(saved[place])
        if isinstance(node, ast.Call):
            return self._called(node)
        raise NotElementwise

    def _binary(self, sign: ast.operator, left: float, right: float) -> float:
        if isinstance(sign, ast.Add):
            return left + right
        if isinstance(sign, ast.Sub):
            return left - right
        if isinstance(sign, ast.Mult | ast.BitAnd):
            return left * right
        if isinstance(sign, ast.Div):
            return left / right
        if isinstance(sign, ast.Pow):
            found = left**right
            if isinstance(found, complex):
                raise ValueError
            return float(found)
        raise NotElementwise

    def _compared(self, sign: ast.cmpop, left: float, right: float) -> float:
        outcomes = {ast.Lt: left < right, ast.LtE: left <= right, ast.Gt: left > right, ast.GtE: left >= right, ast.Eq: left == right}  # fmt: skip
        if type(sign) not in outcomes:
            raise NotElementwise
        return float(outcomes[type(sign)])

    def _called(self, node: ast.Call) -> float:
        if not isinstance(node.func, ast.Attribute):
            raise NotElementwise
        name = node.func.attr.rstrip("_")
        is_function = ast.unparse(node.func.value) in _MODULES
        given = list(node.args) if is_function else [node.func.value, *node.args]
        if name in _SAME and not is_function:
            return self._number(given[0])
        if name in ("clamp", "clip") and given:
            return self._clamped(given, {part.arg: part.value for part in node.keywords})
        if node.keywords:
            raise NotElementwise
        if name == "where" and is_function and len(given) == 3:
            return self._number(given[1] if self._number(given[0]) else given[2])
        if name in _ONE and len(given) == 1:
            return float(_ONE[name](self._number(given[0])))
        if name in _TWO and len(given) == 2:
            found = _TWO[name](self._number(given[0]), self._number(given[1]))
            if isinstance(found, complex):
                raise ValueError
            return float(found)
        raise NotElementwise

    def _clamped(self, given: list[ast.expr], named: Mapping[str | None, ast.expr]) -> float:
        value = self._number(given[0])
        low = given[1] if len(given) > 1 else named.get("min")
        high = given[2] if len(given) > 2 else named.get("max")
        if low is not None and not (isinstance(low, ast.Constant) and low.value is None):
            value = max(value, self._number(low))
        if high is not None and not (isinstance(high, ast.Constant) and high.value is None):
            value = min(value, self._number(high))
        return value
