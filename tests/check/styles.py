"""One program, written in many ways: rewrites that keep what a program does and change how it is written.

Each style takes a syntax tree and gives the files of the rewritten program, or None where it does not apply. Nodes keep the line
that they had (`origin`), so a finding in the rewritten text can be led back to the line of the original.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Files = dict[str, ast.Module]
Style = Callable[[ast.Module], "Files | None"]
MAIN = "example.py"
STYLES: dict[str, Style] = {}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TRAINING = ("backward", "step", "zero_grad")


def style(function: Style) -> Style:
    STYLES[function.__name__] = function
    return function


@dataclass
class Written:
    """A rewritten program: its files, and where each line of them stood in the original."""

    files: dict[str, str]
    origins: dict[tuple[str, int], set[int]] = field(default_factory=dict)


def written(source: str, name: str) -> Written | None:
    """The program in a style; None where the style does not apply or changes nothing."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.origin = node.lineno  # type: ignore[attr-defined]
    plain = ast.unparse(tree)
    files = STYLES[name](tree)
    if files is None:
        return None
    texts: dict[str, str] = {}
    result = Written(texts)
    for file, module in files.items():
        ast.fix_missing_locations(module)
        texts[file] = ast.unparse(module) + "\n"
        for old, new in zip(ast.walk(module), ast.walk(ast.parse(texts[file])), strict=False):
            if hasattr(old, "origin") and hasattr(new, "lineno"):
                result.origins.setdefault((file, new.lineno), set()).add(old.origin)
            for origin in getattr(old, "moved", ()):
                result.origins.setdefault((file, new.lineno), set()).add(origin)
    return None if len(texts) == 1 and texts[MAIN] == plain + "\n" else result


def _parse(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _stored(nodes: list[ast.stmt] | list[ast.AST]) -> list[str]:
    """Variables that statements assign, without what functions, classes and comprehensions keep to themselves."""
    found: list[str] = []
    waiting: list[ast.AST] = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        if isinstance(node, _DEFINITIONS):
            found.append(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.append(node.id)
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))
    return list(dict.fromkeys(found))


def _loaded(nodes: list[ast.stmt] | list[ast.AST]) -> list[str]:
    """Variables that statements read, and what `x += 1` needs."""
    found: list[str] = []
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.append(node.id)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found.append(node.target.id)
    return list(dict.fromkeys(found))


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_constant(node: ast.stmt, known: set[str]) -> bool:
    """`SIZE = 28 * 28`: stays at the top of the file in every style."""
    return isinstance(node, ast.Assign) and all(
        isinstance(part, ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop | ast.Tuple | ast.expr_context)
        or (isinstance(part, ast.Name) and (part.id in known or part.id.isupper()))
        for part in ast.walk(node.value)
    ) and all(isinstance(part, ast.Name | ast.Tuple | ast.expr_context) for target in node.targets for part in ast.walk(target))  # fmt: skip


@dataclass
class _Parts:
    imports: list[ast.stmt]
    constants: list[ast.stmt]
    free: list[ast.stmt]  # functions and classes that use no variable of the script
    script: list[ast.stmt]  # the rest, with functions and classes that do
    variables: list[str]  # of the script


def _parts(tree: ast.Module) -> _Parts | None:
    """A script taken apart; None where it shares variables in ways that a rewrite would break."""
    if any(isinstance(node, ast.Global | ast.Nonlocal | ast.If) and _is_odd(node) for node in ast.walk(tree)):
        return None
    body = tree.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    counts: dict[str, int] = {}
    for node in body:
        for name in _stored([node]):
            counts[name] = counts.get(name, 0) + 1
    constants: list[ast.stmt] = []
    known: set[str] = set()
    for node in body:
        if _is_constant(node, known) and all(counts[name] == 1 for name in _stored([node])):
            constants.append(node)
            known.update(_stored([node]))
    imports = [node for node in body if _is_import(node)]
    rest = [node for node in body if node not in imports and node not in constants]
    variables = set(_stored([node for node in rest if not isinstance(node, _DEFINITIONS)]))
    bound = {id(node) for node in rest if isinstance(node, _DEFINITIONS) and variables & set(_loaded([node]))}
    while True:
        names = {node.name for node in rest if id(node) in bound and isinstance(node, _DEFINITIONS)}
        more = {id(node) for node in rest if isinstance(node, _DEFINITIONS) and names & set(_loaded([node]))}
        if more <= bound:
            break
        bound |= more
    free = [node for node in rest if isinstance(node, _DEFINITIONS) and id(node) not in bound]
    script = [node for node in rest if node not in free]
    plain = [node for node in script if not isinstance(node, _DEFINITIONS)]
    used = {name for node in script for name in _loaded([node])}
    if (
        not plain
        or {"main", "Trainer"} & set(_stored(rest))
        or any(isinstance(node, _DEFINITIONS) and node.name not in used for node in script)
    ):
        return None
    return _Parts(imports, constants, free, script, _stored(script))


