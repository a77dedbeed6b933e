"""Repairs of layers that do not learn although they should, and of those that are let learn again too late."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import callers
from netmend.program.source.moving import emptied, taken_out
from netmend.program.source.writing import replace, unwrap_method
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import ParameterFact
from netmend.vocabulary.change import Change, FileEdits

_unfreeze_example = partial(
    example,
    model="nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))",
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    backward="model(torch.ones(4, 2)).mean()",
)


class Unfreeze(Repair, code="R115", cures=("LOOP-FREEZE",)):
    """Let frozen layers learn.

    Layers that were frozen at their random start pass on an arbitrary mixture of the input. The lines that freeze them are taken
    away, and the optimiser gets all parameters of the model where it held the rest only.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        edits: FileEdits = ()
        taken: set[tuple[str, int]] = set()
        words = case.component.split(".")[1:]
        freezing = [place for file in case.code.files(case.trace.run.script) for place in _freezing(file)]
        line = case.site.line if case.site is not None else 0
        # The line that is accused, or all where it is none of them.
        chosen = [place for place in freezing if place[1].lineno == line] or freezing
        for file, node in chosen:
            for where, part in self._removed(case, file, node, words):
                if (where.file, part.lineno) not in taken:
                    taken.add((where.file, part.lineno))
                    edits += _without(where, part)
        if edits:
            edits += self._held(case)
        yield from self.change(case, "let the frozen layers learn", edits, knob="frozen layers")

    def _removed(
        self, case: Case, file: File, node: ast.stmt | ast.Call, words: list[str]
    ) -> Iterator[tuple[File, ast.stmt | ast.Call]]:
        """The line itself; the call of the function that does nothing but freeze."""
        function = file.function(node)
        statement = file.statement(node)
        if function is None or statement is None:
            yield file, node
            return
        whole = emptied(file, statement)
        rest = [
            s for s in function.body if s is not whole and not _is_text(s) and not isinstance(s, ast.Return)
        ]
        only = whole in function.body and not rest
        used = list(callers(case.code, file, node))
        if not only or not used or function.name in ("__init__", "main") or not all(u.is_alone for u in used):
            yield file, node
            return
        about = [
            u for u in used if any(word in u.file.source(u.call) for word in words if not word.isdigit())
        ]
        for each in about or used:
            yield each.file, each.statement

    def _held(self, case: Case) -> FileEdits:
        """`Adam(model.head.parameters())` → `Adam(model.parameters())`."""
        frozen = [p for p in case.trace.all(ParameterFact) if not p.trainable]
        optimizer = case.optimizer
        if optimizer is None or not frozen or any(p.optimizer is not None for p in frozen):
            return ()
        found = case.code.call_at(optimizer.created)
        given = found[1].args[0] if found is not None and found[1].args else None
        if found is None or not isinstance(given, ast.Call) or last_name(given.func) != "parameters":
            return ()
        inner = given.func.value if isinstance(given.func, ast.Attribute) else None
        root = inner
        model = case.model.name if case.model is not None else ""
        while isinstance(root, ast.Attribute) and found[0].source(root) != model:
            root = root.value
        if not isinstance(inner, ast.Attribute) or root is inner or root is None:
            return ()
        return replace(found[0], inner, found[0].source(root))

    EXAMPLES = {
        "a loop over parameters": _unfreeze_example(
            helpers="""
                - for name, p in model.named_parameters():
                    - if not name.startswith("2"):
                        - p.requires_grad = False""",
            optimizer="torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01)",
            mark="p.requires_grad = False",
            component="model.0",
        ),
        "the optimiser gets them too": _unfreeze_example(
            layers="""
                self.body = nn.Linear(2, 4)
                self.head = nn.Linear(4, 1)
                - self.body.requires_grad_(False)""",
            forward="return self.head(self.body(x))",
            optimizer="torch.optim.SGD(model.⟨head. → ⟩parameters(), lr=0.01)",
            component="model.body",
        ),
        "a function that freezes": _unfreeze_example(
            data="""
                def freeze(module):
                    for p in module.parameters():
                        ⟨p.requires_grad_(False)⟩""",
            helpers="- freeze(model[0])",
            component="model.0",
        ),
        "nothing is frozen": _unfreeze_example(model="nn.Linear(2, 1)", mark="nn.Linear", component="model"),
    }


def _freezing(file: File) -> Iterator[tuple[File, ast.stmt | ast.Call]]:
    """Lines that set requires_grad to something other than True."""
    for node in inside(file.tree, ast.Assign, ast.Call):
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in node.targets
        ):
            if not (isinstance(node.value, ast.Constant) and node.value.value is True):
                yield file, node
        elif isinstance(node, ast.Call) and last_name(node.func) == "requires_grad_":
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if given and not (isinstance(given[0], ast.Constant) and given[0].value is True):
                yield file, node


def _without(file: File, node: ast.stmt | ast.Call) -> FileEdits:
    if isinstance(node, ast.stmt):
        return taken_out(file, node)
    parent = file.parent(node)
    return taken_out(file, parent) if isinstance(parent, ast.Expr) else unwrap_method(file, node)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


_release_example = partial(
    example, model="nn.Linear(2, 1)", optimizer="torch.optim.SGD(model.parameters(), lr=0.01)", raises=True
)
_STEP = """
    optimizer ← model(torch.ones(4, 2)).mean()
    for p in model.parameters():
        p.requires_grad = False
    score = model(torch.ones(1, 2)).item()
    for p in model.parameters():
        p.requires_grad = {}"""


class ReleaseFrozen(Repair, code="R518", cures=("LOS-GRAPH-CUT", "LOOP-FREEZE")):
    """Let a network learn again that was frozen for a part of the step.

    An actor's update freezes the critic and releases it afterwards. Where both loops say False, the critic's next loss has nothing to go back
    through; the later of the two is meant to say True.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        for file in case.code.files():
            settings: dict[tuple[ast.AST | None, str], list[ast.Constant]] = {}
            for node in inside(file.tree, ast.For):
                if (found := _setting(node)) is not None:
                    settings.setdefault((file.function(node), file.source(node.iter)), []).append(found)
            for values in settings.values():
                values.sort(key=lambda value: value.lineno)
                if len(values) > 1 and all(value.value is False for value in values):
                    edits = replace(file, values[-1], "True")
                    yield from self.change(
                        case, "let the frozen network learn again", edits, knob="requires_grad"
                    )
                    return

    EXAMPLES = {
        "frozen twice": _release_example(step=_STEP.format("⟨False → True⟩")),
        "frozen and released": _release_example(step=_STEP.format("⟨True⟩"), raises=False),
        "frozen once": _release_example(step=_STEP.split("    score")[0].replace("False", "⟨False⟩")),
    }


def _setting(loop: ast.For) -> ast.Constant | None:
    """The value in `for p in net.parameters(): p.requires_grad = …`."""
    is_over_parameters = isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) == "parameters"
    statement = loop.body[0]
    if not is_over_parameters or len(loop.body) != 1 or not isinstance(statement, ast.Assign):
        return None
    target, value = statement.targets[0], statement.value
    is_switch = isinstance(target, ast.Attribute) and target.attr == "requires_grad"
    return value if is_switch and isinstance(value, ast.Constant) else None
