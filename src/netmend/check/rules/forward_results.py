"""Results inside forward() that go nowhere."""

from __future__ import annotations

import ast

from netmend.check.examples import TORCH_F, net
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.library.activations import SHARES
from netmend.program.engine.history import STORE, Body, Branch, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Class, Name, Value, resolved
from netmend.program.meaning.modules import (
    DROPOUTS,
    NORMS,
    RANDOM,
    bodies,
    forward_around,
    learns,
    module_classes,
    self_name,
)
from netmend.program.meaning.operations import ACTIVATIONS, Op, operation
from netmend.program.meaning.paths import Paths, paths
from netmend.program.meaning.sizes import LITERAL_LAYERS, setting
from netmend.program.text.edits import insert_after, replace
from netmend.program.text.queries import inside, names_in
from netmend.vocabulary.finding import Fix

OUTPUT_NET = net(
    "fc = nn.Linear(4, 8)",
    "bn = nn.BatchNorm1d(8)",
    "act = nn.ReLU(inplace=True)",
    "skip = nn.Linear(4, 8)",
    "out = nn.Linear(8, 1)",
    head=TORCH_F,
)
_PURE = ACTIVATIONS | DROPOUTS | NORMS | (RANDOM - {"lstm", "gru", "rnn"}) | {
    "maxpool1d", "maxpool2d", "avgpool2d", "max_pool2d", "avg_pool2d", "flatten", "normalize", "batch_norm", "layer_norm",
}  # fmt: skip
_PROBABILITIES = frozenset((*SHARES, "log_softmax", "logsoftmax"))


