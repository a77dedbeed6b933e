"""What is done to data between the file and the place where they are used: the steps that change what a word or a number is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Function,
    Instance,
    Item,
    Name,
    Operation,
    Param,
    Unknown,
    Value,
    resolved,
)
from netmend.program.meaning.loaders import drawn
from netmend.program.meaning.parts import Flow, flows

# Methods and functions of texts that give other words than before; what only cuts at blanks or ends is not among them.
OF_WORDS = frozenset(
    ("lower", "upper", "casefold", "swapcase", "title", "sub", "findall", "finditer", "translate", "replace", "stem", "lemmatize", "normalize",
     "word_tokenize", "wordpunct_tokenize", "TweetTokenizer", "unidecode", "regexp_tokenize", "str_lower", "to_lowercase")
)  # fmt: skip
OF_NUMBERS = frozenset(
    ("log", "log1p", "log2", "log10", "sqrt", "cbrt", "exp", "expm1", "square", "arcsinh", "sign")
)
_PATTERNS = frozenset(("sub", "findall", "split", "finditer", "match", "search", "subn"))
_MOST = 60


@dataclass(frozen=True)
class Step:
    """One step: what is called, and where."""

    name: str
    node: ast.AST


@dataclass(frozen=True)
class Steps:
    """All steps, the last one first. `whole`: they could be followed to a file, an array of a library, a constant."""

    steps: tuple[Step, ...]
    whole: bool
    root: Value | None
    keys: tuple[Value, ...] = ()  # what was picked on the way: columns, rows

    def among(self, names: frozenset[str]) -> dict[str, Step]:
        return {step.name: step for step in self.steps if step.name in names}


def steps_before(program: Program, value: Value | None) -> Steps:
    """The steps that lead to a value."""
    flow = flows(program)
    steps: list[Step] = []
    keys: list[Value] = []
    seen: set[int] = set()
    value = resolved(value)
    for _ in range(_MOST):
        if value is None or id(value) in seen or isinstance(value, Unknown):
            break
        if isinstance(value, Const | Name | Instance | Param):
            return Steps(tuple(steps), not isinstance(value, Param), value, tuple(keys))
        seen.add(id(value))
        if isinstance(value, Call) and value.qualified.startswith("torch.utils.data."):
            break  # which part of a sample it is cannot be told
        if isinstance(value, Call) and value.result is None:
            steps.extend(_steps_of(value))
            data = _data_of(value)
            if data is None:
                return Steps(tuple(steps), bool(value.qualified), value, tuple(keys))
            value = resolved(data)
        else:
            if isinstance(value, Item):
                keys.append(resolved(value.key))
            sample = drawn(program, value)
            value = resolved(sample) if sample is not None else _behind(flow, value, steps, seen)
    return Steps(tuple(steps), False, value, tuple(keys))


def _behind(flow: Flow, value: Value, steps: list[Step], seen: set[int]) -> Value | None:
    before: Value | None = None
    if isinstance(value, Call):
        before = value.result
    elif isinstance(value, Element):
        before = value.iterable
    elif isinstance(value, Attribute):
        before = value.base
    elif isinstance(value, Item):
        stored = [made for made in flow.column(value.base, value.key) if id(made) not in seen]
        before = stored[-1] if stored else value.base
    elif isinstance(value, Collection):
        is_of_one_kind = len(value.items) == 1 and (value.repeated or value.open)
        before = value.items[0] if is_of_one_kind else None
    elif isinstance(value, Either):
        options = [option for option in value.options if not isinstance(option, Const | Unknown)]
        before = options[0] if len(options) == 1 else None
    elif isinstance(value, Operation) and value.operands:
        numbers = [operand for operand in value.operands if isinstance(operand, Const)]
        before = value.operands[0]
        if numbers and isinstance(before, Const):
            before = value.operands[-1]
    return resolved(before)


def _data_of(call: Call) -> Value | None:
    """What a call works on; None where it makes or reads something."""
    maker = resolved(call.receiver)
    if call.method:
        is_of_object = isinstance(maker, Call) and (
            maker.qualified == "re.compile" or maker.qualified.rpartition(".")[2][:1].isupper()
        )
        if is_of_object or isinstance(maker, Const | Instance):
            return call.args[-1] if call.args else None  # `pattern.findall(text)`, `" ".join(words)`
        return call.receiver
    if call.qualified.startswith("re.") or call.qualified in ("map", "filter"):
        return call.args[-1] if len(call.args) > 1 else None
    if call.qualified in _READING or call.qualified.startswith(_READERS):
        return None
    return call.args[0] if call.args else None


_READING = frozenset(("open", "input", "range", "sqlite3.connect", "PIL.Image.open", "cv2.imread", "numpy.load", "torch.load", "numpy.loadtxt", "numpy.genfromtxt"))  # fmt: skip
_READERS = ("pandas.read_", "polars.read_", "polars.scan_", "imageio.")


def _steps_of(call: Call) -> Iterator[Step]:
    if call.node is None:
        return
    name = call.method or call.qualified.rpartition(".")[2]
    yield Step(name, call.node)
    made = resolved(call.receiver)
    if name in ("transform", "fit_transform") and isinstance(made, Call):
        yield Step(made.qualified.rpartition(".")[2], call.node)  # "StandardScaler"
    for given in call.given:
        function = resolved(given)
        if isinstance(function, Function):
            yield from (Step(inner, call.node) for inner in _called_in(function))
        elif isinstance(function, Attribute | Name) and name in ("map", "apply"):
            short = (
                function.name if isinstance(function, Attribute) else function.qualified.rpartition(".")[2]
            )
            yield Step(short, call.node)


def _called_in(function: Function) -> Iterator[str]:
    """What a function that is handed over calls."""
    for part in ast.walk(function.definition):
        if isinstance(part, ast.Call):
            name = part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", "")
            yield name
            inner = function.scope.get(name)
            if isinstance(inner, Function) and inner.definition is not function.definition:
                yield from (
                    node.func.attr
                    for node in ast.walk(inner.definition)
                    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
                )
