"""Repairs of how many layers there are: one more, one fewer, a way past them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise

from netmend.changes.case import Case
from netmend.changes.network.layer_removal import call_removed, layer_removed, value_of
from netmend.changes.network.model_layers import in_stack, layers_of, links_of, made_by, model_of_fault
from netmend.changes.network.stacks import put_behind
from netmend.program.source.naming import spelled
from netmend.program.source.writing import insert_before, insert_text, united, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import holds, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import FunctionFact, ModuleFact, Site
from netmend.vocabulary.change import ARCHITECTURE, BY_FACTS, Change, FileEdits


class AddLayer(
    Repair, code="R316", cures=("ARC-STRUCT-SUBOPT", "LYR-UNITS"), effort=ARCHITECTURE, explores=True
):
    """Put one more hidden layer into a stack, of the width and with the activation that it has.

    Helps a network that is too small for its task; training takes longer.
    """

    most: int = 3  # layers with which a network counts as shallow; one fewer when nothing was told

    def propose(self, case: Case) -> Iterator[Change]:
        model = model_of_fault(case)
        layers = layers_of(case, model)
        # The last hidden layer that is made on a line of its own, and the activation behind it.
        links = [link for link in links_of(case, model) if link.module is not None]
        found = None
        for link, behind in pairwise(links):
            module = link.module
            if module is None or module.kind != "Linear" or behind.kind != "activation":
                continue
            if behind.module is None:
                continue
            if (
                (
                    in_stack(case, module)
                    and in_stack(case, behind.module)
                    and len(made_by(case, module.created)) == 1
                )
                and module is not layers[-1]
                and len(made_by(case, behind.module.created)) == 1
            ):
                found = module, behind.module
        most = self.most if case.fault is not None else self.most - 1
        if found is None or not 2 <= len(layers) <= most:
            return
        layer, activation = found
        made, after = case.code.call_at(layer.created), case.code.call_at(activation.created)
        width = case.sources.argument(made[1], "out_features", 1) if made is not None else None
        if made is None or after is None or width is None or made[0].file != after[0].file:
            return
        file, call = after
        name, extra = spelled(file, "torch.nn.Linear", like=made[1].func)
        size, same = made[0].source(width), file.source(call)
        edits = put_behind(file, call, f"{name}({size}, {size})", "more")
        both = put_behind(file, call, f"{name}({size}, {size}), {same}", "more")
        is_argument = bool(both) and both[0].edit.text.startswith(",")
        title = f"one more layer of {layer.settings.get('out_features')} units"
        if is_argument and edits:
            yield from self.change(case, title, (*both, *extra), knob="depth", cost=1.5)

    EXAMPLES = {
        "a stack": example(
            model="nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, ⟨ → 8), nn.Tanh(), nn.Linear(8, ⟩1))",
            loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))",
            component="model.0",
        ),
        "no hidden layer": example(
            model="nn.Sequential(nn.Linear(2, 1))",
            loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))",
        ),
    }


_remove_example = partial(example, loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))")


class RemoveLayer(Repair, code="R318", cures=("LYR-EXTRA",), effort=BY_FACTS):
    """Take a layer away that should not be there, where what it is given fits what follows.

    Only layers that leave the shape as it is can be taken out without changing others.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        name = case.component
        module, function = case.trace.get(ModuleFact, name), case.trace.get(FunctionFact, name)
        if (
            module is not None
            and module.leaf
            and module.input_shapes == module.output_shapes
            and module.calls
        ):
            edits = layer_removed(case, module)
            yield from self.change(case, f"without {module.name}", edits, knob=module.name)
        elif function is not None:
            found = case.code.call_at(function.site)
            edits = () if found is None else call_removed(*found, value_of(*found))
            yield from self.change(case, f"without {function.function}", edits, knob=function.name)

    EXAMPLES = {
        "in a stack": _remove_example(
            model="nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1)⟨, nn.Tanh() → ⟩)",
            component="model.3",
        ),
        "a call in forward": _remove_example(
            layers="self.fc, self.act = nn.Linear(2, 1), nn.Tanh()",
            forward="return self.⟨act(self.fc(x)) → fc(x)⟩",
            component="model.act",
        ),
        "a layer that changes the width": _remove_example(
            model="⟨nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))⟩", component="model.0"
        ),
    }


