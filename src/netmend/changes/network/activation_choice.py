"""Activations that are chosen elsewhere: a class or function that is handed on, or a word that selects it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.diagnose.measures.heads import Place
from netmend.library.activations import layers
from netmend.program.settings import value_origin
from netmend.program.source.naming import qualified
from netmend.program.source.writing import delete_argument, replace
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name, methods
from netmend.program.text.sources import Code
from netmend.vocabulary import FunctionFact, ModuleFact
from netmend.vocabulary.change import FileEdits

# Names under which PyTorch has an activation: (layer, function)
NAMES = {name: (layer, name) for name, layer in layers("relu", "gelu", "leaky_relu").items()}
_MOST_HOPS = 4


def classes_of(
    code: Code, file: File, node: ast.expr, kind: str, hops: int
) -> Iterator[tuple[File, ast.expr]]:
    """The expressions `nn.Sigmoid` or `torch.sigmoid` that a name stands for, wherever it was handed over."""
    if hops > _MOST_HOPS:
        return
    if is_named(file, node, kind):
        yield file, node
    elif isinstance(node, ast.IfExp):
        yield from classes_of(code, file, node.body, kind, hops + 1)
        yield from classes_of(code, file, node.orelse, kind, hops + 1)
    elif isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        origin = value_origin(code.sources, file.file, node)
        other = code.file(origin.file)
        found = other.node_at(origin) if other is not None else None
        if other is not None and isinstance(found, ast.expr) and found is not node:
            yield from classes_of(code, other, found, kind, hops + 1)


def is_named(file: File, node: ast.expr, kind: str) -> bool:
    full = qualified(file, node)
    return full.startswith("torch.") and full.rpartition(".")[2] == kind


def from_table(code: Code, file: File, node: ast.expr, new: str) -> FileEdits:
    """`TABLE[name]`, `TABLE.get(name)`, `getattr(nn, name)`: the name is another one where it was set."""
    for _ in range(_MOST_HOPS):
        if not isinstance(node, ast.Name | ast.Attribute):
            break
        origin = value_origin(code.sources, file.file, node)
        other = code.file(origin.file)
        found = other.node_at(origin) if other is not None else None
        if other is None or not isinstance(found, ast.expr) or found is node:
            return ()
        file, node = other, found
    if isinstance(node, ast.Call) and last_name(node.func) == "getattr" and len(node.args) > 1:
        return text_at(code, file, node.args[1], NAMES[new][0])
    table: ast.expr | None = None
    selector: ast.expr | None = None
    if isinstance(node, ast.Subscript):
        table, selector = node.value, node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        table, selector = node.func.value, node.args[0]
    if table is None or selector is None:
        return ()
    whole: ast.AST | None = table
    if not isinstance(table, ast.Dict):
        origin = value_origin(code.sources, file.file, table)
        other = code.file(origin.file)
        whole = other.node_at(origin) if other is not None else None
    keys = zip(whole.keys, whole.values, strict=True) if isinstance(whole, ast.Dict) else ()
    wanted = next((k for k, v in keys if isinstance(k, ast.Constant) and _makes(v, new)), None)
    return text_at(code, file, selector, str(wanted.value)) if wanted is not None else ()


def chosen_by_text(code: Code, file: File, call: ast.Call, new: str) -> FileEdits:
    """The activation is one of several that are told apart by a text: another text is given where it is set."""
    for selector, text in _choices(file, call, new):
        edits = text_at(code, file, selector, text)
        if edits:
            return edits
    return ()


def _choices(file: File, call: ast.Call, new: str) -> Iterator[tuple[ast.expr, str]]:
    """What the choice depends on, and the text that chooses the new activation."""
    below: ast.AST = call
    for above in file.parents(call):
        if isinstance(above, ast.Dict) and below in above.values:
            wanted = next(
                (
                    k
                    for k, v in zip(above.keys, above.values, strict=True)
                    if k is not None and _makes(v, new)
                ),
                None,
            )
            for selector in _subscripts(file, above):
                if isinstance(wanted, ast.Constant) and isinstance(wanted.value, str):
                    yield selector, file.source(wanted)
        if isinstance(above, ast.If) and below in above.body:
            function = file.function(call)
            mine = _compared(above.test)
            if mine is not None:
                for other in inside(function or file.tree, ast.If):
                    theirs = _compared(other.test) if other is not above else None
                    if theirs is None or ast.dump(theirs[0]) != ast.dump(mine[0]):
                        continue
                    if any(
                        _makes(node, new) for statement in other.body for node in inside(statement, ast.expr)
                    ):
                        yield mine[0], file.source(theirs[1])
        if isinstance(above, ast.FunctionDef | ast.ClassDef):
            return
        below = above


def _compared(test: ast.expr) -> tuple[ast.expr, ast.Constant] | None:
    """`name == "sigmoid"`, `name.lower() == "sigmoid"`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return None
    left, right = test.left, test.comparators[0]
    if isinstance(left, ast.Call) and isinstance(left.func, ast.Attribute) and not left.args:
        left = left.func.value
    if isinstance(right, ast.Constant) and isinstance(right.value, str):
        return left, right
    return None


