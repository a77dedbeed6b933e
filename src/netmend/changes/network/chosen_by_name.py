"""Activations that a word chooses: `Dense(32, 1, "relu")`, `activation(CONFIG["output"])`; finding the word and writing another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.diagnose.measures.heads import Place
from netmend.program.settings import value_origin
from netmend.program.source.writing import delete_argument, replace
from netmend.program.text.file import File
from netmend.program.text.queries import Function, inside, last_name
from netmend.vocabulary import FunctionFact, ModuleFact
from netmend.vocabulary.change import FileEdits

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
        made = next((s for s in made.body if isinstance(s, Function) and s.name == "__init__"), None)
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
