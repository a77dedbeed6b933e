"""Cuts that a program writes itself: `words[:40]`, `text[-200:]`, with the numbers that its names stood for in this run."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from netmend.vocabulary import Site

WORDS, LETTERS = "words", "letters"
_SPLITS = ("split", "findall", "word_tokenize", "tokenize", "tokens", "encode", "wordpunct_tokenize")
_LETTERS = ("lower", "strip", "upper", "replace", "casefold", "sub", "join", "read")
_SHOWN = ("print", "info", "debug", "write", "warning", "append_text")
_FEWEST, _MOST = 3, 5000
_MOST_STEPS = 12
_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Cut:
    """Of each sequence the first or the last so many items are kept."""

    site: Site
    size: int
    unit: str  # WORDS, LETTERS, or "" where the text does not tell
    keeps: str  # "first" | "last"


@dataclass(frozen=True)
class Source:
    """A file of the user's with what its names stand for now."""

    tree: ast.Module
    file: str
    names: dict[str, Any]


def sources_of(modules: Sequence[ModuleType]) -> list[Source]:
    found = []
    for module in modules:
        file = getattr(module, "__file__", None)
        try:
            text = Path(file or "").read_text(encoding="utf-8")
            found.append(Source(ast.parse(text), file or "", vars(module)))
        except (OSError, SyntaxError, ValueError):
            continue
    return found


def written_cuts(sources: Sequence[Source]) -> Iterator[Cut]:
    """Slices with a constant bound, in the texts of a program."""
    for source in sources:
        above = above_of(source.tree)
        reader = Reader(source, sources, above)
        parting = parting_bounds(source.tree)
        for node in ast.walk(source.tree):
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.ctx, ast.Load)
                and not is_shown(node, above)
            ):
                bounds = _bounds(node.slice)
                if bounds is None or splits_rows(node, parting):
                    continue
                keeps, bound = bounds
                size = reader.number(bound, node)
                if size is not None and _FEWEST <= size <= _MOST:
                    yield Cut(site_of(source, node), size, reader.unit(node.value, node), keeps)