def _makes(node: ast.AST, new: str) -> bool:
    name = last_name(node.func) if isinstance(node, ast.Call) else last_name(node)
    return name in NAMES[new]


def _subscripts(file: File, whole: ast.Dict) -> Iterator[ast.expr]:
    """The indices with which a dictionary is read."""
    parent = file.parent(whole)
    while isinstance(parent, ast.Call):  # nn.ModuleDict({…})
        parent = file.parent(parent)
    if isinstance(parent, ast.Subscript):
        yield parent.slice
    names = (
        [ast.dump(t).replace("Store", "Load") for t in parent.targets]
        if isinstance(parent, ast.Assign)
        else []
    )
    for node in inside(file.tree if names else None, ast.Subscript, ast.Call):
        if isinstance(node, ast.Subscript) and ast.dump(node.value) in names:
            yield node.slice
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            read = node.func.attr == "get" and ast.dump(node.func.value) in names
            yield from node.args[:1] if read else ()


def text_at(code: Code, file: File, selector: ast.expr, text: str) -> FileEdits:
    """Change the text that an expression comes from, keeping the quotation marks in use there."""
    node: ast.expr | ast.stmt | None = selector
    place: File | None = file
    if not isinstance(selector, ast.Constant):
        origin = value_origin(code.sources, file.file, selector)
        place = code.file(origin.file)
        node = None if place is None else place.node_at(origin)
    if place is None or not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return ()
    mark = place.source(node)[:1]
    word = text.strip("'\"")
    return replace(place, node, f"{mark}{word}{mark}" if mark in ("'", '"') else repr(word))


_NEUTRAL = ("linear", "none", "identity", "")


@dataclass(frozen=True)
class Choice:
    """The word, where it is written, and the argument through which it comes to the layer."""

    file: File
    word: ast.Constant
    call: ast.Call
    argument: ast.expr | ast.keyword
    made: ast.AST | None  # the class or function that is given the word


def choice_of(case: Case, place: Place | None, function: str) -> Choice | None:
    """The word that makes the function at a place what it is; None where none does, or more than one might."""
    if place is None:
        return None
    module = case.trace.get(ModuleFact, place.module) if place.module else None
    fact = case.trace.get(FunctionFact, place.component)
    found: list[Choice] = []
    holders = [fact.inside] if fact is not None else []
    if module is not None:
        holders.append(module.name.rpartition(".")[0])
        found += _of_function(case, module, function)
    for holder in holders:
        inside = case.trace.get(ModuleFact, holder)
        created = None if inside is None else case.code.call_at(inside.created)
        if inside is not None and created is not None:
            made = case.code.definition(inside.kind, ast.ClassDef)
            found += _words(case, *created, function, None if made is None else made[1])
    return found[0] if len({id(choice.word) for choice in found}) == 1 else None


def _of_function(case: Case, module: ModuleFact, function: str) -> Iterator[Choice]:
    """Calls of the function that makes the module, with the word among what they are given."""
    created = case.code.call_at(module.created)
    around = None if created is None else created[0].function(created[1])
    if around is None or around.name == "__init__":
        return
    for file in case.code.files():
        for call in file.calls(around.name):
            yield from _words(case, file, call, function, around)


