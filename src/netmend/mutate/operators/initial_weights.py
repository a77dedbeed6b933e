"""Faults of what training starts from."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loop.epoch_loop import epoch_rounds
from netmend.changes.loop.loop_code import loops_around, spots
from netmend.mutate.examples import FUNCTIONS, LOG_PROBABILITIES, STACK
from netmend.mutate.magnitude import Graded, Knob, Scale
from netmend.mutate.mutation import Mutation, Operator
from netmend.mutate.places import has_bias, model_place, trained_layers, trained_model
from netmend.program.source.moving import text_of
from netmend.program.source.naming import spelled
from netmend.program.source.writing import insert_before
from netmend.program.text.file import block_of
from netmend.testing.example import changed


class _WeightsStart(Operator):
    """Writes an initialisation of one layer or all behind the place where the model is made."""

    causes = ("ARC-INIT-WEIGHT",)
    published = ("WCI",)

    starts: ClassVar[Mapping[str, str]]  # title → call of torch.nn.init, `{}` stands for the weights

    def propose(self, case: Case) -> Iterator[Mutation]:
        yield from self.starting(case, self.starts)

    def starting(self, case: Case, titles: Iterable[str]) -> Iterator[Mutation]:
        place, layers = model_place(case), trained_layers(case)
        if place is None:
            return
        for title in titles:
            function, _, arguments = self.starts[title].partition("(")
            name, extra = spelled(place.file, f"torch.nn.init.{function}")
            call = f"{name}({arguments}"
            for layer in layers:
                path = place.path_of(layer)
                edits = (*place.put(call.format(f"{path}.weight")), *extra) if path else ()
                yield from self.mutation(
                    f"weights of {layer.name} start as {title}", edits, component=layer.name
                )
            if len(layers) > 1:
                edits = (*place.for_each(layers, call.format("module.weight")), *extra)
                yield from self.mutation(f"all weights start as {title}", edits)


class WeightsStartBadly(_WeightsStart, Graded, code="M401"):
    """Initialise the weights of one layer, or all, with zeros, ones, a constant, or a wrong scale.

    Equal weights make all units of a layer the same for ever; tiny ones let the signal vanish, huge ones saturate or
    explode.
    """

    starts: ClassVar = {
        "std 1": "normal_({}, std=1.0)",
        "tiny": "normal_({}, std=0.001)",
        "ones": "ones_({})",
        "constant": "constant_({}, 0.5)",
        "zeros": "zeros_({})",
        "huge": "normal_({}, std=5.0)",
    }

    def knobs(self, case: Case) -> Iterator[Knob]:
        """How many times as large all weights start as they did: from 1 down to 0.0001 and up to 1,000."""
        place, layers = model_place(case), trained_layers(case)
        if place is None or not layers:
            return
        for title, extreme in (("weights start smaller", 1e-4), ("weights start larger", 1e3)):
            yield from self.knob(
                title,
                Scale(1.0, extreme, 1.5, logarithmic=True),
                lambda factor: place.for_each(layers, f"module.weight.data *= {factor:.3g}"),
                told="all weights start {} times as large",
            )

    def others(self, case: Case) -> Iterator[Mutation]:
        """Starts without an order."""
        yield from self.starting(case, ("ones", "constant", "zeros"))

    EXAMPLES = {
        "a layer of a stack": changed(STACK, "⟨ → nn.init.normal_(model[0].weight, std=1.0)\n⟩optimizer = "),
        "all layers, within a function": changed(
            FUNCTIONS,
            "    ⟨ → for module in net.modules():\n"
            "        if isinstance(module, (nn.Conv1d, nn.Linear)):\n"
            "            nn.init.normal_(module.weight, std=1.0)\n"
            "    ⟩optimizer = ",
            nth=4,
        ),
    }


class WeightsStartOtherwise(_WeightsStart, code="M421"):
    """Initialise the weights of one layer, or all, from another common distribution.

    Most do as well: a mild fault, if it is one, that only a good test set notices.
    """

    starts: ClassVar = {
        "xavier uniform": "xavier_uniform_({})",
        "xavier normal": "xavier_normal_({})",
        "kaiming uniform": "kaiming_uniform_({})",
        "kaiming normal": "kaiming_normal_({})",
        "orthogonal": "orthogonal_({})",
        "small uniform": "uniform_({}, -0.05, 0.05)",
        "small normal": "normal_({}, std=0.05)",
        "cut normal": "trunc_normal_({}, std=0.05)",
    }

    EXAMPLES = {"one layer": changed(STACK, "⟨ → nn.init.xavier_uniform_(model[0].weight)\n⟩optimizer = ")}


class BiasesStartBadly(Operator, code="M402", causes=("ARC-INIT-BIAS",)):
    """Start the biases of a layer far from zero.

    Rectified units start dead, squashed ones saturated; an output starts far from the targets.
    """

    values: tuple[float, ...] = (-5.0, 10.0, -10.0, 100.0)

    def propose(self, case: Case) -> Iterator[Mutation]:
        place = model_place(case)
        if place is None:
            return
        name, extra = spelled(place.file, "torch.nn.init.constant_")
        for layer in trained_layers(case):
            path = place.path_of(layer)
            for value in self.values if path and has_bias(case, layer) else ():
                edits = (*place.put(f"{name}({path}.bias, {value:g})"), *extra)
                title = f"biases of {layer.name} start at {value:g}"
                yield from self.mutation(title, edits, component=layer.name)

    EXAMPLES = {
        "a hidden layer": changed(
            LOG_PROBABILITIES, "⟨ → nn.init.constant_(model.hidden.bias, -5)\n⟩optimizer = "
        )
    }


class ModelRecreated(Operator, code="M610", causes=("ARC-INIT-MULTI",)):
    """Create model and optimiser again in every epoch.

    Each epoch starts from nothing.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        rounds, model, optimizer = epoch_rounds(case), trained_model(case), case.optimizer
        if rounds is None or model is None or optimizer is None or len(case.trace.optimizers) > 1:
            return
        step = next(iter(spots(case, "step")), None)
        if step is None or len(loops_around(step.file, step.call)) < 2:
            return  # in a single loop the model would be new for every batch
        block = block_of(rounds.file, rounds.loop)
        lines = []
        for site in (model.created, optimizer.created):
            place = case.code.statement_at(site)
            if place is None or place[0] is not rounds.file or not isinstance(place[1], ast.Assign):
                return
            if place[1] not in block or block.index(place[1]) > block.index(rounds.loop):
                return
            lines.append(text_of(*place, comment=False))
        edits = insert_before(rounds.file, rounds.loop.body[0], "\n".join(lines))
        title = "model and optimiser are created again in every epoch"
        yield from self.mutation(title, edits, component=model.name)

    EXAMPLES = {
        "made before the loop": changed(
            LOG_PROBABILITIES,
            "    ⟨ → model = Classifier()\n"
            "    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)\n"
            "    ⟩for rows in",
        ),
        "made elsewhere": changed(FUNCTIONS),
    }
