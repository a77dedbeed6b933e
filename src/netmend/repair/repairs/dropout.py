"""Repairs of dropout: where there is none, how much, and when it is on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.network.layer_removal import call_removed, layer_removed, value_of
from netmend.changes.network.model_layers import in_stack, links_of, made_by, model_of_fault
from netmend.changes.network.stacks import put_behind
from netmend.diagnose.measures.chain import Link, last_weighted
from netmend.library.layers import DROPOUTS
from netmend.localise.causes.regularisation import dropouts
from netmend.program.source.naming import new_attribute, spelled
from netmend.program.source.values import joined, set_argument
from netmend.program.source.writing import add_argument, insert_after, once, replace, united, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import last_name, methods
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import BUDGET, BY_FACTS, SHORT_SEARCH, Change, FileEdits

_add_example = partial(
    example, loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))", component="model"
)


class AddDropout(
    Repair, code="R309", cures=("LYR-DROPOUT-MISSING", "LOS-REG-MISSING", "DAT-LITTLE"), effort=BUDGET
):
    """Put dropout behind the hidden activations, so that the network cannot learn its samples by heart.

    Helps a network that is much better on its training data than on new data. Training may take longer.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        if any(True for _ in dropouts(case.trace)):
            return
        model = model_of_fault(case)
        links = links_of(case, model)
        last = last_weighted(case.trace, links[0].model) if links else -1.0
        # In feature maps neighbours carry the same, so that dropping single values holds nothing back.
        hidden = [
            link
            for link in links
            if link.kind == "activation" and link.position < last and len(link.shape) == 2
        ]
        for rate in ("0.5",) if case.cause == "DAT-LITTLE" else ("0.5", "0.25"):
            edits = united(self._behind(case, link, rate) for link in hidden)
            yield from self.change(
                case, f"dropout of {rate} in the hidden layers", edits, knob="dropout", cost=1.2
            )

    def _behind(self, case: Case, link: Link, rate: str) -> FileEdits:
        found = case.code.call_at(link.module.created if link.module is not None else link.site)
        if found is None:
            return ()
        file, call = found
        if link.module is not None and in_stack(case, link.module) and len(made_by(case, link.site)) >= 1:
            name, extra = spelled(file, "torch.nn.Dropout", like=call.func)
            edits = put_behind(file, call, f"{name}({rate})", "dropout")
            return (*edits, *extra) if edits else ()
        if link.module is not None:
            found = case.code.call_at(link.module.called)
            if found is None or link.module.calls > 1:
                return ()
            file, call = found
        return self._around(file, call, rate)

    @staticmethod
    def _around(file: File, call: ast.Call, rate: str) -> FileEdits:
        """`F.relu(x)` → `self.dropout(F.relu(x))`, with the layer made in `__init__`."""
        owner = file.owner(call)
        init = methods(owner).get("__init__") if owner is not None else None
        if owner is None or init is None:
            return ()
        name = new_attribute(owner, "dropout")
        made, extra = spelled(file, "torch.nn.Dropout")
        return (
            *insert_after(file, init.body[-1], f"self.{name} = {made}({rate})"),
            *wrap(file, call, f"self.{name}(", ")"),
            *extra,
        )

    EXAMPLES = {
        "in a stack": _add_example(
            model="nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.⟨Linear → Dropout(0.5), nn.Linear⟩(8, 1))",
            mark="optimizer = ",
        ),
        "in forward": _add_example(
            layers="""
                self.a, self.b = nn.Linear(2, 8), nn.Linear(8, 1)
                + self.dropout = nn.Dropout(0.25)""",
            forward="return self.b(⟨torch.relu(self.a(x)) → self.dropout(torch.relu(self.a(x)))⟩)",
            mark="optimizer = ",
            nth=1,
        ),
        "dropout is there": _add_example(
            model="nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 1))",
            mark="optimizer = ",
        ),
    }


_rate_example = partial(example, loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))")


