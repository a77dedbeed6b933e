"""Faults of what training starts from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loop.epoch_loop import epoch_rounds
from netmend.changes.loop.loop_code import loops_around, spots
from netmend.mutate.examples import FUNCTIONS, LOG_PROBABILITIES, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, Operator, mutation
from netmend.mutate.places import biased, every_layer, made, reached, trained_model, weighted
from netmend.program.source.moving import text_of
from netmend.program.source.naming import spelled
from netmend.program.source.writing import insert_before
from netmend.program.text.file import block_of
from netmend.testing.example import Example


class _WeightsStart(Operator):
    """Writes an initialisation of one layer or all behind the place where the model is made."""

    causes = ("ARC-INIT-WEIGHT",)
    published = ("WCI",)

    starts: ClassVar[dict[str, tuple[str, str, float]]]  # title → function, its arguments, how strong a fault
    share_of_one: ClassVar[float]  # of that strength, for one layer of several
    once: ClassVar[str] = ""  # how the parameter of one layer is told from that of all

    def propose(self, case: Case) -> Iterator[Mutation]:
        model = trained_model(case)
        place, layers = made(case, model), weighted(case, model)
        if model is None or place is None:
            return
        for title, (function, arguments, grade) in self.starts.items():
            name, extra = spelled(place.file, f"torch.nn.init.{function}")
            for layer in layers:
                target = reached(case, place, model, layer.name)
                edits = place.put(f"{name}({target}.weight{arguments})") if target else ()
                yield from mutation(
                    self,
                    f"weights of {layer.name} start as {title}",
                    (*edits, *extra) if edits else (),
                    grade=grade * self._part(len(layers)),
                    component=layer.name,
                    parameter=f"{title}{self.once}",
                )
            if len(layers) > 1:
                line = f"{name}(module.weight{arguments})"
                edits = every_layer(place, [layer.kind for layer in layers], line)
                yield from mutation(
                    self, f"all weights start as {title}", (*edits, *extra), grade=grade, parameter=title
                )

    def _part(self, layers: int) -> float:
        return self.share_of_one


class WeightsStartBadly(_WeightsStart, code="M401"):
    """Initialise the weights of one layer, or all, with zeros, ones, a constant, or a wrong scale.

    Equal weights make all units of a layer the same for ever; tiny ones let the signal vanish, huge ones saturate or
    explode.
    """

    starts: ClassVar = {
        "std 1": ("normal_", ", std=1.0", 0.3),
        "tiny": ("normal_", ", std=0.001", 0.5),
        "ones": ("ones_", "", 0.7),
        "constant": ("constant_", ", 0.5", 0.8),
        "zeros": ("zeros_", "", 0.9),
        "huge": ("normal_", ", std=5.0", 1.0),
    }
    share_of_one = 0.6

    def _part(self, layers: int) -> float:
        return 1.0 if layers == 1 else self.share_of_one

    def knobs(self, case: Case) -> Iterator[Knob]:
        """How many times as large all weights start as they did: from 1 down to 0.0001 and up to 1,000."""
        model = trained_model(case)
        place, layers = made(case, model), weighted(case, model)
        if place is None or not layers:
            return
        kinds = [layer.kind for layer in layers]
        for title, extreme in (("weights start smaller", 1e-4), ("weights start larger", 1e3)):
            yield from knob(
                self,
                title,
                Scale(1.0, extreme, 1.5, logarithmic=True),
                lambda factor: every_layer(place, kinds, f"module.weight.data *= {factor:.3g}"),
                told="all weights start {} times as large",
            )

    def others(self, case: Case) -> Iterator[Mutation]:
        """Starts without an order."""
        return (each for each in self.propose(case) if each.parameter in ("ones", "constant", "zeros"))

    EXAMPLES = (
        Example(
            "a layer of a stack",
            STACK,
            old="optimizer = ",
            new="nn.init.normal_(model[0].weight, std=1.0)\noptimizer = ",
        ),
        Example(
            "all layers, within a function",
            FUNCTIONS,
            old="    optimizer = ",
            new="    for module in net.modules():\n        if isinstance(module, (nn.Conv1d, nn.Linear)):\n"
            "            nn.init.normal_(module.weight, std=1.0)\n    optimizer = ",
            nth=4,
        ),
    )


class WeightsStartOtherwise(_WeightsStart, code="M421"):
    """Initialise the weights of one layer, or all, from another common distribution.

    Most do as well: a mild fault, if it is one, that only a good test set notices.
    """

    # How far from what PyTorch does by itself.
    starts: ClassVar = {
        "xavier uniform": ("xavier_uniform_", "", 0.1),
        "xavier normal": ("xavier_normal_", "", 0.1),
        "kaiming uniform": ("kaiming_uniform_", "", 0.2),
        "kaiming normal": ("kaiming_normal_", "", 0.2),
        "orthogonal": ("orthogonal_", "", 0.3),
        "small uniform": ("uniform_", ", -0.05, 0.05", 0.6),
        "small normal": ("normal_", ", std=0.05", 0.6),
        "cut normal": ("trunc_normal_", ", std=0.05", 0.6),
    }
    share_of_one = 0.5
    once = " once"

    EXAMPLES = (
        Example(
            "one layer",
            STACK,
            old="optimizer = ",
            new="nn.init.xavier_uniform_(model[0].weight)\noptimizer = ",
        ),
    )


class BiasesStartBadly(Operator, code="M402", causes=("ARC-INIT-BIAS",)):
    """Start the biases of a layer far from zero.

    Rectified units start dead, squashed ones saturated; an output starts far from the targets.
    """

    values: tuple[float, ...] = (-5.0, 10.0, -10.0, 100.0)

    def propose(self, case: Case) -> Iterator[Mutation]:
        model = trained_model(case)
        place = made(case, model)
        if model is None or place is None:
            return
        with_bias = biased(case)
        name, extra = spelled(place.file, "torch.nn.init.constant_")
        for layer in weighted(case, model):
            target = reached(case, place, model, layer.name)
            if layer.name not in with_bias or not target:
                continue
            for index, value in enumerate(self.values, 1):
                edits = place.put(f"{name}({target}.bias, {value:g})")
                yield from mutation(
                    self,
                    f"biases of {layer.name} start at {value:g}",
                    (*edits, *extra),
                    grade=index / len(self.values),
                    component=layer.name,
                    parameter=f"{value:g}",
                )

    EXAMPLES = (
        Example(
            "a hidden layer",
            LOG_PROBABILITIES,
            old="optimizer = ",
            new="nn.init.constant_(model.hidden.bias, -5)\noptimizer = ",
        ),
    )


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
        yield from mutation(
            self, "model and optimiser are created again in every epoch", edits, component=model.name
        )

    EXAMPLES = (
        Example(
            "made before the loop",
            LOG_PROBABILITIES,
            old="    for rows in",
            new="    model = Classifier()\n    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)\n    for rows in",
        ),
        Example("made elsewhere", FUNCTIONS),
    )
