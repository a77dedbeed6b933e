"""Where a program makes the environment that it trains in, and putting a wrapper around it there.

From the algorithm's `env` argument back: through variables, functions of the program, `Monitor(…)`, `VecNormalize(…)` and lists of
functions for parallel environments, to `gym.make(…)`, `make_vec_env(…)`, a class of the program's own, or the id as a text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from netmend.changes.case import Case
from netmend.mutate.agents.places import Training
from netmend.program.source.bindings import binding_of, results
from netmend.program.source.naming import imports, qualified
from netmend.program.source.writing import add_argument, insert_after, insert_before, replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import Function, last_name
from netmend.vocabulary.change import FileEdits

_MOST_HOPS = 12
_AROUND_MANY = (
    "VecNormalize",
    "VecMonitor",
    "VecFrameStack",
    "VecTransposeImage",
    "VecCheckNan",
    "VecExtractDictObs",
)
_PARALLEL = ("DummyVecEnv", "SubprocVecEnv")


@dataclass(frozen=True, eq=False)
class Made:
    """An expression that makes one environment (or several alike, where it is a call of `make_vec_env`)."""

    file: File
    node: ast.expr
    kind: str  # "make", "vector", "id", "class"


def environment_calls(case: Case, training: Training) -> list[tuple[File, ast.Call]]:
    """The calls that the environment passes through, outermost first: wrappers, then what makes it."""
    if training.environment is None:
        return []
    return [
        (file, node)
        for file, node in _passed(case, training.file, training.environment, 0)
        if isinstance(node, ast.Call)
    ]


def made_at(case: Case, training: Training) -> Made | None:
    """Where the training environment is made; None where that cannot be told."""
    if training.environment is None:
        return None
    last: tuple[File, ast.expr] | None = None
    for last in _passed(case, training.file, training.environment, 0):  # noqa: B007 - the innermost counts
        pass
    if last is None:
        return None
    file, node = last
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return Made(file, node, "id")
    if not isinstance(node, ast.Call):
        return None
    name = qualified(file, node.func)
    if name in ("gymnasium.make", "gym.make"):
        return Made(file, node, "make")
    if name.startswith("stable_baselines3.") and name.endswith(".make_vec_env"):
        return Made(file, node, "vector")
    if isinstance(node.func, ast.Name) and case.code.definition(node.func.id, ast.ClassDef) is not None:
        return Made(file, node, "class")
    return None


def _passed(case: Case, file: File, node: ast.expr, hops: int) -> Iterator[tuple[File, ast.expr]]:
    """Expressions on the way from a use of the environment to what makes it."""
    if hops > _MOST_HOPS:
        return
    if isinstance(node, ast.Name):
        binding = binding_of(file, node)
        if binding is not None and not binding.path:
            yield from _passed(case, file, binding.value, hops + 1)
        else:
            found = case.code.definition(node.id, ast.FunctionDef)
            if found is not None and isinstance(found[1], Function):
                yield from _returned(case, found[0], found[1], hops)
        return
    if isinstance(node, ast.Lambda):
        yield from _passed(case, file, node.body, hops + 1)
        return
    if isinstance(node, ast.List | ast.Tuple) and len(node.elts) == 1:
        yield from _passed(case, file, node.elts[0], hops + 1)
        return
    if isinstance(node, ast.ListComp):
        yield from _passed(case, file, node.elt, hops + 1)
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):  # [make_env] * 4
        side = node.left if isinstance(node.left, ast.List) else node.right
        yield from _passed(case, file, side, hops + 1)
        return
    if isinstance(node, ast.Constant):
        yield file, node
        return
    if isinstance(node, ast.Call):
        yield file, node
        inner = _inner(file, node)
        if inner is not None:
            yield from _passed(case, file, inner, hops + 1)
        elif isinstance(node.func, ast.Name):
            found = case.code.definition(node.func.id, ast.FunctionDef)
            if found is not None and isinstance(found[1], Function):
                yield from _returned(case, found[0], found[1], hops)


def _returned(case: Case, file: File, function: Function, hops: int) -> Iterator[tuple[File, ast.expr]]:
    """What a function returns; for one that returns a function, what that one does."""
    given = results(function)
    if len(given) != 1:
        return
    value = given[0]
    if isinstance(value, ast.Name):
        inner = [each for each in function.body if isinstance(each, Function) and each.name == value.id]
        if inner:
            yield from _returned(case, file, inner[0], hops + 1)
            return
    yield from _passed(case, file, value, hops + 1)


def _inner(file: File, call: ast.Call) -> ast.expr | None:
    """The environment that a wrapper is given."""
    name, kind = qualified(file, call.func), last_name(call.func)
    if kind in (*_AROUND_MANY, *_PARALLEL) or name.startswith("gymnasium.wrappers.") or kind == "Monitor":
        return (
            call.args[0]
            if call.args
            else next((k.value for k in call.keywords if k.arg in ("env", "venv", "env_fns")), None)
        )
    own_wrapper = isinstance(call.func, ast.Name) and kind.endswith("Wrapper")
    return call.args[0] if own_wrapper and call.args else None


def wrapped(place: Made, name: str, definition: str) -> FileEdits:
    """The environment within a wrapper class: the class behind the imports, and its name around what makes the environment.

    In the definition `{gym}` stands for what the file calls gymnasium.
    """
    file = place.file
    gym, extra = _gymnasium(file)
    written = definition.replace("{gym}", gym).strip("\n")
    anchor = _last_import(file)
    class_edits: FileEdits
    if anchor is not None:
        prefix = "import gymnasium as gym\n\n\n" if extra else "\n\n"
        class_edits = insert_after(file, anchor, f"{prefix}{written}")
    else:
        prefix = "import gymnasium as gym\n\n\n" if extra else ""
        class_edits = insert_before(file, file.tree.body[0], f"{prefix}{written}\n")
    around = _around(place, name, gym)
    return (*class_edits, *around) if around and class_edits else ()


def _around(place: Made, name: str, gym: str) -> FileEdits:
    file, node = place.file, place.node
    if place.kind == "id":
        return wrap(file, node, f"{name}({gym}.make(", "))")
    if place.kind in ("make", "class"):
        return wrap(file, node, f"{name}(", ")")
    assert isinstance(node, ast.Call)
    present = next((k.value for k in node.keywords if k.arg == "wrapper_class"), None)
    if present is None:
        if any(k.arg is None for k in node.keywords) or any(isinstance(a, ast.Starred) for a in node.args):
            return ()
        return add_argument(file, node, f"wrapper_class={name}")
    if any(k.arg == "wrapper_kwargs" for k in node.keywords):
        return ()
    return replace(file, present, f"lambda env: {name}({file.source(present)}(env))")


def _gymnasium(file: File) -> tuple[str, bool]:
    """What the file calls gymnasium, and whether it has to be imported first."""
    for local, full in imports(file).items():
        if full == "gymnasium":
            return local, False
    return "gym", True


def _last_import(file: File) -> ast.stmt | None:
    body = [s for s in file.tree.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    found = list(takewhile(lambda s: isinstance(s, ast.Import | ast.ImportFrom), body))
    return found[-1] if found else None
