"""R305."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.network.registration import (
    DICTS,
    LISTS,
    as_parameter,
    holds_tensors,
    is_attribute,
    is_set_again,
    is_unfit,
    kept_in,
    made_as,
    registered_beside,
    registered_in,
    tensors_beside,
)
from netmend.changes.network.unregistered import as_module, held_by_name, made_in_function, of_the_class
from netmend.program.source.naming import qualified, spelled
from netmend.program.source.writing import once, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import Change, FileEdits

_TENSORS = ("randn", "rand", "zeros", "ones", "empty", "normal", "full", "eye")


_example = partial(
    example, loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))", component="model"
)


class RegisterLayers(Repair, code="R305", cures=("ARC-INIT-MODEL", "OPT-PARAMS")):
    """Put layers that are kept in a plain list or dict into an nn.ModuleList or nn.ModuleDict; make a tensor an nn.Parameter.

    Only then parameters() lists them, so that the optimiser trains them.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        found = list(self._found(case))
        if len(found) > 1:  # all that is lost at once; then one by one
            edits = once(edit for _, _, each in found for edit in each)
            names = dict.fromkeys(name for name, _, _ in found)
            if len(names) > 1:
                title = f"register {' and '.join(names)}"
                yield from self.change(case, title, edits, knob="registration of all")
        for name, kind, edits in found:
            yield from self.change(case, f"{name} as {kind}", edits, knob=f"registration of {name}")

    def _found(self, case: Case) -> Iterator[tuple[str, str, FileEdits]]:
        """What is not registered, as what it should be, and the edits for it."""
        seen: set[object] = set()
        for file, assignment in self._assignments(case):
            if assignment in seen or assignment.value is None:
                continue
            seen.add(assignment)
            target = assignment.targets[0] if isinstance(assignment, ast.Assign) else assignment.target
            for kind, edits in self._registered(file, assignment.value, target):
                if edits:
                    yield file.source(target), kind, edits
        for file, statement in self._statements(case):
            for name, kind, edits in self._elsewhere(case, file, statement):
                if edits and edits not in seen:
                    seen.add(edits)
                    yield name, kind, edits

    @staticmethod
    def _elsewhere(case: Case, file: File, statement: ast.stmt) -> Iterator[tuple[str, str, FileEdits]]:
        """Layers that were not made in a container of their module."""
        if is_attribute(statement):
            owner = file.owner(statement)
            if owner is not None:
                yield owner.name, "nn.Module", as_module(case.code, file, owner)
            return
        for other, value, kind in made_in_function(case.code, file, statement):
            holder = other.statement(value)
            assert isinstance(holder, ast.Assign | ast.AnnAssign)
            target = holder.targets[0] if isinstance(holder, ast.Assign) else holder.target
            yield other.source(target), f"nn.{kind}", registered_in(other, value, kind)
        name = last_name(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
        yield name, "attribute of the class's objects", of_the_class(file, statement)
        if not any(True for _ in kept_in(file, statement)):
            yield name, "attribute of the module", held_by_name(file, statement)

    def _assignments(self, case: Case) -> Iterator[tuple[File, ast.Assign | ast.AnnAssign]]:
        """Assignments to attributes that hold what is not registered: by where the layers were made, and by the fault's line."""
        for file, statement in self._statements(case):
            if is_attribute(statement) and isinstance(statement, ast.Assign | ast.AnnAssign):
                yield file, statement
            else:
                yield from kept_in(file, statement)

    @staticmethod
    def _statements(case: Case) -> Iterator[tuple[File, ast.stmt]]:
        lost = [m for m in case.trace.all(ModuleFact) if not m.registered]
        sites = [case.site] if case.cause == "ARC-INIT-MODEL" else []
        for site in (*sites, *(module.created for module in lost)):
            found = case.code.statement_at(site)
            if found is not None:
                yield found
                if not lost and found[0].owner(found[1]) is not None:  # other tensors of the same class
                    yield from tensors_beside(*found)

    def _registered(
        self, file: File, value: ast.expr, target: ast.expr | None = None
    ) -> Iterator[tuple[str, FileEdits]]:
        """`[…]` → `nn.ModuleList([…])` and its like."""
        if target is not None and is_unfit(file, value, target):
            yield "nn.ModuleList beside it", registered_beside(file, value, target)
            return
        made = list(inside(value, ast.Call))
        parameters = any(last_name(node.func) == "Parameter" for node in made)
        layers = any(
            last_name(node.func)[:1].isupper() and last_name(node.func) != "Parameter" for node in made
        )
        is_list = isinstance(value, LISTS) or _is_call_of(value, "list", "tuple")
        is_dict = isinstance(value, DICTS) or _is_call_of(value, "dict")
        if is_list or is_dict:
            if not made and target is not None and holds_tensors(file, value, target):
                parameters = True
            if made and all(_is_tensor(file, node) for node in made):
                parameters = True
            kind = "Parameter" if parameters and not layers else "Module"
            kind += "List" if is_list else "Dict"
            yield f"nn.{kind}", registered_in(file, value, kind)
        elif isinstance(value, ast.Name):  # a local list that was filled before
            filled = made_as(file, value)
            if filled is not None:
                kind = "ModuleDict" if isinstance(filled, DICTS) else "ModuleList"
                yield f"nn.{kind}", registered_in(file, value, kind)
        elif target is not None and is_set_again(file, target):
            return
        elif isinstance(value, ast.Call) and last_name(value.func) not in ("ModuleList", "Parameter"):
            yield "nn.Parameter", as_parameter(file, value)
        elif isinstance(value, ast.BinOp) and any(last_name(node.func) in _TENSORS for node in made):
            name, extra = spelled(file, "torch.nn.Parameter")  # torch.randn(4, 8) / 2
            yield "nn.Parameter", (*wrap(file, value, f"{name}(", ")"), *extra)

    EXAMPLES = {
        "a list": _example(
            layers="""
                self.a = nn.Linear(2, 8)
                self.rest = ⟨[nn.Linear(8, 8), nn.Linear(8, 1)] → nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 1)])⟩""",
            forward="""
                x = self.a(x)
                for layer in self.rest:
                    x = layer(x.relu())
                return x""",
        ),
        "a tensor that was scaled": _example(
            layers="""
                self.w = ⟨torch.randn(2, 8) / 2 → nn.Parameter(torch.randn(2, 8) / 2)⟩
                self.out = nn.Linear(8, 1)""",
            forward="return self.out((x @ self.w).relu())",
            component="",
        ),
        "a list that is filled later": _example(
            layers="""
                self.a = nn.Linear(2, 8)
                self.rest = ⟨[] → nn.ModuleList()⟩
                for width in (8, 1):
                    ⟨self.rest.append(nn.Linear(8, width))⟩""",
            forward="""
                x = self.a(x)
                for layer in self.rest:
                    x = layer(x.relu())
                return x""",
        ),
        "a tensor": _example(
            layers="""
                self.a = nn.Linear(2, 1)
                self.scale = ⟨torch.ones(1, requires_grad=True) → nn.Parameter(torch.ones(1))⟩""",
            forward="return self.scale * self.a(x)",
        ),
        "lists of tensors: all of them": _example(
            layers="""
                self.scale = nn.Parameter(torch.ones(1))
                self.weights = ⟨[] → nn.ParameterList()⟩
                self.biases = ⟨[] → nn.ParameterList()⟩
                for a, b in ((2, 8), (8, 1)):
                    self.weights.append(torch.randn(a, b).requires_grad_())
                    self.biases.append(torch.zeros(b, requires_grad=True))""",
            forward="""
                for w, b in zip(self.weights, self.biases):
                    x = x @ w + b
                return self.scale * x""",
            mark="self.biases = []",
        ),
        "a list that a function returns": _example(
            data="""
                def stack(*sizes):
                    layers = []
                    for a, b in zip(sizes, sizes[1:]):
                        ⟨layers.append(nn.Linear(a, b))⟩
                    return layers""",
            layers="""
                self.layers = ⟨stack(2, 8, 8) → nn.ModuleList(stack(2, 8, 8))⟩
                self.last = nn.Linear(8, 1)""",
            forward="""
                for layer in self.layers:
                    x = layer(x).relu()
                return self.last(x)""",
        ),
        "a class that is no module": _example(
            data="""
                class Block⟨: → (nn.Module):⟩
                    def __init__(self, a, b):
                        + super().__init__()
                        ⟨self.linear = nn.Linear(a, b)⟩
                    def ⟨__call__ → forward⟩(self, x):
                        return self.linear(x).relu()""",
            layers="self.block = Block(2, 8)\nself.last = nn.Linear(8, 1)",
            forward="return self.last(self.block(x))",
        ),
        "lists in a dict": _example(
            layers="""
                self.parts = ⟨{"left": [], "right": []} → nn.ModuleDict({"left": nn.ModuleList(), "right": nn.ModuleList()})⟩
                for side in self.parts:
                    self.parts[side]⟨.append(nn.Linear(2, 8))⟩
                self.last = nn.Linear(8, 1)""",
            forward="return self.last(sum(part(x) for parts in self.parts.values() for part in parts))",
        ),
        "a layer behind a lambda": _example(
            layers="""
                ⟨body = nn.Linear(2, 8)⟩
                self.body = ⟨lambda x: body(x) → body⟩
                self.last = nn.Linear(8, 1)""",
            forward="return self.last(self.body(x))",
        ),
        "a list that functions are in too": _example(
            layers="""
                ⟨self.layers = [nn.Linear(2, 8), torch.relu]⟩
                self.last = nn.Linear(8, 1)
                + self.layers_modules = nn.ModuleList(layer for layer in self.layers if isinstance(layer, nn.Module))""",
            forward="""
                for layer in self.layers:
                    x = layer(x)
                return self.last(x)""",
        ),
        "given another list later": _example(
            layers="""
                ⟨self.layers = [nn.Linear(2, 8)]⟩
                self.layers = [*self.layers, nn.ReLU()]
                self.last = nn.Linear(8, 1)
                + self.layers_modules = nn.ModuleList(layer for layer in self.layers if isinstance(layer, nn.Module))""",
            forward="""
                for layer in self.layers:
                    x = layer(x)
                return self.last(x)""",
        ),
        "names that no module can have": _example(
            layers="""
                ⟨self.parts = {"a.0": nn.Linear(2, 8), "a.1": nn.Linear(8, 8)}⟩
                self.last = nn.Linear(8, 1)
                + self.parts_modules = nn.ModuleList(layer for layer in self.parts.values() if isinstance(layer, nn.Module))""",
            forward='return self.last(self.parts["a.1"](self.parts["a.0"](x)))',
        ),
        "registered already": _example(
            layers="⟨self.rest = nn.ModuleList([nn.Linear(2, 8), nn.Linear(8, 1)])⟩",
            forward="return self.rest[1](self.rest[0](x).relu())",
        ),
    }


def _is_call_of(value: ast.expr, *names: str) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in names


def _is_tensor(file: File, call: ast.Call) -> bool:
    """`torch.randn(2, 8)`, not a layer of torch.nn."""
    name = qualified(file, call.func)
    return name.startswith("torch.") and not name.startswith("torch.nn.") and name.split(".")[-1] in _TENSORS