def _words(case: Case, file: File, call: ast.Call, function: str, made: ast.AST | None) -> Iterator[Choice]:
    arguments: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    for argument in arguments:
        value = argument.value if isinstance(argument, ast.keyword) else argument
        place, word = _constant(case, file, value)
        if place is not None and word is not None and _plain(word.value) == _plain(function):
            yield Choice(place, word, call, argument, made)


def _constant(case: Case, file: File, value: ast.expr) -> tuple[File | None, ast.Constant | None]:
    """The text that an argument stands for, where it is written."""
    if isinstance(value, ast.Constant):
        return (file, value) if isinstance(value.value, str) else (None, None)
    if not isinstance(value, ast.Name | ast.Attribute | ast.Subscript):
        return None, None
    site = value_origin(case.sources, file.file, value)
    other = case.code.file(site.file)
    node = None if other is None else other.node_at(site)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return other, node
    return None, None


def _plain(word: object) -> str:
    return str(word).lower().replace("_", "")


def unchosen(case: Case, choice: Choice) -> FileEdits:
    """No activation: the word for that, or the default of the parameter where that means none."""
    word = next((key for key in _known(case, choice) if _is_neutral(case, key)), None)
    if word is not None:
        return replace(choice.file, choice.word, repr(word).replace("'", '"'))
    default = _default(choice)
    direct = choice.argument is choice.word or getattr(choice.argument, "value", None) is choice.word
    if default is None or not direct:
        return ()
    if isinstance(default, ast.Constant) and (default.value is None or _plain(default.value) in _NEUTRAL):
        if choice.call.args[-1:] == [choice.argument] or isinstance(choice.argument, ast.keyword):
            return delete_argument(choice.file, choice.call, choice.argument)
        return replace(choice.file, choice.word, ast.unparse(default))
    return ()


def chosen(case: Case, choice: Choice, to: str) -> FileEdits:
    """Another activation by its word, where the program knows one."""
    word = next((key for key in _known(case, choice) if _plain(key) == _plain(to)), None)
    return () if word is None else replace(choice.file, choice.word, repr(word).replace("'", '"'))


def _known(case: Case, choice: Choice) -> Iterator[str]:
    """The words beside which the chosen one is known: keys of a table, texts that it is compared with."""
    wanted = choice.word.value
    for file in case.code.files(choice.file.file):
        compared: list[str] = []
        for node in inside(file.tree, ast.Dict, ast.Compare):
            if isinstance(node, ast.Dict):
                keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                if wanted in keys and len(keys) == len(node.keys):
                    yield from (key for key in keys if isinstance(key, str))
            elif isinstance(node.ops[0], ast.Eq):
                sides = (node.left, *node.comparators)
                compared += [
                    s.value for s in sides if isinstance(s, ast.Constant) and isinstance(s.value, str)
                ]
        if wanted in compared:
            yield from compared


def _is_neutral(case: Case, key: str) -> bool:
    """Whether a key of a table stands for a function that changes nothing."""
    for file in case.code.files():
        for node in inside(file.tree, ast.Dict):
            for name, value in zip(node.keys, node.values, strict=True):
                if isinstance(name, ast.Constant) and name.value == key:
                    return _changes_nothing(value)
    return _plain(key) in _NEUTRAL


def _changes_nothing(value: ast.expr) -> bool:
    if isinstance(value, ast.Lambda):
        return isinstance(value.body, ast.Name) and [a.arg for a in value.args.args] == [value.body.id]
    if isinstance(value, ast.Constant):
        return value.value is None
    return last_name(value.func if isinstance(value, ast.Call) else value) in ("Identity", "identity")


def _default(choice: Choice) -> ast.expr | None:
    """What the parameter is where nothing is given for it."""
    made = choice.made
    if isinstance(made, ast.ClassDef):
        made = methods(made).get("__init__")
    if not isinstance(made, Function):
        return None
    names = [argument.arg for argument in made.args.args]
    offset = 1 if names[:1] == ["self"] else 0
    if isinstance(choice.argument, ast.keyword):
        name = choice.argument.arg
    else:
        index = choice.call.args.index(choice.argument) + offset
        name = names[index] if index < len(names) else None
    defaults = dict(zip(names[len(names) - len(made.args.defaults) :], made.args.defaults, strict=True))
    return defaults.get(name or "")