class OutputThrownAway(StaticRule, code="S317", cause="ARC-NET-WRONG", in_tests=False):
    """The result of a layer or tensor function in `forward` is never used.

    Layers and functions return a new tensor and leave their input as it was: `self.bn(x)` on a line of its own does nothing, and a
    branch whose result no later line reads gets no gradient and never learns.

    Assign the result (`x = self.bn(x)`) or use it where it was meant to go.
    """

    message = "The result of this call is never used, so it does nothing; assign it or use it."
    triggers = ("def forward",)
    patterns = (
        r"^(?<![(\[{,]\n)[ \t]+(?:self\.(?!post_init|_)\w+|F\.\w+|torch\.\w+)\(\s*[a-z]\w*\s*[,)]",
        LITERAL_LAYERS,
    )

    GOOD = (
        Snippet("assigned", OUTPUT_NET + "        x = self.bn(self.fc(x))\n        return self.out(F.relu(x))\n"),
        Snippet("changes its input", OUTPUT_NET + "        x = self.fc(x)\n        self.act(x)\n        F.relu(x, inplace=True)\n        return self.out(x)\n"),
        Snippet("kept in the object", OUTPUT_NET + "        self.last = self.fc(x)\n        return self.out(self.last)\n"),
        Snippet("probabilities nobody asked for", OUTPUT_NET + "        scores = self.out(F.relu(self.fc(x)))\n        probs = F.softmax(scores, dim=1)\n        return scores\n"),
        Snippet("deleted again", OUTPUT_NET + "        h = self.skip(x)\n        del h\n        return self.out(self.fc(x))\n"),
    )  # fmt: skip
    BAD = (
        mended("on a line of its own", OUTPUT_NET + "        x = self.fc(x)\n        ⟨ → x = ⟩self.bn(x)\n        return self.out(x)\n"),
        mended("function on a line of its own", OUTPUT_NET + "        x = self.fc(x)\n        ⟨ → x = ⟩F.relu(x)\n        return self.out(x)\n"),
        Snippet("a branch nobody reads", OUTPUT_NET + "        a = self.fc(x)\n        b = self.skip(x)\n        return self.out(a + a)\n", line=16),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        alone, unread = _written(program)
        if not alone and not unread:
            return
        known = paths(program)
        for op in known.ops if alone else ():
            event = known.events.get(id(op.value))
            if id(op.value.node) not in alone or event is None or op.name not in _PURE or op.value.method:
                continue
            body = forward_around(event)
            if body is None or _enclosing(event) is not body or not program.entry_of(event).complete:
                continue
            if not _works_in_place(op) and _goes_on(known, op, event):
                yield self.finding(program, op.node, fix=_fix(program, op))
        for event in program.events if unread else ():
            if event.kind != STORE or id(event.node) not in unread or not isinstance(event.node, ast.Assign):
                continue
            if forward_around(event) is None or not _is_learned(event.value):
                continue
            if not known.users.get(id(resolved(event.value))) and not _is_second_output(known, event.value):
                yield self.finding(program, event.node.value)


def _written(program: Program) -> tuple[set[int], set[int]]:
    """In `forward`: calls on a line of their own, and assignments to a name that is written nowhere else."""
    alone: set[int] = set()
    unread: set[int] = set()
    for cls in module_classes(program):
        method = cls.methods.get("forward")
        if method is None or not bodies(program, cls, "forward"):
            continue
        names: dict[str, int] = {}
        assigned: list[tuple[str, ast.Assign]] = []
        for node in inside(method.definition, ast.Expr, ast.Name, ast.Assign):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                alone.add(id(node.value))
            elif isinstance(node, ast.Name):
                names[node.id] = names.get(node.id, 0) + 1
            elif (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and isinstance(node.targets[0], ast.Name)
            ):
                assigned.append((node.targets[0].id, node))
        unread.update(id(node) for name, node in assigned if names[name] == 1 and not name.startswith("_"))
    return alone, unread


def _is_learned(value: Value) -> bool:
    """Is it computed by a layer with weights, along its own way of operations?"""
    op = operation(resolved(value))
    for _ in range(30):
        if op is None or (op.layer is not None and op.name in RANDOM):
            return op is not None
        op = operation(resolved(op.input))
    return False


def _is_second_output(known: Paths, value: Value) -> bool:
    """Probabilities of scores that go on as they are: work for nothing, but no layer is lost."""
    op = operation(resolved(value))
    if op is None or op.name not in _PROBABILITIES or op.input is None:
        return False
    return any(user is not op.value for user in known.users.get(id(resolved(op.input)), []))


def _works_in_place(op: Op) -> bool:
    if op.value.qualified.endswith("_") or op.value.method.endswith("_"):
        return True
    for holder in (op.layer, op.value):
        if holder is not None and (
            holder.open or setting(holder.keywords.get("inplace"), False) is not False
        ):
            return True
    if op.name not in ACTIVATIONS | DROPOUTS:
        return False
    options = op.layer.args if op.layer is not None else op.value.args[1:]
    return any(
        not isinstance(setting(value, 0), int | float) or setting(value, 0) is True for value in options
    )


def _enclosing(event: Event) -> Body | None:
    return event.body


def _goes_on(known: Paths, op: Op, event: Event) -> bool:
    """Is the unchanged input used again later, by something that counts?"""
    if op.input is None or any(isinstance(part, Branch) and part.kind == "try" for part in event.around()):
        return False
    for user in known.users.get(id(resolved(op.input)), []):
        if isinstance(user, Event):
            return True
        later = known.events.get(id(user))
        if (
            user is not op.value
            and (later is None or later.order > event.order)
            and known.users.get(id(user))
        ):
            return True
    return False


def _fix(program: Program, op: Op) -> Fix | None:
    node = op.node
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Name):
        return None
    edits = replace(program, node, f"{node.args[0].id} = {program.source(node)}")
    return Fix("Assign the result", edits, "unsafe")