_CLASS = '''class Residual({base}):
    """Adds what goes in to what comes out."""

    def forward(self, x):
        return x + super().forward(x)

'''


_skip_example = partial(
    example,
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    loss="nn.functional.mse_loss(model(torch.randn(4, 8)), torch.ones(4, 1))",
)


class SkipConnection(Repair, code="R317", cures=("LYR-NORM-MISSING",), effort=ARCHITECTURE):
    """Add the input of a layer to its output, in a deep plain stack.

    Signals and gradients pass along the sum unhindered, however deep the network is. Only layers whose input and output
    are equally wide get one.
    """

    least: int = 7  # layers; shallower networks train without

    def propose(self, case: Case) -> Iterator[Change]:
        layers = layers_of(case, model_of_fault(case))
        if len(layers) < self.least:
            return
        sites: dict[Site, list[ModuleFact]] = {}
        for layer in layers[:-1]:
            place = layer.created if in_stack(case, layer) else layer.called
            if place is not None:
                sites.setdefault(place, []).append(layer)
        square = {
            site: found
            for site, found in sites.items()
            if all(layer.input_shapes == layer.output_shapes for layer in found)
        }
        parts = [
            self._in_stack(case, site) if in_stack(case, found[0]) else self._in_forward(case, site)
            for site, found in square.items()
        ]
        edits = united(parts)
        yield from self.change(
            case, "skip connections around the hidden layers", edits, knob="skip connections"
        )

    @staticmethod
    def _in_forward(case: Case, site: Site) -> FileEdits:
        """`x = torch.relu(layer(x))` → `x = x + torch.relu(layer(x))`."""
        found = case.code.call_at(site)
        statement = found[0].statement(found[1]) if found is not None else None
        if found is None or not isinstance(statement, ast.Assign):
            return ()
        if not isinstance(statement.targets[0], ast.Name):
            return ()
        file, call = found
        name = statement.targets[0].id
        if not call.args or file.source(call.args[0]) != name:
            return ()
        return (
            wrap(file, statement.value, f"{name} + ", "")
            if not isinstance(statement.value, ast.BinOp)
            else ()
        )

    def _in_stack(self, case: Case, site: Site) -> FileEdits:
        """`nn.Linear(w, w), nn.ReLU()` → `Residual(nn.Linear(w, w), nn.ReLU())`."""
        found = case.code.call_at(site)
        if found is None:
            return ()
        file, call = found
        parent = file.parent(call)
        parts: list[ast.expr] = parent.elts if isinstance(parent, ast.List) else []
        if isinstance(parent, ast.Call) and last_name(parent.func) == "Sequential":
            parts = parent.args
        following = parts[parts.index(call) + 1] if call in parts[:-1] else None
        if not isinstance(following, ast.Call) or not last_name(following.func).endswith(
            ("LU", "Tanh", "Sigmoid")
        ):
            return ()
        made = self._class(file, call)
        if not made:
            return ()
        end = file.span(following)[1]
        return (*insert_text(file, call, "Residual("), *file.edit(end, end, ")"), *made)

    @staticmethod
    def _class(file: File, call: ast.Call) -> FileEdits:
        """The new class, before the first definition of the file that needs it."""
        base = file.source(call.func).rpartition(".")[0]
        top = [node for node in file.tree.body if holds(node, call)]
        if not base or not top:
            return ()
        if any(isinstance(n, ast.ClassDef) and n.name == "Residual" for n in file.tree.body):
            return ()
        made = insert_before(file, top[0], _CLASS.format(base=f"{base}.Sequential"))
        return tuple(replace(one, edit=replace(one.edit, text=f"{one.edit.text}\n\n")) for one in made)

    EXAMPLES = {
        "a loop in forward": _skip_example(
            layers="""
                self.rest = nn.ModuleList([nn.Linear(8, 8) for _ in range(9)])
                self.last = nn.Linear(8, 1)""",
            forward="""
                for layer in self.rest:
                    x = ⟨ → x + ⟩torch.relu(layer(x))
                return self.last(x)""",
            component="model.rest.0",
        ),
        "a shallow network": _skip_example(
            layers="self.rest = nn.Linear(8, 8)\nself.last = nn.Linear(8, 1)",
            forward="⟨x = torch.relu(self.rest(x))⟩\nreturn self.last(x)",
            component="model.rest",
        ),
    }
