"""Changes of layers: their width, one without, one twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from netmend.changes.case import Case
from netmend.changes.network.layer_removal import layer_removed
from netmend.changes.network.model_layers import (
    in_stack,
    layers_of,
    links_of,
    made_by,
    set_layer_width,
    takers,
    width_of_layer,
)
from netmend.changes.network.stacks import put_behind
from netmend.neutral.move import Move
from netmend.program.source.values import set_argument
from netmend.testing.example import example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import ARCHITECTURE, BUDGET, BY_FACTS, Change, FileEdits

_FIT = "nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))"
_ONE_LAYER = "nn.Sequential(nn.Linear(2, 1))"


class ScaleUnits(Move, code="N108", causes=("LYR-UNITS",), effort=BUDGET):
    """Half or twice as many units in a hidden layer.

    Together with the layers that take its output; the output itself keeps its width.
    """

    most: int = 4096  # units: wider layers make trainings that nobody wants to wait for

    def propose(self, case: Case) -> Iterator[Change]:
        for layer in layers_of(case)[:-1]:
            present = width_of_layer(layer)
            for wanted in (present * 2, present // 2):
                if not 1 <= wanted <= self.most or wanted == present:
                    continue
                title = f"{layer.name}: {present} → {wanted} units"
                faces = set_layer_width(case, layer, wanted)
                yield from self.change("LYR-UNITS", title, faces, knob=f"width of {layer.name}")

    EXAMPLES = {
        "twice, with the layer behind": example(
            model="nn.Sequential(nn.Linear(2, ⟨8 → 16⟩), nn.ReLU(), nn.Linear(⟨8 → 16⟩, 1))", loss=_FIT
        ),
        "half, where both take a constant": example(
            data="HIDDEN = ⟨6 → 3⟩",
            model="nn.Sequential(nn.Linear(2, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))",
            loss=_FIT,
            nth=1,
        ),
        "the output keeps its width": example(model=_ONE_LAYER, loss=_FIT),
    }


class DeleteLayer(Move, code="N109", causes=("LYR-EXTRA",), effort=BY_FACTS):
    """The network without one of its layers.

    Activations, dropout and others that leave the shape as it is; a hidden linear layer of a stack too, whose input then goes
    to the layer behind it.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        model = "" if case.model is None else case.model.name
        for module in case.trace.layers():
            usable = module.leaf and module.registered and module.calls == 1 and module.model == model
            if not usable or len(made_by(case, module.created)) != 1:
                continue
            if module.input_shapes == module.output_shapes:
                edits = layer_removed(case, module)
            else:
                edits = self._hidden_removed(case, module)
            yield from self.change("LYR-EXTRA", f"without {module.name}", edits, knob=module.name)

    def _hidden_removed(self, case: Case, module: ModuleFact) -> FileEdits:
        """`Linear(2, 8), ReLU(), Linear(8, 1)` → `ReLU(), Linear(2, 1)`."""
        if module.kind != "Linear" or module not in layers_of(case)[:-1] or not in_stack(case, module):
            return ()
        found, behind = case.code.call_at(module.created), takers(case, module)
        size = None if found is None else case.sources.argument(found[1], "in_features", 0)
        if found is None or size is None or not behind or any(times != 1 for *_, times in behind):
            return ()
        if not isinstance(size, ast.Constant | ast.Name):
            return ()
        text = found[0].source(size)
        edits = layer_removed(case, module)
        given = [
            set_argument(case.code, taker.created, setting, text, position, case.arguments)
            for taker, setting, position, _ in behind
        ]
        if not edits or not all(given):
            return ()
        # At the layers themselves: a constant that says the width may be used elsewhere too.
        return (*edits, *(edit for faces in given for edit in faces.forced or faces.edits))

    EXAMPLES = {
        "a hidden layer": example(
            model="nn.Sequential(nn.Linear(2, 8), nn.Tanh(), ⟨nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 1)"
            " → nn.Tanh(), nn.Linear(8, 1)⟩)",
            loss=_FIT,
            nth=2,
        ),
        "an activation": example(
            model="nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1)⟨, nn.ReLU() → ⟩)",
            loss=_FIT,
            nth=2,
        ),
        "the only layer stays": example(model=_ONE_LAYER, loss=_FIT),
    }


class DuplicateLayer(Move, code="N110", causes=("ARC-STRUCT-SUBOPT",), effort=ARCHITECTURE):
    """One of the layers of a stack twice.

    A linear layer comes with the activation behind it and takes its own width; layers that leave the shape as it is are
    copied as they are.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        links = [link for link in links_of(case) if link.module is not None]
        for link, behind in pairwise(links):
            module, after = link.module, behind.module
            if module is None or after is None or not self._is_own(case, module):
                continue
            if link.kind == "linear" and behind.kind == "activation" and self._is_own(case, after):
                edits = self._linear(case, module, after)
            elif link.kind == "transparent" and module.input_shapes == module.output_shapes:
                edits = self._copied(case, module)
            else:
                continue
            knob = f"copy of {module.name}"
            yield from self.change("ARC-STRUCT-SUBOPT", f"{module.name} twice", edits, knob=knob, cost=1.2)

    @staticmethod
    def _is_own(case: Case, module: ModuleFact) -> bool:
        return in_stack(case, module) and module.calls == 1 and len(made_by(case, module.created)) == 1

    @staticmethod
    def _linear(case: Case, module: ModuleFact, activation: ModuleFact) -> FileEdits:
        made, after = case.code.call_at(module.created), case.code.call_at(activation.created)
        if made is None or after is None or module.kind != "Linear" or made[0].file != after[0].file:
            return ()
        size = case.sources.argument(made[1], "out_features", 1)
        width = str(width_of_layer(module)) if size is None else made[0].source(size)
        copy = f"{made[0].source(made[1].func)}({width}, {width})"
        return put_behind(after[0], after[1], f"{copy}, {after[0].source(after[1])}", "again")

    @staticmethod
    def _copied(case: Case, module: ModuleFact) -> FileEdits:
        found = case.code.call_at(module.created)
        return () if found is None else put_behind(*found, found[0].source(found[1]), "again")

    EXAMPLES = {
        "a layer with its activation": example(
            model="nn.Sequential(nn.Linear(2, 8), nn.Tanh()⟨ → , nn.Linear(8, 8), nn.Tanh()⟩, nn.Linear(8, 1))",
            loss=_FIT,
        ),
        "dropout": example(
            model="""
            nn.Sequential(
                nn.Linear(2, 8),
                nn.Dropout(0.1),
                + nn.Dropout(0.1),
                nn.Linear(8, 1),
            )""",
            loss=_FIT,
        ),
        "a single layer": example(model=_ONE_LAYER, loss=_FIT),
    }