def parting_bounds(tree: ast.Module) -> set[str]:
    """The bounds at which one part ends and another begins: of `rows[:800]` and `rows[800:]`."""
    keys = [node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    slices = [key for key in keys if isinstance(key, ast.Slice)]
    begins = {ast.dump(key.lower) for key in slices if key.lower is not None and key.upper is None}
    return begins & {ast.dump(key.upper) for key in slices if key.upper is not None}


def splits_rows(node: ast.Subscript, parting: set[str]) -> bool:
    """Is it one of two parts of something?"""
    key = node.slice
    bounds = (key.lower, key.upper) if isinstance(key, ast.Slice) else ()
    return any(bound is not None and ast.dump(bound) in parting for bound in bounds)


def above_of(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    """The node around each node."""
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def site_of(source: Source, node: ast.expr) -> Site:
    return Site(source.file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def _bounds(key: ast.expr) -> tuple[str, ast.expr] | None:
    """What is kept, and the expression for how much: of `[:n]`, `[-n:]`, `[:, :n]`."""
    if isinstance(key, ast.Tuple) and len(key.elts) > 1:
        *before, last = key.elts
        whole = all(
            isinstance(part, ast.Slice) and not (part.lower or part.upper or part.step) for part in before
        )
        return _bounds(last) if whole else None
    if not isinstance(key, ast.Slice) or key.step is not None:
        return None
    if key.upper is not None and (
        key.lower is None or (isinstance(key.lower, ast.Constant) and key.lower.value == 0)
    ):
        return "first", key.upper
    if key.upper is None and isinstance(key.lower, ast.UnaryOp) and isinstance(key.lower.op, ast.USub):
        return "last", key.lower.operand
    return None


def is_shown(node: ast.AST, above: dict[ast.AST, ast.AST]) -> bool:
    """Is it for people to read?"""
    while node in above:
        node = above[node]
        if isinstance(node, ast.JoinedStr):
            return True
        if isinstance(node, ast.Call) and last_name(node.func) in _SHOWN:
            return True
    return False


def last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def stored(node: ast.Assign, wanted: Callable[[ast.expr], bool]) -> ast.expr | None:
    """What an assignment stores under a name, also where several are set at once."""
    for goal in node.targets:
        if wanted(goal):
            return node.value
        if isinstance(goal, ast.Tuple) and isinstance(node.value, ast.Tuple):
            for one, value in zip(goal.elts, node.value.elts, strict=False):
                if wanted(one):
                    return value
    return None


class Reader:
    """What numbers and sequences in one file stand for."""

    def __init__(self, source: Source, sources: Sequence[Source], above: dict[ast.AST, ast.AST]) -> None:
        self.source = source
        self.sources = sources
        self.above = above

    def number(self, node: ast.AST | None, place: ast.AST, left: int = _MOST_STEPS) -> int | None:
        """The whole number that an expression stood for; None where it cannot be told."""
        if node is None or not left:
            return None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Add | ast.Mult):
            one, other = self.number(node.left, place, left - 1), self.number(node.right, place, left - 1)
            if one is None or other is None:
                return None
            sign = type(node.op)
            return one - other if sign is ast.Sub else one + other if sign is ast.Add else one * other
        found = self.live(node, place)
        if isinstance(found, int) and not isinstance(found, bool):
            return found
        if isinstance(node, ast.Name):
            return self._of_name(node.id, place, left)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(node, place, left)
        return None

    def written(self, name: str, place: ast.AST) -> ast.expr | None:
        """The expression that a name was set to, in the function or the file."""
        for around in (self._function(place), self.source.tree):
            for node in ast.walk(around) if around is not None else ():
                value = (
                    stored(node, lambda goal: last_name(goal) == name)
                    if isinstance(node, ast.Assign)
                    else None
                )
                if value is not None:
                    return value
        return None

    def live(self, node: ast.AST, place: ast.AST) -> Any:
        """What stands under a name of the module, read without running anything of the user's."""
        if isinstance(node, ast.Name):
            function = self._function(place)
            is_local = function is not None and node.id in _locals(function)
            return None if is_local else self.source.names.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.live(node.value, place)
            plain = (
                isinstance(base, ModuleType | SimpleNamespace | type) or type(base).__name__ == "Namespace"
            )
            if plain or hasattr(type(base), "__dataclass_fields__"):
                return vars(base).get(node.attr)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            base = self.live(node.value, place)
            return base.get(node.slice.value) if type(base) is dict else None
        return None

    def _function(self, node: ast.AST) -> _FunctionNode | None:
        while node in self.above:
            node = self.above[node]
            if isinstance(node, _FunctionNode):
                return node
        return None

    def _of_name(self, name: str, place: ast.AST, left: int) -> int | None:
        function = self._function(place)
        if function is None:
            return None
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                value = stored(node, lambda goal: isinstance(goal, ast.Name) and goal.id == name)
                if value is not None:
                    return self.number(value, node, left - 1)
        places = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        if name in places and not isinstance(function, ast.Lambda):
            return self._passed(function, name, places, left)
        outer = self._function(function)
        return self._of_name(name, function, left - 1) if outer is not None and left else None

    def _passed(self, function: Any, name: str, places: list[str], left: int) -> int | None:
        """What is passed for a parameter where the function is called; else its default."""
        called, shift = function.name, 0
        holder = self.above.get(function)
        if isinstance(holder, ast.ClassDef):
            called, shift = (holder.name if called == "__init__" else called), 1
        for source in self.sources:
            reader = self if source is self.source else None
            for node in ast.walk(source.tree):
                if not isinstance(node, ast.Call) or last_name(node.func) != called:
                    continue
                given: ast.expr | None = next(
                    (part.value for part in node.keywords if part.arg == name), None
                )
                index = places.index(name) - shift
                if given is None and 0 <= index < len(node.args):
                    given = node.args[index]
                if given is None:
                    continue
                if reader is None:
                    reader = Reader(source, self.sources, above_of(source.tree))
                return reader.number(given, node, left - 1)
        defaults = dict(zip(reversed(places), reversed(function.args.defaults), strict=False))
        return self.number(defaults.get(name), function, left - 1)

    def _of_attribute(self, node: ast.Attribute, place: ast.AST, left: int) -> int | None:
        """`self.size` as it was stored in the class, `args.size` as the command line has it."""
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            holder: ast.AST | None = place
            while holder is not None and not isinstance(holder, ast.ClassDef):
                holder = self.above.get(holder)
            for part in ast.walk(holder) if holder is not None else ():
                if not isinstance(part, ast.Assign):
                    continue
                value = stored(
                    part,
                    lambda goal: (
                        isinstance(goal, ast.Attribute)
                        and goal.attr == node.attr
                        and last_name(goal.value) == "self"
                    ),
                )
                if value is not None:
                    return self.number(value, part, left - 1)
            return None
        for source in self.sources:
            for part in ast.walk(source.tree):
                if (
                    isinstance(part, ast.Call)
                    and last_name(part.func) == "add_argument"
                    and _is_option(part, node.attr)
                ):
                    default = next((word.value for word in part.keywords if word.arg == "default"), None)
                    return _given(part, self.number(default, part, left - 1))
        return None

    def unit(self, node: ast.AST, place: ast.AST, left: int = _MOST_STEPS) -> str:
        """Whether a sequence holds words or letters."""
        if not left:
            return ""
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            inner = node.generators[0].iter
            found = self.unit(inner, place, left - 1)
            return found or (
                LETTERS if isinstance(inner, ast.Name) and isinstance(node.elt, ast.Subscript) else ""
            )
        if isinstance(node, ast.Call):
            name = last_name(node.func)
            if name in _SPLITS:
                return WORDS
            if name in _LETTERS:
                return LETTERS
            return (
                self.unit(node.args[0], place, left - 1)
                if name in ("list", "tensor", "array") and node.args
                else ""
            )
        if isinstance(node, ast.Attribute):
            return LETTERS if node.attr == "str" else ""
        if isinstance(node, ast.Subscript):
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                return LETTERS
            return self.unit(node.value, place, left - 1)
        if isinstance(node, ast.Name):
            function = self._function(place)
            for part in ast.walk(function) if function is not None else ():
                if isinstance(part, ast.Assign) and any(last_name(goal) == node.id for goal in part.targets):
                    return "" if part.value is node else self.unit(part.value, part, left - 1)
        return ""


def _locals(function: Any) -> set[str]:
    names = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    return names | {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _is_option(call: ast.Call, name: str) -> bool:
    words = [
        part.value for part in call.args if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    return name in {word.lstrip("-").replace("-", "_") for word in words}


def _given(call: ast.Call, default: int | None) -> int | None:
    """What the command line has for an option, else its default."""
    for part in call.args:
        word = part.value if isinstance(part, ast.Constant) else None
        if isinstance(word, str) and word in sys.argv[:-1]:
            following = sys.argv[sys.argv.index(word) + 1]
            return int(following) if following.isdecimal() else None
    return default