def _is_odd(node: ast.AST) -> bool:
    return not isinstance(node, ast.If) or "__name__" in ast.unparse(node.test)


def _trains(node: ast.AST) -> bool:
    return isinstance(node, ast.For | ast.While) and any(
        isinstance(part, ast.Attribute) and part.attr in _TRAINING for part in ast.walk(node)
    )


def _training_loops(tree: ast.AST) -> Iterator[ast.For | ast.While]:
    """Innermost loops that train."""
    for node in ast.walk(tree):
        is_loop = isinstance(node, ast.For | ast.While) and _trains(node)
        if is_loop and not any(_trains(inner) for inner in ast.walk(node) if inner is not node):
            yield node  # type: ignore[misc]


def _module(*bodies: list[ast.stmt]) -> ast.Module:
    return ast.Module([node for body in bodies for node in body], [])


def _function(name: str, parameters: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    made = _parse(f"def {name}({', '.join(parameters)}):\n    pass")[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = body
    return made


GUARD = "if __name__ == '__main__':\n    {}"


@style
def in_main(tree: ast.Module) -> Files | None:
    parts = _parts(tree)
    if parts is None:
        return None
    main = _function("main", [], parts.script)
    return {MAIN: _module(parts.imports, parts.constants, parts.free, [main], _parse(GUARD.format("main()")))}


class _ToSelf(ast.NodeTransformer):
    """Variables and functions of the script become attributes and methods."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.names:
            return node
        made = ast.Attribute(ast.Name("self", ast.Load()), node.id, node.ctx)
        return _like(made, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        arguments = node.args
        own = {part.arg for part in (*arguments.args, *arguments.kwonlyargs, *arguments.posonlyargs)}
        own |= set(_stored(list(node.body)))
        inner = _ToSelf(self.names - own)
        node.body = [inner.visit(part) for part in node.body]
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        own = {part.arg for part in node.args.args}
        node.body = _ToSelf(self.names - own).visit(node.body)
        return node

    def _comprehension(self, node: ast.AST) -> ast.AST:
        own = {
            name.id
            for part in node.generators  # type: ignore[attr-defined]
            for name in ast.walk(part.target)
            if isinstance(name, ast.Name)
        }
        inner = _ToSelf(self.names - own)
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                setattr(node, name, inner.visit(value))
            elif isinstance(value, list):
                setattr(node, name, [inner.generic_visit(part) for part in value])
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def _like(made: ast.AST, old: ast.AST) -> ast.AST:
    for node in ast.walk(made):
        if not hasattr(node, "origin") and hasattr(old, "origin"):
            node.origin = old.origin  # type: ignore[attr-defined]
    return made


def _methods(parts: _Parts) -> tuple[list[ast.stmt], list[ast.stmt], list[ast.stmt]] | None:
    """Set-up, what runs from the first training loop on, and functions of the script."""
    functions = [node for node in parts.script if isinstance(node, ast.FunctionDef)]
    if any(isinstance(node, ast.ClassDef) or getattr(node, "decorator_list", None) for node in parts.script):
        return None
    plain = [node for node in parts.script if node not in functions]
    first = next((place for place, node in enumerate(plain) if _trains(node)), None)
    if not first:
        return None
    return plain[:first], plain[first:], list(functions)


@style
def in_trainer(tree: ast.Module) -> Files | None:
    """A class that makes everything in `__init__` and trains in `fit`."""
    parts = _parts(tree)
    pieces = _methods(parts) if parts is not None else None
    if parts is None or pieces is None:
        return None
    before, after, functions = pieces
    names = {function.name for function in functions} | set(_stored(before))
    names |= {name for name in _stored(after) if name in _loaded(list(functions))}
    change = _ToSelf(names)
    methods = [
        _function("__init__", ["self"], [change.visit(node) for node in before]),
        *(change.visit_FunctionDef(function) for function in functions),
        _function("fit", ["self"], [change.visit(node) for node in after]),
    ]
    for function in functions:
        function.args.args.insert(0, ast.arg("self"))
    made = _parse("class Trainer:\n    pass")[0]
    assert isinstance(made, ast.ClassDef)
    made.body = list(methods)
    ending = _parse(GUARD.format("trainer = Trainer()\n    trainer.fit()"))
    return {MAIN: _module(parts.imports, parts.constants, parts.free, [made], ending)}


@style
def in_trainer_given(tree: ast.Module) -> Files | None:
    """A class that is given what `main` made, and trains epoch by epoch in methods."""
    parts = _parts(tree)
    pieces = _methods(parts) if parts is not None else None
    if parts is None or pieces is None or pieces[2]:
        return None
    before, after, _ = pieces
    given = [name for name in _loaded(list(after)) if name in _stored(before)]
    if not given:
        return None
    change = _ToSelf(set(given))
    store = [_parse(f"self.{name} = {name}")[0] for name in given]
    body = [change.visit(node) for node in after]
    methods: list[ast.stmt] = [_function("__init__", ["self", *given], store)]
    first = body[0]
    if isinstance(first, ast.For) and not first.orelse and isinstance(first.target, ast.Name):
        inner = first.body
        if not (set(_stored(list(inner))) & set(_loaded(body[1:]))) and not _leaves(first):
            methods.append(_function("train_epoch", ["self", first.target.id], inner))
            first.body = _parse(f"self.train_epoch({first.target.id})")
    methods.append(_function("fit", ["self"], body))
    made = _parse("class Trainer:\n    pass")[0]
    assert isinstance(made, ast.ClassDef)
    made.body = methods
    call = _parse(f"trainer = Trainer({', '.join(given)})\ntrainer.fit()")
    main = _function("main", [], [*before, *call])
    return {
        MAIN: _module(
            parts.imports, parts.constants, parts.free, [made, main], _parse(GUARD.format("main()"))
        )
    }


def _leaves(loop: ast.AST) -> bool:
    return any(isinstance(node, ast.Break | ast.Continue | ast.Return | ast.Yield) for node in ast.walk(loop))


def _cut_out(parts: _Parts, name: str) -> tuple[ast.FunctionDef, list[ast.stmt]] | None:
    """The first training loop of the script as a function with parameters, and the script that calls it."""
    place = next((place for place, node in enumerate(parts.script) if _trains(node)), None)
    if place is None:
        return None
    loop, rest = parts.script[place], parts.script[place + 1 :]
    before = set(_stored(parts.script[:place])) | {name for name in parts.variables if name in _stored(rest)}
    given = [name for name in _loaded([loop]) if name in before]
    functions = [node for node in parts.script if isinstance(node, _DEFINITIONS)]
    back = [name for name in _stored([loop]) if name in _loaded([*rest, *functions])]
    body: list[ast.stmt] = [loop]
    call = f"{name}({', '.join(given)})"
    if back:
        body += _parse(f"return {', '.join(back)}")
        call = f"{', '.join(back)} = {call}"
    script = [*parts.script[:place], *_parse(call), *rest]
    return _function(name, given, body), script


@style
def loop_in_function(tree: ast.Module) -> Files | None:
    parts = _parts(tree)
    pieces = _cut_out(parts, "train") if parts is not None else None
    if parts is None or pieces is None or "train" in parts.variables:
        return None
    main = _function("main", [], pieces[1])
    return {
        MAIN: _module(
            parts.imports, parts.constants, parts.free, [pieces[0], main], _parse(GUARD.format("main()"))
        )
    }


@style
def loop_in_other_file(tree: ast.Module) -> Files | None:
    parts = _parts(tree)
    pieces = _cut_out(parts, "train_model") if parts is not None else None
    if parts is None or pieces is None:
        return None
    common = [*parts.imports, *parts.constants]
    inside = set(_loaded([pieces[0]]))
    if any(isinstance(node, _DEFINITIONS) and node.name in inside for node in parts.free):
        return None
    engine = _module(copy.deepcopy(common), [pieces[0]])
    return {
        MAIN: _module(common, _parse("from engine import train_model"), parts.free, pieces[1]),
        "engine.py": engine,
    }


@style
def models_in_other_file(tree: ast.Module) -> Files | None:
    parts = _parts(tree)
    classes = [node for node in parts.free if isinstance(node, ast.ClassDef)] if parts is not None else []
    if parts is None or not classes:
        return None
    common = [*parts.imports, *parts.constants]
    names = {node.name for node in parts.free if isinstance(node, ast.FunctionDef)}
    if names & set(_loaded(list(classes))):
        return None
    own = [node for node in parts.free if node not in classes]
    importing = _parse(f"from model import {', '.join(node.name for node in classes)}")
    return {
        MAIN: _module(common, importing, own, parts.script),
        "model.py": _module(copy.deepcopy(common), list(classes)),
    }


@style
def batches_in_function(tree: ast.Module) -> Files | None:
    """The innermost training loop as a function, called once per epoch."""
    parts = _parts(tree)
    if parts is None:
        return None
    outer = next((node for node in parts.script if _trains(node)), None)
    inner = next((node for node in getattr(outer, "body", ()) if _trains(node)), None)
    if outer is None or inner is None or not isinstance(inner, ast.For):
        return None
    before = set(parts.variables)
    given = [name for name in _loaded([inner]) if name in before and name not in _stored([inner.target])]
    fresh = [name for name in given if name not in _stored(parts.script[: parts.script.index(outer)])]
    elsewhere = [
        node for node in ast.walk(ast.Module([outer, *parts.script], [])) if isinstance(node, ast.Name)
    ]
    inside = {id(node) for node in ast.walk(inner)}
    used = {node.id for node in elsewhere if id(node) not in inside and isinstance(node.ctx, ast.Load)}
    back = [name for name in _stored([inner]) if name in used]
    del fresh
    set_before = set(_stored(parts.script[: parts.script.index(outer)]))
    set_before |= set(_stored([outer.target] if isinstance(outer, ast.For) else []))  # type: ignore[list-item]
    set_before |= set(_stored(outer.body[: outer.body.index(inner)]))
    given = [name for name in given if name in set_before]
    body: list[ast.stmt] = [inner]
    call = f"run_epoch({', '.join(given)})"
    if back:
        body += _parse(f"return {', '.join(back)}")
        call = f"{', '.join(back)} = {call}"
    outer.body[outer.body.index(inner)] = _parse(call)[0]
    return {
        MAIN: _module(
            parts.imports, parts.constants, parts.free, [_function("run_epoch", given, body)], parts.script
        )
    }


@style
def step_in_function(tree: ast.Module) -> Files | None:
    """What is done with one batch, as a function."""
    parts = _parts(tree)
    if parts is None:
        return None
    plain = [node for node in parts.script if not isinstance(node, _DEFINITIONS)]
    loop = next((found for node in plain for found in _training_loops(node)), None)
    if (
        not isinstance(loop, ast.For)
        or _leaves(loop)
        or any(isinstance(node, _DEFINITIONS) for node in loop.body)
    ):
        return None
    given = [name for name in _loaded(list(loop.body)) if name in parts.variables]
    inside = {id(node) for part in loop.body for node in ast.walk(part)}
    used = {
        node.id
        for part in parts.script
        for node in ast.walk(part)
        if isinstance(node, ast.Name) and id(node) not in inside and isinstance(node.ctx, ast.Load)
    }
    stored = _stored(list(loop.body))
    carried = [name for name in stored if name in given and not _first_stored(loop.body, name)]
    back = [name for name in stored if name in used or name in carried]
    given = [name for name in given if name not in stored or name in carried]
    body = list(loop.body)
    call = f"training_step({', '.join(given)})"
    if back:
        body += _parse(f"return {', '.join(back)}")
        call = f"{', '.join(back)} = {call}"
    loop.body = _parse(call)
    loop.body[0].moved = {node.origin for part in body for node in ast.walk(part) if hasattr(node, "origin")}  # type: ignore[attr-defined]
    function = _function("training_step", given, body)
    return {MAIN: _module(parts.imports, parts.constants, parts.free, [function], parts.script)}


def _first_stored(body: list[ast.stmt], name: str) -> bool:
    """Is a variable assigned in each round before it is read?"""
    for node in body:
        if name in _loaded([node]):
            return False
        if name in _stored([node]):
            return isinstance(node, ast.Assign | ast.For | ast.With)
    return False


@style
def interrupted(tree: ast.Module) -> Files | None:
    parts = _parts(tree)
    place = next((place for place, node in enumerate(parts.script) if _trains(node)), None) if parts else None
    if parts is None or place is None:
        return None
    loop = parts.script[place]
    wrapped = _parse("try:\n    pass\nexcept KeyboardInterrupt:\n    print('stopped')")[0]
    assert isinstance(wrapped, ast.Try)
    wrapped.body = [loop]
    parts.script[place] = wrapped
    return {MAIN: _module(parts.imports, parts.constants, parts.free, parts.script)}


# Names of libraries


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.names:
            return _like(_expression(self.names[node.id]), node)
        return node


def _imported(tree: ast.Module) -> dict[str, str]:
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


@style
def long_names(tree: ast.Module) -> Files | None:
    """`import torch as th`, and everything of it by its full name."""
    imported = _imported(tree)
    names = {
        name: "th" + full[5:]
        for name, full in imported.items()
        if full == "torch" or full.startswith("torch.")
    }
    if not names or any(
        name in _stored([part for part in tree.body if not _is_import(part)]) for name in names
    ):
        return None
    rest = [node for node in tree.body if not _is_import(node) or not _is_torch(node)]
    rest = [_Renamed(names).visit(node) for node in rest]
    future = [node for node in rest if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    rest = [node for node in rest if node not in future]
    return {MAIN: _module(future, _parse("import torch as th"), rest)}


def _is_torch(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")[0] == "torch"
    return isinstance(node, ast.Import) and all(alias.name.split(".")[0] == "torch" for alias in node.names)


_SHORTENED = (
    "torch.nn",
    "torch.optim",
    "torch.utils.data",
    "torch.optim.lr_scheduler",
    "torch.nn.functional",
)


@style
def short_names(tree: ast.Module) -> Files | None:
    """`from torch.nn import Linear` and `from torch.optim import Adam`."""
    imported = _imported(tree)
    taken = set(_stored(list(tree.body))) | set(imported) | set(dir(builtins))
    found: dict[str, str] = {}

    class Short(ast.NodeTransformer):
        def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
            dotted = ast.unparse(node)
            first, _, rest = dotted.partition(".")
            full = f"{imported.get(first, '')}.{rest}"
            module = full.rpartition(".")[0]
            last = node.attr
            is_free = last not in taken and found.get(last, full) == full and isinstance(node.ctx, ast.Load)
            if is_free and module in _SHORTENED:
                if module != "torch.nn.functional" and not last[0].isupper():
                    return node
                found[last] = full
                return _like(ast.Name(last, ast.Load()), node)
            return self.generic_visit(node)

    body = [node if _is_import(node) else Short().visit(node) for node in tree.body]
    if not found:
        return None
    start = 1 if isinstance(body[0], ast.ImportFrom) and body[0].module == "__future__" else 0
    lines = [f"from {full.rpartition('.')[0]} import {name}" for name, full in found.items()]
    body[start:start] = _parse("\n".join(lines))
    return {MAIN: _module(body)}


# Hyperparameters

_CONSTRUCTED = ("torch.optim", "torch.nn", "torch.utils.data")


def _settings(
    tree: ast.Module, reference: Callable[[str], str], *, shapes: bool
) -> list[tuple[str, ast.Constant]] | None:
    """Numbers given to what the script makes, replaced by references to settings."""
    parts = _parts(copy.deepcopy(tree))
    if parts is None:
        return None
    found: list[tuple[str, ast.Constant]] = []
    for statement in tree.body:
        if isinstance(statement, _DEFINITIONS):
            continue
        for node in ast.walk(statement):
            if not isinstance(node, ast.Call):
                continue
            last = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if not last[:1].isupper() and last != "range":
                continue
            if not shapes and not ("optim" in ast.unparse(node.func) or last.endswith(("LR", "range"))):
                continue
            for place, value in enumerate(node.args):
                if _is_number(value):
                    name = f"{last.lower()}_{len(found)}"
                    node.args[place] = _like(_expression(reference(name)), value)  # type: ignore[call-overload]
                    found.append((name, value))  # type: ignore[arg-type]
            for keyword in node.keywords:
                if _is_number(keyword.value) and keyword.arg:
                    name = f"{keyword.arg}_{len(found)}"
                    value = keyword.value
                    keyword.value = _like(_expression(reference(name)), value)  # type: ignore[assignment]
                    found.append((name, value))  # type: ignore[arg-type]
    return found or None


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _configured(
    tree: ast.Module, reference: str, lines: Callable[[list[tuple[str, str]]], str], *, shapes: bool = True
) -> Files | None:
    found = _settings(tree, lambda name: reference.format(name), shapes=shapes)
    if found is None:
        return None
    made = _parse(lines([(name, repr(value.value)) for name, value in found]))
    for node in (part for statement in made for part in ast.walk(statement)):
        if isinstance(node, ast.Constant):
            node.origin = -1  # type: ignore[attr-defined]
    imports = [node for node in tree.body if _is_import(node)]
    return {MAIN: _module(imports, made, [node for node in tree.body if not _is_import(node)])}


@style
def settings_in_constants(tree: ast.Module) -> Files | None:
    return _configured(
        tree, "CFG_{}", lambda pairs: "\n".join(f"CFG_{name} = {value}" for name, value in pairs)
    )


@style
def settings_in_dict(tree: ast.Module) -> Files | None:
    return _configured(
        tree,
        "config['{}']",
        lambda pairs: "config = {" + ", ".join(f"'{name}': {value}" for name, value in pairs) + "}",
    )


@style
def settings_in_dataclass(tree: ast.Module) -> Files | None:
    def lines(pairs: list[tuple[str, str]]) -> str:
        fields = "\n".join(f"    {name}: float = {value}" for name, value in pairs)
        return f"from dataclasses import dataclass\n@dataclass\nclass Config:\n{fields}\ncfg = Config()"

    return _configured(tree, "cfg.{}", lines)


@style
def settings_in_class(tree: ast.Module) -> Files | None:
    def lines(pairs: list[tuple[str, str]]) -> str:
        return "class CFG:\n" + "\n".join(f"    {name} = {value}" for name, value in pairs)

    return _configured(tree, "CFG.{}", lines)


@style
def settings_by_argparse(tree: ast.Module) -> Files | None:
    def lines(pairs: list[tuple[str, str]]) -> str:
        options = "\n".join(
            f"parser.add_argument('--{name.replace('_', '-')}', type={'float' if '.' in value or 'e' in value else 'int'}, default={value})"
            for name, value in pairs
        )
        return f"import argparse\nparser = argparse.ArgumentParser()\n{options}\nargs = parser.parse_args()"

    return _configured(tree, "args.{}", lines, shapes=False)


@style
def settings_by_argparse_function(tree: ast.Module) -> Files | None:
    def lines(pairs: list[tuple[str, str]]) -> str:
        options = "\n".join(
            f"    parser.add_argument('--{name.replace('_', '-')}', type={'float' if '.' in value or 'e' in value else 'int'}, default={value})"
            for name, value in pairs
        )
        return (
            f"import argparse\ndef parse_args():\n    parser = argparse.ArgumentParser(description='x')\n{options}\n    return parser.parse_args()\n"
            "args = parse_args()"
        )

    return _configured(tree, "args.{}", lines, shapes=False)


# Loops


def _batch_loops(tree: ast.Module) -> list[ast.For]:
    """`for` loops over something that is no range, zip or enumerate."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and _trains(node):
            called = node.iter.func if isinstance(node.iter, ast.Call) else None
            if called is None or ast.unparse(called).endswith("loader"):
                found.append(node)
    return found


def _wrapped(tree: ast.Module, pattern: str, importing: str = "") -> Files | None:
    loops = _batch_loops(tree)
    if not loops:
        return None
    for loop in loops:
        made = _expression(pattern.replace("LOADER", "__loader__"))
        old = loop.iter

        class Put(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.AST:
                return old if node.id == "__loader__" else node  # noqa: B023

        loop.iter = Put().visit(made)
    return {MAIN: _module(_parse(importing), tree.body) if importing else tree}


@style
def with_bar(tree: ast.Module) -> Files | None:
    return _wrapped(tree, "tqdm(LOADER, desc='train', leave=False)", "from tqdm import tqdm")


@style
def with_bar_of_module(tree: ast.Module) -> Files | None:
    return _wrapped(tree, "tqdm.tqdm(LOADER, total=len(LOADER))", "import tqdm")


@style
def counted(tree: ast.Module) -> Files | None:
    for loop in _batch_loops(tree):
        loop.iter = _expression_with("enumerate(X, 1)", loop.iter)
        loop.target = ast.Tuple([ast.Name("step_number", ast.Store()), loop.target], ast.Store())
    return {MAIN: tree}


@style
def counted_bar(tree: ast.Module) -> Files | None:
    loops = _batch_loops(tree)
    for loop in loops:
        loop.iter = _expression_with("enumerate(tqdm(X))", loop.iter)
        loop.target = ast.Tuple([ast.Name("step_number", ast.Store()), loop.target], ast.Store())
    return {MAIN: _module(_parse("from tqdm.auto import tqdm"), tree.body)} if loops else None


def _expression_with(text: str, inner: ast.expr) -> ast.expr:
    class Put(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return inner if node.id == "X" else node

    return Put().visit(_expression(text))  # type: ignore[no-any-return]


@style
def unpacked_later(tree: ast.Module) -> Files | None:
    for loop in _batch_loops(tree):
        if isinstance(loop.target, ast.Tuple):
            unpacking = _like(_parse("a = batch")[0], loop.target)
            assert isinstance(unpacking, ast.Assign)
            unpacking.targets = [loop.target]
            loop.target = ast.Name("batch", ast.Store())
            loop.body.insert(0, unpacking)
    return {MAIN: tree}


@style
def indexed(tree: ast.Module) -> Files | None:
    for loop in _batch_loops(tree):
        target = loop.target
        if isinstance(target, ast.Tuple) and all(isinstance(part, ast.Name) for part in target.elts):
            loop.target = ast.Name("batch", ast.Store())
            for place, part in reversed(list(enumerate(target.elts))):
                loop.body.insert(0, _like(_parse(f"{part.id} = batch[{place}]")[0], part))  # type: ignore[attr-defined, arg-type]
    return {MAIN: tree}


@style
def by_iterator(tree: ast.Module) -> Files | None:
    """`batches = iter(loader)`, then `next(batch_source)` in a loop that counts."""
    changed = False
    for holder in ast.walk(tree):
        body = getattr(holder, "body", None)
        if not isinstance(body, list):
            continue
        for loop in [node for node in body if isinstance(node, ast.For)]:
            if loop not in _batch_loops(ast.Module([loop], [])) or any(
                isinstance(node, ast.Continue) for node in ast.walk(loop)
            ):
                continue
            source = ast.unparse(loop.iter)
            taking = _like(_parse("x = next(batch_source)")[0], loop.target)
            assert isinstance(taking, ast.Assign)
            taking.targets = [loop.target]
            body.insert(body.index(loop), _parse(f"batch_source = iter({source})")[0])
            loop.iter = _expression(f"range(len({source}))")
            loop.target = ast.Name("_", ast.Store())
            loop.body.insert(0, taking)
            changed = True
    return {MAIN: tree} if changed else None


@style
def counting_while(tree: ast.Module) -> Files | None:
    """`while epoch < 10:` instead of `for epoch in range(10)`."""
    changed = False
    for holder in ast.walk(tree):
        body = getattr(holder, "body", None)
        if not isinstance(body, list):
            continue
        for loop in [node for node in body if isinstance(node, ast.For) and _trains(node)]:
            if (
                not isinstance(loop.iter, ast.Call)
                or ast.unparse(loop.iter.func) != "range"
                or len(loop.iter.args) != 1
            ):
                continue
            if any(isinstance(node, ast.Continue) for node in ast.walk(loop)) or not isinstance(
                loop.target, ast.Name
            ):
                continue
            name = loop.target.id if loop.target.id != "_" else "epoch_number"
            start, made = _parse(f"{name} = 0\nwhile {name} < 1:\n    pass")
            assert isinstance(made, ast.While) and isinstance(made.test, ast.Compare)
            made.test.comparators = [loop.iter.args[0]]
            made.body = [*loop.body, *_parse(f"{name} += 1")]
            place = body.index(loop)
            body[place : place + 1] = [start, _like(made, loop)]  # type: ignore[list-item]
            changed = True
    return {MAIN: tree} if changed else None


@style
def walrus(tree: ast.Module) -> Files | None:
    changed = False
    for loop in _training_loops(tree):
        for first, second in list(zip(loop.body, loop.body[1:], strict=False)):
            if (
                isinstance(first, ast.Assign)
                and isinstance(first.targets[0], ast.Name)
                and isinstance(second, ast.Expr)
                and ast.unparse(second).startswith(f"{first.targets[0].id}.backward(")
                and isinstance(second.value, ast.Call)
                and isinstance(second.value.func, ast.Attribute)
            ):
                second.value.func.value = ast.NamedExpr(
                    ast.Name(first.targets[0].id, ast.Store()), first.value
                )
                loop.body.remove(first)
                changed = True
    return {MAIN: tree} if changed else None


# What surrounds training


def _models(tree: ast.Module) -> list[tuple[int, str]]:
    """Where the script makes the models whose parameters it reads."""
    read = {
        node.func.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "parameters"
        and isinstance(node.func.value, ast.Name)
    }
    return [
        (place, node.targets[0].id)
        for place, node in enumerate(tree.body)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in read
        and isinstance(node.value, ast.Call)
    ]


_KEPT = frozenset(
    (
        "parameters",
        "named_parameters",
        "train",
        "eval",
        "to",
        "cuda",
        "state_dict",
        "load_state_dict",
        "zero_grad",
        "apply",
        "modules",
        "requires_grad_",
    )
)


def _is_reached_into(tree: ast.Module, name: str) -> bool:
    """`net.head`, which a wrapper does not have."""
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        and node.attr not in _KEPT
        for node in ast.walk(tree)
    )


def _after_models(tree: ast.Module, text: str) -> Files | None:
    models = _models(tree)
    if not models or any(_is_reached_into(tree, name) for _, name in models):
        return None
    for place, name in reversed(models):
        tree.body[place + 1 : place + 1] = _parse(text.replace("MODEL", name))
    return {MAIN: _module(_parse("import torch"), tree.body)}


@style
def compiled(tree: ast.Module) -> Files | None:
    return _after_models(tree, "MODEL = torch.compile(MODEL)")


@style
def parallel(tree: ast.Module) -> Files | None:
    return _after_models(tree, "MODEL = torch.nn.DataParallel(MODEL)")


@style
def parallel_where_possible(tree: ast.Module) -> Files | None:
    return _after_models(tree, "if torch.cuda.device_count() > 1:\n    MODEL = torch.nn.DataParallel(MODEL)")


@style
def on_device(tree: ast.Module) -> Files | None:
    """Models and batches are moved to a device that is chosen at the start."""
    models = _models(tree)
    loops = _batch_loops(tree)
    if not models or not loops:
        return None
    for place, name in reversed(models):
        tree.body[place + 1 : place + 1] = _parse(f"{name} = {name}.to(device)")
    for loop in loops:
        for name in reversed(_stored([loop.target])):
            loop.body.insert(0, _parse(f"{name} = {name}.to(device, non_blocking=True)")[0])
    start = _parse("import torch\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu')")
    return {MAIN: _module(start, tree.body)}


@style
def mixed_precision(tree: ast.Module) -> Files | None:
    """Losses are computed under autocast, scaled, and applied by a scaler."""
    if "scaler" in ast.unparse(tree).lower() or "autocast" in ast.unparse(tree):
        return None
    if "clip_grad" in ast.unparse(tree):
        return None  # would have to be unscaled first
    changed = False
    for loop in _training_loops(tree):
        steps = [node for node in ast.walk(loop) if isinstance(node, ast.Expr) and _called(node) == "step"]
        backwards = [
            node for node in ast.walk(loop) if isinstance(node, ast.Expr) and _called(node) == "backward"
        ]
        if any(node.value.args for node in steps if isinstance(node.value, ast.Call)):
            continue
        if not backwards or not steps or not all(node in loop.body for node in (*steps, *backwards)):
            continue
        changed = True
        for node in backwards:
            call = node.value
            assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
            call.func.value = _like(_expression_with("scaler.scale(X)", call.func.value), node)  # type: ignore[assignment]
        for node in steps:
            call = node.value
            assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
            if not _is_optimiser(call.func.value):
                continue
            node.value = _like(_expression_with("scaler.step(X)", call.func.value), node)  # type: ignore[assignment]
            loop.body.insert(loop.body.index(node) + 1, _parse("scaler.update()")[0])
        for place, node in enumerate(loop.body):
            if isinstance(node, ast.Assign) and "loss" in ast.unparse(node.targets[0]):
                guard = _parse("with torch.autocast('cuda', dtype=torch.float16):\n    pass")[0]
                assert isinstance(guard, ast.With)
                guard.body = [node]
                loop.body[place] = guard
    start = _parse("import torch\nscaler = torch.amp.GradScaler('cuda')")
    return {MAIN: _module(start, tree.body)} if changed else None


def _called(node: ast.Expr) -> str:
    call = node.value
    return call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""


def _is_optimiser(node: ast.AST) -> bool:
    text = ast.unparse(node).lower()
    return "sched" not in text and "plan" not in text


@style
def accelerated(tree: ast.Module) -> Files | None:
    """Hugging Face accelerate: what trains is prepared, and `accelerator.backward(loss)`."""
    models = _models(tree)
    loops = list(
        _training_loops(ast.Module([node for node in tree.body if not isinstance(node, _DEFINITIONS)], []))
    )
    made = [
        (place, node.targets[0].id)
        for place, node in enumerate(tree.body)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and "optim." in ast.unparse(node.value)
        and isinstance(node.value, ast.Call) and ".parameters()" in ast.unparse(node.value)
    ]  # fmt: skip
    if len(models) != 1 or len(made) != 1 or not loops or made[0][0] < models[0][0]:
        return None
    for loop in loops:
        for node in ast.walk(loop):
            if isinstance(node, ast.Expr) and _called(node) == "backward":
                call = node.value
                assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
                node.value = _like(_expression_with("accelerator.backward(X)", call.func.value), node)  # type: ignore[assignment]
    model, optimiser = models[0][1], made[0][1]
    tree.body.insert(
        made[0][0] + 1, _parse(f"{model}, {optimiser} = accelerator.prepare({model}, {optimiser})")[0]
    )
    start = _parse("from accelerate import Accelerator\naccelerator = Accelerator()")
    return {MAIN: _module(start, tree.body)}


@style
def logged_and_saved(tree: ast.Module) -> Files | None:
    """A writer, a bar and a checkpoint get what they need."""
    models = _models(tree)
    changed = False
    for loop in _training_loops(tree):
        if "loss" in _stored(list(loop.body)) and not _leaves(loop):
            loop.body += _parse(
                "writer.add_scalar('loss', loss.item(), 0)\nlogger.info('loss %.3f', loss.item())"
            )
            changed = True
    if not changed or not models:
        return None
    place = next((place for place, node in enumerate(tree.body) if _trains(node)), None)
    if place is None:
        return None
    loop = tree.body[place]
    assert isinstance(loop, ast.For | ast.While)
    saving = f"torch.save({{'model': {models[0][1]}.state_dict()}}, 'last.pt')"
    loop.body += _parse(f"if time.time() - started > 60:\n    {saving}\n    break")
    start = _parse(
        "import time\nimport logging\nimport torch\nfrom torch.utils.tensorboard import SummaryWriter\n"
        "logger = logging.getLogger(__name__)\nwriter = SummaryWriter()\nstarted = time.time()"
    )
    return {MAIN: _module(start, tree.body)}


_HINTS = {
    "model": "torch.nn.Module", "net": "torch.nn.Module", "optimizer": "torch.optim.Optimizer", "opt": "torch.optim.Optimizer",
    "loader": "torch.utils.data.DataLoader", "train_loader": "torch.utils.data.DataLoader", "criterion": "torch.nn.Module",
    "epochs": "int", "device": "torch.device", "x": "torch.Tensor", "y": "torch.Tensor",
}  # fmt: skip


@style
def hinted(tree: ast.Module) -> Files | None:
    changed = False
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for argument in node.args.args:
                if argument.arg in _HINTS and argument.annotation is None:
                    argument.annotation = _expression(_HINTS[argument.arg])
                    changed = True
    for place, node in enumerate(tree.body):
        if (
            not isinstance(node, ast.Assign)
            or len(node.targets) != 1
            or not isinstance(node.value, ast.Constant)
        ):
            continue
        target = node.targets[0]
        if isinstance(target, ast.Name) and _stored(list(tree.body)).count(target.id) == 1:
            hint = ast.Name(type(node.value.value).__name__, ast.Load())
            tree.body[place] = _like(ast.AnnAssign(target, hint, node.value, 1), node)  # type: ignore[call-overload]
            changed = True
    if not changed:
        return None
    start = 1 if isinstance(tree.body[0], ast.ImportFrom) and tree.body[0].module == "__future__" else 0
    return {MAIN: _module(tree.body[:start], _parse("import torch"), tree.body[start:])}


@style
def trainer_from_other_file(tree: ast.Module) -> Files | None:
    """The class of `in_trainer_given`, in a file of its own."""
    files = in_trainer_given(tree)
    if files is None:
        return None
    body = files[MAIN].body
    trainer = [node for node in body if isinstance(node, ast.ClassDef) and node.name == "Trainer"]
    own = [
        node
        for node in body
        if isinstance(node, _DEFINITIONS) and node not in trainer and node.name != "main"
    ]
    if {node.name for node in own} & set(_loaded(list(trainer))):
        return None
    constants = [node for node in body if isinstance(node, ast.Assign)]
    imports = [node for node in body if _is_import(node)]
    rest = [node for node in body if node not in trainer]
    return {
        MAIN: _module(_parse("from trainer import Trainer"), rest),
        "trainer.py": _module(copy.deepcopy([*imports, *constants]), list(trainer)),
    }
