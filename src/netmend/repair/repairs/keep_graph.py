"""R208."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.loss.backward_uses import cut_for_the_others
from netmend.changes.loss.graph_cuts import (
    MAKERS,
    chain_of,
    dedented,
    filled_in_place,
    is_array_of,
    is_made_of_numbers,
    is_maker,
    kept_as_tensors,
    name_of,
    picked_from,
    remade_around,
    replaced,
    value_before,
    with_conversions,
    without_leaf_flags,
)
from netmend.changes.loss.losses import arguments, as_classes, as_yes_no, criterion_of, exchange
from netmend.changes.loss.numpy_to_torch import in_torch
from netmend.changes.network.heads_in_source import training_call
from netmend.localise.lines.values import cut_in_loss, is_cut
from netmend.program.source.dataflow import PASSING, uses
from netmend.program.source.moving import taken_out
from netmend.program.source.naming import qualified, spelled
from netmend.program.source.writing import delete_lines, insert_before, once, replace
from netmend.program.text.file import File, block_of
from netmend.program.text.queries import inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import FunctionFact
from netmend.vocabulary.change import Change, FileEdits

_CHOICES = ("argmax", "max", "argmin")
_OFF = ("no_grad", "inference_mode")


class KeepGraph(Repair, code="R208", cures=("LOS-GRAPH-CUT",), knob="graph", explores=True):
    """Take away what cuts the way of the gradient: detach(), .data, .item(), a way through numpy, argmax, a no_grad block.

    What numpy computed is written with torch; in place of a class that was picked, the scores go to a loss for classes.
    Parts that were cut off on purpose are trained too then.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        if case.fault is None and not _nothing_flows(case):
            return
        block = self._without_block(case)
        if block:
            yield from self.change(case, "record gradients here too", block)
            return
        for file, node in self._cuts(case):
            beside = cut_for_the_others(case.code, file, node, value_before(chain_of(file, node)[-1]))
            if beside is None:
                return  # one backward pass would go through another one's graph
            remade = remade_around(file, node)
            edits = remade or self._mended(case, file, node)
            if edits:
                title = "tensors in the place of numbers" if remade else f"without {name_of(node)}"
                title = f"{name_of(node)} only where the other network learns" if beside else title
                edits = once((*edits, *beside, *without_leaf_flags(file, node)))
                yield from self.change(case, title, edits)
                return
        for file, scope in self._around(case):
            edits = kept_as_tensors(file, scope)
            if edits:
                yield from self.change(case, "tensors in the place of numbers", edits)
                return

    @staticmethod
    def _around(case: Case) -> Iterator[tuple[File, ast.AST]]:
        """Functions or loops that something may be cut in: around the fault's line, and around what the loss is computed from."""
        sites = [] if case.fault is None else [case.fault.site, *case.fault.related[:1]]
        for site in (*sites, *(loss.called for loss in case.trace.losses if loss.backward is not None)):
            found = case.code.statement_at(site)
            scope = None if found is None else found[0].function(found[1]) or found[0].loop(found[1])
            if found is not None and scope is not None:
                yield found[0], scope

    def _cuts(self, case: Case) -> Iterator[tuple[File, ast.expr]]:
        """Expressions that take a value out of the graph, the surest first."""
        site = case.site
        for fact in case.trace.all(FunctionFact):
            near = site is None or (fact.site is not None and fact.site.line == site.line)
            if fact.kind == "graph cut" and fact.site is not None and near:
                file = case.code.file(fact.site.file)
                node = None if file is None else file.node_at(fact.site)
                if file is not None and isinstance(node, ast.expr):
                    yield file, node
        found = case.code.statement_at(site)
        if found is not None and not isinstance(found[1], ast.With | ast.For | ast.FunctionDef):
            yield from ((found[0], node) for node in inside(found[1], ast.expr) if is_cut(node))
        backward = next((loss.backward for loss in case.trace.losses if loss.backward is not None), None)
        place = cut_in_loss(case.sources, backward)
        file = None if place is None else case.code.file(place.file)
        node = None if file is None or place is None else file.node_at(place)
        if file is not None and isinstance(node, ast.expr):
            yield file, node
        called = training_call(case)
        through = PASSING | {"sigmoid", "softmax", "tanh", "relu"}
        for use in uses(case.code, *called, through) if called is not None else ():
            compares = isinstance(use.user, ast.Compare)
            if isinstance(use.user, ast.expr) and (compares or is_cut(use.user)):
                yield use.file, use.user

    def _mended(self, case: Case, file: File, node: ast.expr) -> FileEdits:
        name = name_of(node)
        if name in _CHOICES or isinstance(node, ast.Compare):
            return self._scores(case, file, node)
        chain = chain_of(file, node)
        numpy = any(name_of(part) == "numpy" for part in chain)
        inner = value_before(chain[-1])
        if numpy and not (inner is not node and is_maker(file.parent(chain[-1]), chain[-1])):
            return in_torch(file, file.function(node) or file.tree, node)
        top = chain[-1]
        holder = file.parent(top)
        while isinstance(holder, ast.Call) and (is_maker(holder, top) or is_array_of(file, holder, top)):
            top, holder = holder, file.parent(holder)
        if isinstance(holder, ast.Call) and qualified(file, holder.func).startswith("numpy."):
            return ()  # it takes nothing that has a graph
        if isinstance(node, ast.Attribute) and isinstance(holder, ast.Subscript) and top is node:
            inside = filled_in_place(file, node, holder)
            if inside is not None:
                return inside
        if last_name(getattr(top, "func", top)) in MAKERS and isinstance(top, ast.Call):
            first = top.args[0] if top.args else None
            if isinstance(first, ast.List | ast.Tuple):  # torch.tensor([a, b]) of tensors
                stack, extra = spelled(file, "torch.stack", like=top.func)
                return (*replace(file, top, f"{stack}({file.source(first)})"), *extra)
            if first is not None and is_made_of_numbers(file, top, first):
                return ()
            if first is not None:
                inner = value_before(first)
        return replaced(file, top, inner)

    def _scores(self, case: Case, file: File, node: ast.expr) -> FileEdits:
        """A class was picked, or a yes/no: the loss for classes gets the scores instead."""
        loss = next((loss for loss in case.trace.losses if loss.form != "expression" and loss.operands), None)
        criterion = None if loss is None else criterion_of(case, loss)
        scores, width = picked_from(file, node), _width(case)
        if loss is None or criterion is None or not criterion.calls or scores is None:
            return ()
        place, call = criterion.calls[0]
        pair, target = arguments(call), next((o for o in loss.operands if o.role == "target"), None)
        if pair is None or target is None or place is not file:
            return ()
        classes = isinstance(node, ast.Call)
        if classes and (width < 2 or (target.maximum or 0) >= width):
            return ()
        inner = scores
        if not classes and isinstance(scores, ast.Call) and last_name(scores.func) == "sigmoid":
            inner = (
                scores.args[0]
                if scores.args
                else scores.func.value
                if isinstance(scores.func, ast.Attribute)
                else scores
            )
        edits = [*exchange(criterion, "cross_entropy" if classes else "binary_cross_entropy_with_logits")]
        if classes:
            edits += as_classes(file, pair[1], target.shape)
        else:
            shape = next(o.shape for o in loss.operands if o.role == "prediction")
            edits += as_yes_no(file, pair[1], target.shape, shape, target.dtype)
        return once((*edits, *self._handed_over(case, file, node, inner, pair[0])))

    @staticmethod
    def _handed_over(case: Case, file: File, node: ast.expr, scores: ast.expr, given: ast.expr) -> FileEdits:
        """The scores in the place of what was picked from them."""
        statement = file.statement(node)
        top = with_conversions(file, node)
        text = file.source(scores)
        if isinstance(statement, ast.Assign) and statement.value is top and isinstance(given, ast.Name):
            others = [
                use
                for use in uses(case.code, file, top)
                if use.value is not given and use.user is not statement
            ]
            if not others:
                return replace(file, top, text)
            if isinstance(scores, ast.Name):
                return replace(file, given, text)
            new = next(
                name for name in ("scores", "outputs", "raw_scores", "logits_") if name not in file.text
            )
            return (
                *insert_before(file, statement, f"{new} = {text}"),
                *replace(file, scores, new),
                *replace(file, given, new),
            )
        return replace(file, top, text) if top is given else ()

    @staticmethod
    def _without_block(case: Case) -> FileEdits:
        """The block or decorator that switches gradients off, taken away."""
        site = case.site
        file = None if site is None else case.code.file(site.file)
        if site is None or file is None:
            return ()
        for node in inside(file.tree, ast.With, ast.Expr, ast.FunctionDef):
            if isinstance(node, ast.With) and node.lineno == site.line and len(node.items) == 1:
                expression = node.items[0].context_expr
                called = expression.func if isinstance(expression, ast.Call) else expression
                if last_name(called) in (*_OFF, "set_grad_enabled"):
                    return (*dedented(file, node), *without_leaf_flags(file, node))
            if isinstance(node, ast.Expr) and node.lineno == site.line:
                called = node.value.func if isinstance(node.value, ast.Call) else node.value
                if last_name(called) == "set_grad_enabled":
                    block = block_of(file, node)
                    behind = [each for each in block if each.lineno > node.lineno]
                    flags = [edit for each in behind for edit in without_leaf_flags(file, each)]
                    return once((*taken_out(file, node), *flags))
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    called = decorator.func if isinstance(decorator, ast.Call) else decorator
                    if decorator.lineno == site.line and last_name(called) in _OFF:
                        gone = delete_lines(file, decorator.lineno, decorator.lineno)
                        return (*gone, *without_leaf_flags(file, node))
        return ()

    EXAMPLES = {
        "detach between two layers": example(
            layers="self.a, self.b = nn.Linear(2, 4), nn.Linear(4, 1)",
            forward="h = torch.relu(self.a(x))⟨.detach() → ⟩\nreturn self.b(h)",
            loss="model(torch.randn(8, 2)).pow(2).mean()",
        ),
        "a way through numpy": example(
            data="""
                first, second = nn.Linear(2, 4), nn.Linear(4, 1)
                def scaled(h):
                    values = h⟨.detach().numpy() → ⟩
                    values = ⟨np.mod(values, 3.0) / (values.std(axis=0) + 1) → torch.remainder(values, 3.0) / (values.std(dim=0, unbiased=False) + 1)⟩
                    return ⟨torch.from_numpy(values) → values⟩""",
            model="",
            optimizer="torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)",
            loss="second(scaled(first(torch.randn(8, 2)))).pow(2).mean()",
        ),
        "the class instead of the scores": example(
            model="nn.Linear(2, 3)",
            criterion="nn.⟨L1Loss → CrossEntropyLoss⟩()",
            setup="y = torch.tensor([0, 1, 2, 1])",
            outputs="guess = ⟨torch.argmax(model(torch.randn(4, 2)), dim=1).float() → model(torch.randn(4, 2))⟩",
            loss="criterion(guess, y.⟨float → long⟩())",
            mark="torch.argmax",
            raises=True,
        ),
        "a block without gradients": example(
            data="first, second = nn.Linear(2, 4), nn.Linear(4, 1)",
            model="",
            optimizer="torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)",
            outputs="""
                - with torch.no_grad():
                    - h = first(torch.randn(8, 2))  # features
                    - h = torch.relu(h)
                + h = first(torch.randn(8, 2))  # features
                + h = torch.relu(h)""",
            loss="second(h).pow(2).mean()",
        ),
        "numbers of a list made a tensor": example(
            helpers="""
                def scores(rows):
                    values = [⟨float(model(row).sum()) → model(row).sum()⟩ for row in rows]
                    return torch.⟨tensor(values, requires_grad=True) → stack(values)⟩""",
            loss="scores(torch.randn(8, 2)).pow(2).mean()",
        ),
        "right for one of two networks": example("""
                G, D = nn.Linear(2, 2), nn.Linear(2, 1)
                g_optim = torch.optim.SGD(G.parameters(), lr=0.1)
                d_optim = torch.optim.SGD(D.parameters(), lr=0.1)
                for step in range(3):
                    fake = G(torch.randn(8, 2))⟨.detach() → ⟩
                    d_loss = D(fake⟨).mean( → .detach()).mean(⟩) - D(torch.randn(8, 2)).mean()
                    d_optim ← d_loss
                    g_loss = -D(fake).mean()
                    g_optim ← g_loss"""),
        "right for the only network that learns from it": example("""
                G, D = nn.Linear(2, 2), nn.Linear(2, 1)
                g_optim = torch.optim.SGD(G.parameters(), lr=0.1)
                d_optim = torch.optim.SGD(D.parameters(), lr=0.1)
                for step in range(3):
                    ⟨fake = G(torch.randn(8, 2)).detach()⟩
                    d_optim ← (D(fake).mean() - D(torch.randn(8, 2)).mean())"""),
        "made a leaf again, in one line": example(
            outputs="""
                out = model(torch.randn(8, 2))
                - if step >= 0: out = torch.tensor(out.detach().numpy(), requires_grad=True)""",
            loss="out.pow(2).mean()",
        ),
        "data that asks for gradients": example(
            loss="model(torch.randn(8, 2))⟨.data.requires_grad_() → ⟩.pow(2).mean()"
        ),
        "the number of a loss made a tensor again": example(
            loss="model(torch.randn(8, 2)).pow(2).mean()⟨.item() → ⟩",
            after_loss="- loss = torch.tensor(loss, requires_grad=True)",
            mark="loss = torch.tensor",
        ),
        "numbers of rows, with a request for gradients behind": example(
            outputs="out = torch.⟨tensor([model(row).item() for row in torch.randn(8, 2)]) → stack([model(row).squeeze() for row in torch.randn(8, 2)])⟩",
            loss="out.pow(2).mean()",
            after_loss="- loss.requires_grad = True",
        ),
        "a leaf that is filled": example(
            outputs="""
                out = torch.zeros(8, 1⟨, requires_grad=True → ⟩)
                out⟨.data → ⟩[:] = model(torch.randn(8, 2))""",
            loss="out.pow(2).mean()",
            mark="out.data",
        ),
        "what numpy makes of a list cannot keep its graph": example(
            outputs="⟨out = np.median(model(torch.randn(8, 2)).tolist())⟩",
            loss="torch.tensor(out, requires_grad=True)",
        ),
        "nothing is cut": example(loss="model(torch.randn(8, 2)).pow(2).mean()", mark="loss = model"),
    }


def _nothing_flows(case: Case) -> bool:
    """The loss that is differentiated came out of the graph, or was given predictions that had."""
    graded = [loss for loss in case.trace.losses if loss.backward is not None]
    empty = any(not loss.operations and not loss.operands for loss in graded)
    return bool(graded) and empty and any(loss.operands for loss in case.trace.losses if loss not in graded)


def _width(case: Case) -> int:
    shapes = case.model.output_shapes if case.model is not None else ()
    return shapes[0][1] if shapes and len(shapes[0]) > 1 else 1