LAYER_NET = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.fc2 = nn.Linear(8, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
"""
# Words that reach layers without naming them.
_REACH = frozenset(
    ("children", "named_children", "modules", "named_modules", "_modules", "__dict__", "getattr", "get_submodule", "vars", "__getattr__",
     "__getattribute__", "eval", "exec", "locals")
)  # fmt: skip


class LayerNeverUsed(StaticRule, code="S318", cause="ARC-NET-WRONG", advisory=True):
    """A layer with weights is made in `__init__` and no line ever uses it.

    It takes memory, stands in checkpoints, gets no gradient, and stops distributed training that does not expect unused parameters.
    Often a line of `forward` is missing, or uses another layer twice.

    Use it in `forward`, or take it out.
    """

    message = "The layer self.{name} is created but never used; use it in forward or remove it."
    triggers = ("def forward",)

    GOOD = (
        Snippet("all used", LAYER_NET + "        return self.out(self.fc2(self.fc1(x).relu()).relu())\n"),
        Snippet("reached by a loop", LAYER_NET + "        for layer in self.children():\n            x = layer(x)\n        return x\n"),
        Snippet("reached by name", LAYER_NET + "        for name in ('fc1', 'fc2', 'out'):\n            x = getattr(self, name)(x)\n        return x\n"),
    )  # fmt: skip
    BAD = (
        Snippet("left out", LAYER_NET + "        return self.out(self.fc1(x).relu())\n", line=7),
        Snippet("another one used twice", LAYER_NET + "        x = self.fc1(x).relu()\n        x = self.fc2(x)\n        return self.fc2(x)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        classes = module_classes(program)
        if not classes:
            return
        loaded, words = _read_names(program.tree)
        for cls in classes:
            base = cls.bases[0] if len(cls.bases) == 1 else None
            if not isinstance(base, Name) or "forward" not in cls.methods or _reaches(cls):
                continue
            for instance in program.instances_of(cls)[:1]:
                for name, value in instance.attributes.items():
                    node = instance.stores.get(name)
                    if name in loaded or name in words or node is None or not learns(value):
                        continue
                    if program.module_of(node) is cls.module:
                        yield self.finding(program, node, self.message.format(name=name))


def _reaches(cls: Class) -> bool:
    return any(name in _REACH for name in names_in(cls.definition))


def _read_names(tree: ast.Module) -> tuple[set[str], set[str]]:
    loaded: set[str] = set()
    words: set[str] = set()
    for node in inside(tree, ast.Attribute, ast.Constant):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            loaded.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.add(node.value)
    return loaded, words


RETURN_NET = net("fc = nn.Linear(4, 1)")


class ForwardWithoutReturn(StaticRule, code="S319", cause="ARC-NET-WRONG"):
    """`forward` computes a result and does not return it.

    A Python function without `return` gives None: the first line that uses the model's output stops with an error about `NoneType`.

    End `forward` with `return x`.
    """

    message = (
        "forward computes {name} but does not return it, so the model's output is None. Add return {name}."
    )
    triggers = ("def forward",)
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("returned", RETURN_NET + "        x = self.fc(x)\n        return x\n"),
        Snippet("abstract", RETURN_NET + "        raise NotImplementedError\n"),
        Snippet("nothing computed", RETURN_NET + "        pass\n"),
        Snippet("works on its own state", RETURN_NET + "        self.total = self.fc(x)\n"),
        Snippet("gives one after the other", RETURN_NET + "        for part in x:\n            yield self.fc(part)\n"),
        Snippet("the class makes the output itself", RETURN_NET.replace("class Net(nn.Module)", "class Base(nn.Module):\n    def __call__(self, x):\n        super().__call__(x)\n"
                "        return self.kept.pop()\n\nclass Net(Base)") + "        out = self.fc(x)\n"),
    )  # fmt: skip
    BAD = (
        mended("forgotten", RETURN_NET + "        x = torch.relu(x)\n        x = self.fc(x)\n        + return x\n"),
        Snippet("bare return", RETURN_NET + "        out = self.fc(x)\n        return\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for cls in module_classes(program):
            method = cls.methods.get("forward")
            if (
                method is None
                or cls.method("__call__") is not None  # makes the output itself, of hooks for example
                or not isinstance(method.definition, ast.FunctionDef)
                or method.definition.decorator_list
            ):
                continue
            last = _last_result(method.definition)
            if last is not None:
                name = _target(last)
                is_end = method.definition.body[-1] is last
                edits = insert_after(program, last, f"return {name}") if is_end else ()
                fix = Fix(f"Return {name}", edits, "unsafe")
                yield self.finding(program, last, self.message.format(name=name), fix=fix)


def _target(statement: ast.Assign) -> str:
    target = statement.targets[0]
    return target.id if isinstance(target, ast.Name) else ""


def _last_result(definition: ast.FunctionDef) -> ast.Assign | None:
    """The last statement, if it stores the result of one of the module's own layers in a name that nothing reads behind it."""
    for node in inside(definition, ast.Yield, ast.YieldFrom, ast.Raise, ast.Return):
        if not isinstance(node, ast.Return) or node.value is not None:
            return None
    body = list(definition.body)
    if body and isinstance(body[-1], ast.Return):
        body.pop()
    last = body[-1] if body else None
    if not isinstance(last, ast.Assign) or len(last.targets) != 1 or not _target(last):
        return None
    call, owner = last.value, self_name(definition)
    if not isinstance(call, ast.Call):
        return None
    uses_layer = any(
        isinstance(node.value, ast.Name) and node.value.id == owner for node in inside(call, ast.Attribute)
    )
    shared = any(inside(definition, ast.Global, ast.Nonlocal))
    return last if uses_layer and not shared else None