class DropoutRate(
    Repair, code="R308", cures=("LYR-DROPOUT-RATE",), knob="dropout", effort=BY_FACTS, explores=True
):
    """Lower a dropout rate that is far too high, and take away dropout on the output.

    Usual rates are 0.1 to 0.5. Dropout behind the last layer falsifies the answers themselves. A rate that is too low
    to keep the network from learning by heart is raised.
    """

    high: float = 0.65  # above all usual rates
    low: float = 0.1  # below it hardly anything is held back

    def propose(self, case: Case) -> Iterator[Change]:
        found = list(dropouts(case.trace))
        on_output = [drop for drop in found if drop.last]
        if on_output and (case.fault is None or any(d.name == case.component for d in on_output)):
            edits = tuple(e for drop in on_output for e in self._without(case, drop.name, drop.functional))
            yield from self.change(case, "no dropout on the output", edits)
            if case.fault is None or all(drop.last for drop in found):
                return
        too_high = [drop for drop in found if drop.rate >= self.high and not drop.last]
        if too_high:
            yield from self._rates(case, too_high, (0.2, 0.5))
        elif case.fault is not None and not on_output:
            yield from self._rates(case, [drop for drop in found if drop.rate < self.low], (0.5, 0.3))

    def _rates(self, case: Case, drops: list, rates: tuple[float, ...]) -> Iterator[Change]:  # type: ignore[type-arg]
        for rate in rates if drops else ():
            faces = [
                set_argument(
                    case.code, drop.site, "p", f"{rate:g}", 1 if drop.functional else 0, case.arguments
                )
                for drop in drops
            ]
            title = f"dropout {max(drop.rate for drop in drops):g} → {rate:g}"
            effort = self.effort if case.fault is not None else SHORT_SEARCH
            yield from self.change(case, title, joined(faces), effort=effort)

    @staticmethod
    def _without(case: Case, name: str, functional: bool) -> FileEdits:
        module = case.trace.get(ModuleFact, name)
        if module is not None and not functional:
            return layer_removed(case, module)
        site = next((drop.site for drop in dropouts(case.trace) if drop.name == name), None)
        found = case.code.call_at(site)
        return () if found is None else call_removed(*found, value_of(*found))

    EXAMPLES = {
        "a literal": _rate_example(
            model="""
                nn.Sequential(
                    nn.Linear(2, 8),
                    nn.ReLU(),
                    nn.Dropout(p=⟨0.95 → 0.2⟩),  # nearly all
                    nn.Linear(8, 1),
                )""",
            component="model.2",
        ),
        "a constant": _rate_example(
            data="RATE = ⟨0.9 → 0.5⟩",
            model="""
                nn.Sequential(
                    nn.Linear(2, 8),
                    nn.ReLU(),
                    ⟨nn.Dropout(RATE)⟩,
                    nn.Linear(8, 1),
                )""",
            component="model.2",
            nth=1,
        ),
        "on the output": _rate_example(
            model="""
                nn.Sequential(
                    nn.Linear(2, 8),
                    nn.ReLU(),
                    nn.Identity(),
                    nn.Linear(8, 1),
                    - nn.Dropout(0.4),
                )""",
            component="model.4",
        ),
        "a usual rate": _rate_example(
            model="""
                nn.Sequential(
                    nn.Linear(2, 8),
                    nn.ReLU(),
                    nn.Dropout(0.3),
                    nn.Linear(8, 1),
                )"""
        ),
    }


_FUNCTIONS = (
    "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"
)  # fmt: skip
_LAYERS = {name: name.lower() for name in DROPOUTS}


_mode_example = partial(example, layers="self.fc = nn.Linear(2, 1)", optimizer="")


class DropoutFollowsMode(Repair, code="R106", cures=("LYR-DROPOUT-MODE",)):
    """Let dropout follow the mode of the model.

    `F.dropout(x)` drops in evaluation too, and an `nn.Dropout` made inside `forward` is always in training mode. With
    `training=self.training` both are off once `model.eval()` was called.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        site = case.site
        found = case.code.statement_at(site)
        if found is None:
            return
        file, statement = found
        owner = file.owner(statement)
        edits: FileEdits = ()
        for call in file.calls(inside=owner) if owner is not None else ():
            function = file.function(call)
            if function is not None and function.args.args and file.owner(call) is owner:
                edits += self._edits(file, call, f"{function.args.args[0].arg}.training")
        # Imports are needed once.
        yield from self.change(case, "dropout only in training mode", once(edits), knob="dropout mode")

    def _edits(self, file: File, call: ast.Call, mode: str) -> FileEdits:
        name = last_name(call.func)
        if name in _FUNCTIONS and call.args:
            given = [keyword for keyword in call.keywords if keyword.arg in ("training", "train")]
            value = given[0].value if given else call.args[2] if len(call.args) > 2 else None
            if value is None:
                return add_argument(file, call, f"training={mode}")
            is_on = isinstance(value, ast.Constant) and value.value is True
            return replace(file, value, mode) if is_on else ()
        inner = call.func
        if isinstance(inner, ast.Call) and last_name(inner.func) in _LAYERS and len(call.args) == 1:
            function, extra = spelled(file, f"torch.nn.functional.{_LAYERS[last_name(inner.func)]}")
            rates = [file.source(given) for given in (*inner.args[:1], *inner.keywords)]
            text = ", ".join([file.source(call.args[0]), *rates, f"training={mode}"])
            return (*replace(file, call, f"{function}({text})"), *extra)
        return ()

    EXAMPLES = {
        "the function": _mode_example(
            forward="x = F.dropout(x, ⟨0.3 → 0.3, training=self.training⟩)\nreturn self.fc(x)",
            helpers="model.eval()\nmodel(torch.ones(4, 2))",
        ),
        "a layer that is made on every call": _mode_example(
            forward="return self.fc(nn.⟨Dropout(p=0.3)(x) → functional.dropout(x, p=0.3, training=self.training)⟩)",
            helpers="model(torch.ones(4, 2))",
        ),
        "it follows the mode": example("""
                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.fc = nn.Linear(2, 1)
                    def forward(self, x):
                        ⟨return self.fc(nn.functional.dropout(x, 0.3, self.training))⟩
                Net()(torch.ones(4, 2))"""),
    }
