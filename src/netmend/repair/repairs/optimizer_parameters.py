"""R404."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import Spot, callers, names_in, spot, targets_of
from netmend.changes.loop.updates import are_groups, given_parameters, joined
from netmend.diagnose.measures.wiring import Wire, stepped_optimizers, wires
from netmend.program.source.moving import moved_after, taken_out, text_of
from netmend.program.source.names_of_object import known_as
from netmend.program.source.writing import insert_after, replace
from netmend.program.text.file import File, block_of
from netmend.program.text.queries import Function, inside
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import ModelFact, OptimizerFact
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_MOST_CALLERS = 3


_example = partial(
    example, model="nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))", loop="for step in range(5)"
)


class OptimizerParameters(Repair, code="R404", cures=("OPT-PARAMS",), effort=BY_FACTS):
    """Give the optimiser all parameters that should be trained.

    Where it holds only a part of the model, it gets those of the whole; where a second network was forgotten, those of both;
    where a layer was replaced after it was made, it is made after that, or a second time.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        optimizer = self._optimizer(case)
        lost = [
            wire for wire in wires(case.trace) if wire.fact.trainable and wire.holder is None and wire.flows
        ]
        made = None if optimizer is None else spot(case.code, optimizer.created)
        if optimizer is None or made is None or not lost:
            return
        if any(wire.module is not None and not wire.module.registered for wire in lost):
            return  # the layers themselves have to be registered first
        made = self._bound(case, made)
        later = self._replaced(case, made, lost)
        if later is not None:
            yield from self._made_again(case, optimizer, made, later, lost)
            return
        exchanged = list(self._instead(case, lost))
        yield from exchanged or self._given(case, optimizer, made, lost)

    def _instead(self, case: Case, lost: list[Wire]) -> Iterator[Change]:
        """Two optimisers of the same parameters, and a network that neither holds: the second was meant for it."""
        models = {wire.model for wire in lost}
        seen: set[str] = set()
        stepped = stepped_optimizers(case.trace)
        for optimizer in sorted(stepped, key=lambda one: one.created.line if one.created is not None else 0):
            found = given_parameters(case.code, optimizer.created)
            text = found[0].source(found[1]) if found is not None else ""
            if found is not None and text in seen and len(models) == 1:
                name = self._name(case, next(iter(models)), *found, lost)
                title = f"give {optimizer.name} the parameters of {name}"
                edits = replace(*found, f"{name}.parameters()") if name else ()
                yield from self.change(case, title, edits, knob=f"{optimizer.name} parameters")
            seen.add(text)

    def _optimizer(self, case: Case) -> OptimizerFact | None:
        stepped = stepped_optimizers(case.trace)
        site = case.site
        at_site = [
            o for o in stepped if site is not None and o.created is not None and o.created.line == site.line
        ]
        return next(iter((*at_site, *stepped)), None)

    def _bound(self, case: Case, made: Spot) -> Spot:
        """Where a function returns the optimiser: the call of that function."""
        for _ in range(_MOST_CALLERS):
            calls = list(callers(case.code, made.file, made.call))
            if not isinstance(made.statement, ast.Return) or len(calls) != 1:
                break
            made = calls[0]
        return made

    def _given(self, case: Case, optimizer: OptimizerFact, made: Spot, lost: list[Wire]) -> Iterator[Change]:
        found = given_parameters(case.code, optimizer.created)
        if found is None:
            return
        file, value = found
        models = list(dict.fromkeys(wire.model for wire in lost))
        held = {wire.model for wire in wires(case.trace) if wire.held}
        known = {name: self._name(case, name, file, value, lost) for name in models}
        if not all(known.values()):
            return
        if are_groups(value):
            texts = [f"{part}.parameters()" for part in self._parts(known, lost)]
            edits = joined(file, value, texts) if texts else ()
        elif held - set(models) and not held & set(models):
            edits = joined(file, value, [f"{name}.parameters()" for name in known.values()])
        elif len(models) == 1 and held <= set(models):
            edits = replace(file, value, f"{known[models[0]]}.parameters()")
        else:
            texts = [f"{name}.parameters()" for name in known.values()]
            others = [self._name(case, name, file, value, []) for name in sorted(held - set(models))]
            if not all(others):
                return
            parts = ", ".join(f"*{text}" for text in (*texts, *(f"{name}.parameters()" for name in others)))
            edits = replace(file, value, f"[{parts}]")
        if len(edits) == 1 and edits[0].edit.text == file.source(value):
            return
        title = f"give the optimiser all of {', '.join(known.values())}"
        yield from self.change(case, title, edits, knob=f"{optimizer.name} parameters")

    def _name(self, case: Case, model: str, file: File, value: ast.expr, lost: list[Wire]) -> str:
        """What a model is called where the parameters are put together."""
        fact = case.trace.get(ModelFact, model)
        own = None if fact is None else known_as(case.code, fact.created, file, value)
        if own:
            return own
        # `net.head.parameters()`, and `head` is a part of the model: then `net` is the model.
        parts = {
            wire.name.split(".")[1] for wire in wires(case.trace) if wire.model == model and "." in wire.name
        }
        for node in inside(value if lost else None, ast.Attribute):
            if node.attr in parts and not isinstance(node.value, ast.Call):
                return file.source(node.value)
        return ""

    def _parts(self, known: dict[str, str], lost: list[Wire]) -> list[str]:
        """The outermost lost parts, as attributes of their models."""
        found: dict[str, None] = {}
        for wire in lost:
            path = wire.name.removeprefix(f"{wire.model}.").split(".")
            if len(path) < 2 or path[0].isdigit():
                return []
            found[f"{known[wire.model]}.{path[0]}"] = None
        return list(found)

    def _replaced(self, case: Case, made: Spot, lost: list[Wire]) -> Spot | None:
        """The last statement after the optimiser's that makes a layer it does not hold."""
        latest: Spot | None = None
        for site in dict.fromkeys(wire.module.created for wire in lost if wire.module is not None):
            place = spot(case.code, site)
            there = None if place is None else self._after(case, made, place, 0)
            if there is not None and (latest is None or there.statement.lineno > latest.statement.lineno):
                latest = there
        return latest

    def _after(self, case: Case, made: Spot, place: Spot, depth: int) -> Spot | None:
        """The statement itself, or the call of the function that it stands in, where it follows the optimiser's."""
        function = place.file.function(place.call)
        if place.is_beside(made):
            return place if place.statement.lineno > made.statement.lineno else None
        owner = place.file.owner(place.call)
        if owner is not None and owner is made.file.owner(made.call) and isinstance(function, Function):
            is_method = function.name != "__init__" and self._on_self(made)
            return place if is_method else None  # `self.model.head = …` in a later method
        if depth < _MOST_CALLERS:
            for call in callers(case.code, place.file, place.call):
                found = self._after(case, made, call, depth + 1)
                if found is not None:
                    return found
        return None

    def _on_self(self, made: Spot) -> bool:
        """`self.optimizer = SGD(self.model.parameters(), …)`: understood by every method."""
        function = made.file.function(made.call)
        target = made.statement.targets[0] if isinstance(made.statement, ast.Assign) else None
        own = set() if function is None else {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
        return isinstance(target, ast.Attribute) and not (own - {"self"}) & names_in(made.statement)

    def _made_again(
        self, case: Case, optimizer: OptimizerFact, made: Spot, later: Spot, lost: list[Wire]
    ) -> Iterator[Change]:
        knob = f"{optimizer.name} parameters"
        name = known_as(case.code, optimizer.created, later.file, later.call) or ""
        if isinstance(made.statement, ast.Assign | ast.AnnAssign) and later.file.file == made.file.file:
            anchor = self._same_level(made, later)
            users = None if anchor is None or not made.is_beside(later) else self._users(made, anchor)
            if users is not None and anchor is not None:
                edits = self._moved(made, users, anchor)
                title = "make the optimiser after the model is complete"
            else:
                text = text_of(made.file, made.statement, comment=False)
                edits = insert_after(later.file, later.statement, text)
                title = "make the optimiser again after the model is complete"
            yield from self.change(case, title, edits, knob=knob)
        target = later.statement.targets[0] if isinstance(later.statement, ast.Assign) else None
        module = lost[0].module
        if name and isinstance(target, ast.Attribute | ast.Subscript) and module is not None:
            text = f'{name}.add_param_group({{"params": {later.file.source(target)}.parameters()}})'
            edits = insert_after(later.file, later.statement, text)
            yield from self.change(case, "give the new layer to the optimiser", edits, knob=knob)

    def _same_level(self, made: Spot, later: Spot) -> ast.stmt | None:
        """The statement of the optimiser's block that the later one stands in."""
        block = made.file.parent(made.statement)
        for node in (later.statement, *later.file.parents(later.statement)):
            if isinstance(node, ast.stmt) and later.file.parent(node) is block:
                return node
        return None

    def _users(self, made: Spot, anchor: ast.stmt) -> list[ast.stmt] | None:
        """Statements up to another one that only make something of the optimiser (a scheduler); None if it is used."""
        texts = {made.file.source(target) for target in targets_of(made.statement)}
        found: list[ast.stmt] = []
        block = block_of(made.file, made.statement)
        for statement in block[block.index(made.statement) + 1 : block.index(anchor) + 1]:
            uses = any(made.file.source(node) in texts for node in inside(statement, ast.Name, ast.Attribute))
            if uses and (statement is anchor or not isinstance(statement, ast.Assign)):
                return None
            if uses:
                texts |= {made.file.source(target) for target in targets_of(statement)}
                found.append(statement)
        # Functions may use it without being given it.
        named = {text for text in texts if "." not in text}
        calls = [
            s for s in block if made.statement.lineno < s.lineno < anchor.lineno and isinstance(s, ast.Expr)
        ]
        hidden = any(names_in(node) & named for node in made.file.tree.body if isinstance(node, Function))
        return None if calls and hidden else found

    def _moved(self, made: Spot, users: list[ast.stmt], anchor: ast.stmt) -> FileEdits:
        if not users:
            return moved_after(made.file, made.statement, anchor)
        moved = [made.statement, *users]
        removals = [taken_out(made.file, statement) for statement in moved]
        text = "\n".join(text_of(made.file, statement) for statement in moved)
        insertion = insert_after(made.file, anchor, text)
        if not insertion or not all(removals):
            return ()
        return (*(edit for part in removals for edit in part), *insertion)

    EXAMPLES = {
        "only the head was given": example("""
                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.body, self.head = nn.Linear(8, 8), nn.Linear(8, 1)
                    def forward(self, x):
                        return self.head(self.body(x).relu())
                def fit(model, opt):
                    for step in range(5):
                        opt ← nn.functional.mse_loss(model(torch.randn(4, 8)), torch.ones(4, 1))
                net = Net()
                fit(net, torch.optim.Adam(net.⟨head. → ⟩parameters(), lr=5e-3))"""),
        "a second network was forgotten": _example(
            data="encoder, decoder = nn.Linear(8, 4), nn.Linear(4, 8)",
            model="",
            optimizer="torch.optim.Adam(⟨decoder.parameters() → [*encoder.parameters(), *decoder.parameters()]⟩, lr=1e-2)",
            step="""
                x = torch.randn(4, 8)
                optimizer ← nn.functional.mse_loss(decoder(encoder(x)), x)""",
        ),
        "both optimisers got the parameters of one network": example("""
                maker, judge = nn.Linear(4, 8), nn.Linear(8, 1)
                ⟨first = torch.optim.Adam(judge.parameters(), lr=1e-3)⟩
                second = torch.optim.Adam(⟨judge → maker⟩.parameters(), lr=2e-3)
                score = nn.BCEWithLogitsLoss()
                for step in range(5):
                    made = maker(torch.randn(6, 4))
                    first ← score(judge(made.detach()), torch.zeros(6, 1))
                    second ← score(judge(made), torch.ones(6, 1))"""),
        "a layer was replaced afterwards": _example(
            helpers="+ model[2] = nn.Linear(8, 1)",
            setup="- model[2] = nn.Linear(8, 1)",
            backward="nn.functional.mse_loss(model(torch.randn(4, 8)), torch.ones(4, 1))",
            mark="SGD(",
        ),
        "a schedule was made with it": _example(
            data="""
                def build(parameters):
                    return torch.optim.SGD(parameters, lr=0.1)
                def adapt(network):
                    network[2] = nn.Linear(8, 1)""",
            helpers="+ adapt(model)",
            optimizer="⟨build(model.parameters())⟩",
            setup="scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)\n- adapt(model)",
            after_step="scheduler.step()",
            backward="nn.functional.mse_loss(model(torch.randn(4, 8)), torch.ones(4, 1))",
        ),
        "replaced after a first training": _example(
            data="""
                def fit(width):
                    for step in range(5):
                        optimizer ← nn.functional.mse_loss(model(torch.randn(4, 8)), torch.ones(4, width))""",
            loop="for group in optimizer.param_groups",
            step='print(group["lr"])',
            end="""
                fit(4)
                model[2] = nn.Linear(8, 1)
                + optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                fit(1)""",
            mark="SGD(",
        ),
        "a group is missing": example("""
                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.body, self.head = nn.Linear(8, 8), nn.Linear(8, 1)
                    def forward(self, x):
                        return self.head(self.body(x).relu())
                class Trainer:
                    def __init__(self):
                        self.model = Net()
                        self.opt = torch.optim.Adam([{"params": self.model.head.parameters(), ⟨"lr": 0.01} → "lr": 0.01}, {"params": self.model.body.parameters()}⟩])
                    def fit(self):
                        for step in range(5):
                            self.opt ← nn.functional.mse_loss(self.model(torch.randn(4, 8)), torch.ones(4, 1))
                Trainer().fit()"""),
        "frozen layers need no optimiser": _example(
            data="body, head = nn.Linear(8, 8).requires_grad_(False), nn.Linear(8, 1)",
            model="",
            optimizer="⟨torch.optim.Adam(head.parameters(), lr=5e-3)⟩",
            backward="nn.functional.mse_loss(head(body(torch.randn(4, 8))), torch.ones(4, 1))",
        ),
    }
