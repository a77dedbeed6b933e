"""Repairs of what stands between layers: another function, or one where there is none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from netmend.changes.case import Case
from netmend.changes.network.activation_places import exchanged
from netmend.changes.network.model_layers import in_stack, layers_of, links_of, model_of_fault, rows
from netmend.changes.network.stacks import put_behind, relu_of, without_last
from netmend.diagnose.measures.chain import RECTIFIERS, SIGMOIDS, Link, activations
from netmend.library.activations import ACROSS_UNITS, SQUASHING, layers
from netmend.program.source.naming import spelled
from netmend.program.source.writing import replace, united, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name, variables_in
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import FunctionFact, ModuleFact
from netmend.vocabulary.change import BY_FACTS, SHORT_SEARCH, Change, FileEdits

_WORDS = {"relu": "ReLU", "gelu": "GELU", "leaky_relu": "leaky ReLU"}


_hidden_example = partial(example, loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))")


class HiddenActivation(Repair, code="R301", cures=("ACT-HID-WRONG",), effort=BY_FACTS, explores=True):
    """Put ReLU in the place of the saturating or competing activations of all hidden layers; GELU if that does not help.

    Sigmoids pass on a quarter of the gradient at best and softmax makes units compete for a sum of one. Gates and
    attention, where such a value weighs another one, are left alone; so is the output.
    """

    deep: int = 4  # layers from which a tanh is worth exchanging without being accused

    def propose(self, case: Case) -> Iterator[Change]:
        wanted = self._functions(case)
        new = ("leaky_relu", "gelu") if wanted[0] in RECTIFIERS else ("relu", "gelu")
        model = model_of_fault(case)
        places = [link for link in activations(case.trace, wanted) if not model or link.model == model]
        if not places:
            return
        names = " and ".join(dict.fromkeys(link.function for link in places))
        for function in new if case.fault is not None else new[:1]:
            edits = united(exchanged(case, link, function) for link in places)
            title = f"hidden {names} → {_WORDS[function]}"
            effort = self.effort if case.fault is not None else SHORT_SEARCH
            yield from self.change(case, title, edits, knob="hidden activation", effort=effort)

    def _functions(self, case: Case) -> tuple[str, ...]:
        """The kinds to be exchanged: what the fault names and its like, else whatever saturates."""
        named = self._accused(case)
        if named is not None and named.function in RECTIFIERS:
            return (named.function,)
        functions = (*SIGMOIDS, *ACROSS_UNITS)
        if named is not None and named.function not in functions:
            return (named.function, *functions)
        depth = len(layers_of(case, model_of_fault(case)))
        return (*functions, *SQUASHING) if case.fault is None and depth >= self.deep else functions

    @staticmethod
    def _accused(case: Case) -> Link | None:
        if case.fault is None:
            return None
        name = case.component
        found = [link for link in links_of(case, model_of_fault(case)) if link.kind == "activation"]
        by_name = next((link for link in found if link.name == name), None)
        fact = case.trace.get(FunctionFact, name)
        return by_name or next((link for link in found if fact is not None and link.site == fact.site), None)

    EXAMPLES = {
        "layers of a stack, and the output's sigmoid stays": _hidden_example(
            model="nn.Sequential(nn.Linear(2, 8), nn.⟨Sigmoid → ReLU⟩(), nn.Linear(8, 1), nn.Sigmoid())",
            component="model.1",
        ),
        "functions in forward": _hidden_example(
            layers="self.a, self.b = nn.Linear(2, 8), nn.Linear(8, 1)",
            forward="return self.b(F.⟨softmax(self.a(x), dim=-1) → relu(self.a(x))⟩)  # share",
            component="model.softmax@train.py:10",
        ),
        "a class that is handed on, as GELU": _hidden_example(
            data="""
                def make(act=nn.⟨Sigmoid → GELU⟩):
                    return ⟨nn.Sequential(nn.Linear(2, 8), act(), nn.Linear(8, 1))⟩""",
            model="make()",
            component="model.1",
            nth=1,
        ),
        "chosen by a text": _hidden_example(
            data="""
                KINDS = {"relu": nn.ReLU, "sig": nn.Sigmoid}
                def kind(name):
                    if name == "rect":
                        return nn.ReLU()
                    if name == "sig":
                        return nn.Sigmoid()
                config = dict(act='⟨sig → rect⟩')""",
            model='⟨nn.Sequential(nn.Linear(2, 8), kind(config["act"]), nn.Linear(8, 1))⟩',
            component="model.1",
        ),
        "a tensor's method, without a fault": _hidden_example(
            layers="self.a, self.b = nn.Linear(2, 8), nn.Linear(8, 1)",
            forward="h = self.a(x).⟨sigmoid → relu⟩()\nreturn self.b(h)",
            fault=False,
        ),
        "a gate is left alone": _hidden_example(
            layers="self.a, self.g, self.b = nn.Linear(2, 8), nn.Linear(2, 8), nn.Linear(8, 1)",
            forward="gate = torch.sigmoid(self.g(x))\nreturn self.b(gate * torch.relu(self.a(x)))",
        ),
    }


_ACTIVATIONS = tuple(
    layers("relu", "leaky_relu", "gelu", "elu", "silu", "tanh", "prelu", "selu", "mish").values()
)


_insert_example = partial(
    example, loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))", component="model.0"
)


class InsertActivation(Repair, code="R302", cures=("ACT-HID-MISSING",), effort=BY_FACTS):
    """Put a ReLU behind every hidden layer that hands its output straight to the next one.

    Layers in a row without a non-linearity are one linear layer. In a stack the ReLU becomes a layer of it, behind the
    normalisation if there is one; in forward() it is put around the call.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        model = model_of_fault(case)
        layers = layers_of(case, model)
        pairs = list(rows(case, model)) or self._uncertain(case, model)
        found = [(first, self._behind(case, first, layers[-1])) for first, _ in pairs]
        places = [first for first, edits in found if edits]
        names = ", ".join(first.name for first in places[:3]) + (", …" if len(places) > 3 else "")
        edits = united(edits for _, edits in found)
        yield from self.change(case, f"ReLU after {names}", edits, knob="hidden activation")

    @staticmethod
    def _uncertain(case: Case, model: str) -> list[tuple[ModuleFact, ModuleFact]]:
        """Layers that followed one another in time with no activation between, in a network that is linear as a whole."""
        links = [link for link in links_of(case, model) if link.kind in ("linear", "activation", "recurrent")]
        return [
            (one.module, two.module)
            for one, two in pairwise(links)
            if one.kind == two.kind == "linear" and one.module is not None and two.module is not None
        ]

    def _behind(self, case: Case, layer: ModuleFact, last: ModuleFact) -> FileEdits:
        if in_stack(case, layer):
            return self._in_stack(case, layer, last)
        found = case.code.call_at(layer.called)
        return self._around_call(case, layer, last, *found) if found is not None else ()

    @staticmethod
    def _in_stack(case: Case, layer: ModuleFact, last: ModuleFact) -> FileEdits:
        found = case.code.call_at(layer.created)
        if found is None:
            return ()
        file, call = found
        name, extra = spelled(file, "torch.nn.ReLU", like=call.func)
        edits = put_behind(file, call, f"{name}()", "act")
        if last.created != layer.created:
            return (*edits, *extra) if edits else ()
        # The same line makes the last layer, behind which none belongs.
        shorter = without_last(file, call) or _comprehension(file, call, f"{name}()")
        if not shorter:
            return ()
        inside = isinstance(file.parent(call), ast.ListComp | ast.GeneratorExp)
        return (*shorter, *extra) if inside else (*edits, *shorter, *extra)

    @staticmethod
    def _around_call(
        case: Case, layer: ModuleFact, last: ModuleFact, file: File, call: ast.Call
    ) -> FileEdits:
        name, extra = _own(file, call) or relu_of(file)
        if last.called != layer.called:
            return (*wrap(file, call, f"{name}(", ")"), *extra)
        # One call in a loop serves all layers, and the last one stays linear.
        loop = file.loop(call)
        over = loop.iter if isinstance(loop, ast.For) else None
        if over is None or not isinstance(loop, ast.For) or not isinstance(over, ast.Name | ast.Attribute):
            return ()
        if not isinstance(loop.target, ast.Name) or last_name(call.func) != loop.target.id:
            return ()
        source = file.source(call)
        text = f"{source} if {loop.target.id} is {file.source(over)}[-1] else {name}({source})"
        is_whole = isinstance(file.parent(call), ast.Assign | ast.Return)
        return (*replace(file, call, text if is_whole else f"({text})"), *extra)

    EXAMPLES = {
        "a stack of layers": _insert_example(
            model="""
                nn.Sequential(
                    ⟨nn.Linear(2, 8)⟩,
                    nn.BatchNorm1d(8),
                    + nn.ReLU(),
                    nn.Linear(8, 1),
                )"""
        ),
        "a list that a loop fills": _insert_example(
            data="""
                def make(sizes):
                    layers = []
                    for a, b in zip(sizes, sizes[1:]):
                        layers.append(nn.Linear(a, b)); ⟨ → layers.append(nn.ReLU()); ⟩print(a)
                    return nn.Sequential⟨(*layers) → (*layers[:-1])⟩""",
            model="make([2, 8, 1])",
        ),
        "calls in forward": _insert_example(
            layers="self.a, self.b = nn.Linear(2, 8), nn.Linear(8, 1)",
            forward="x = ⟨self.a(x) → torch.relu(self.a(x))⟩\nreturn self.b(x)",
            component="model.a",
        ),
        "one call for all layers": _insert_example(
            imports="import torch.nn.functional as F",
            layers="self.layers = nn.ModuleList([nn.Linear(2, 8), nn.Linear(8, 1)])",
            forward="""
                for layer in self.layers:
                    x = ⟨layer(x) → layer(x) if layer is self.layers[-1] else F.relu(layer(x))⟩
                return x""",
            component="model.layers.0",
        ),
        "a layer whose weights are set by its name": _insert_example(
            data="fc = nn.Linear(2, 8)\nnn.init.xavier_uniform_(fc.weight)",
            model="nn.Sequential(fc, nn.Linear(8, 1))",
            mark="fc = nn.Linear",
        ),
        "a single layer": _insert_example(model="nn.Sequential(⟨nn.Linear(2, 1)⟩)"),
    }


def _own(file: File, call: ast.Call) -> tuple[str, FileEdits] | None:
    """An activation that the class has and does not call, as it was forgotten."""
    owner = file.owner(call)
    for node in inside(owner, ast.Assign):
        if isinstance(node.value, ast.Call):
            target = file.source(node.targets[0])
            if last_name(node.value.func) in _ACTIVATIONS and target.startswith("self."):
                return target, ()
    return None


def _comprehension(file: File, call: ast.Call, text: str) -> FileEdits:
    """`*[nn.Linear(a, b) for a, b in sizes]` → `*[layer for a, b in sizes for layer in (nn.Linear(a, b), nn.ReLU())][:-1]`."""
    whole = file.parent(call)
    if not isinstance(whole, ast.ListComp | ast.GeneratorExp) or whole.elt is not call:
        return ()
    used = variables_in(whole)
    name = next(word for word in ("layer", "module", "part", "each_layer") if word not in used)
    loops = file.source(whole)[1:-1].strip()[len(file.source(call)) :].strip()
    if not loops.startswith("for "):
        return ()
    made = f"[{name} {loops} for {name} in ({file.source(call)}, {text})][:-1]"
    return replace(file, whole, made)
