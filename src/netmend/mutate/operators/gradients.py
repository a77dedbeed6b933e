"""Faults of gradients: clipped away, never computed, cut off from layers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import Spot, model_at, spots
from netmend.changes.loop.updates import given_parameters
from netmend.mutate.examples import FUNCTIONS, LOG_PROBABILITIES, STACK
from netmend.mutate.magnitude import Graded, Knob, Scale
from netmend.mutate.mutation import Mutation, Operator
from netmend.mutate.places import model_place, trained_layers, trained_model
from netmend.program.source.naming import spelled
from netmend.program.source.numbers import number
from netmend.program.source.values import Faces, set_value
from netmend.program.source.writing import insert_before, replace, wrap
from netmend.program.text.positions import lines_of
from netmend.program.text.queries import last_name
from netmend.testing.example import changed
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import FileEdits


class ClippingTiny(Graded, code="M109", causes=("OPT-CLIP",), published=("OCG",)):
    """Clip gradients to next to nothing.

    Every step of SGD becomes tiny. Adam, which divides by the size of gradients, hardly notices.
    """

    values: tuple[float, ...] = (0.001, 1e-05)
    hardly_any: float = 100.0  # a limit that gradients seldom reach
    extreme: float = 1e-6

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The largest norm of gradients: from the program's own limit (100 where there is none) down to 1e-6."""
        clips = spots(case, "clip")
        value = None if not clips else self._limit(case, clips[0])
        present = None if value is None else number(case.code, clips[0].file, value, case.arguments)
        if not clips or (present or 0) > self.extreme:
            yield from self.knob(
                "gradients clipped harder",
                Scale(float(present or self.hardly_any), self.extreme, 2.0, logarithmic=True),
                lambda limit: self._clipped(case, f"{limit:.2g}"),
                told="gradients clipped to {}",
            )

    def _limit(self, case: Case, clip: Spot) -> ast.expr | None:
        value = case.code.sources.argument(clip.call, "max_norm", 1)
        return value or case.code.sources.argument(clip.call, "clip_value", 1)

    def _clipped(self, case: Case, limit: str) -> FileEdits | Faces:
        clips = spots(case, "clip")
        value = None if not clips else self._limit(case, clips[0])
        if value is not None:
            return set_value(case.code, clips[0].file, value, limit, case.arguments)
        return _clipped(case, "clip_grad_norm_", limit)

    EXAMPLES = {
        "another limit": changed(FUNCTIONS, "parameters(), ⟨1.0 → 0.001⟩)"),
        "where nothing was clipped": changed(
            LOG_PROBABILITIES,
            "        ⟨ → nn.utils.clip_grad_norm_(model.parameters(), 0.001)\n        ⟩optimizer.step()",
        ),
    }


class GradientValuesClipped(Graded, code="M114", causes=("OPT-CLIP",), published=("OCG",)):
    """Clip every single number of the gradients.

    What is large and what is small become alike: steps no longer follow the gradient's direction.
    """

    values: tuple[float, ...] = (0.5, 0.0001)  # the first is DeepCrime's
    hardly_any: float = 100.0
    extreme: float = 1e-6

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The largest value in a gradient, from 100 down to 1e-6."""
        yield from self.knob(
            "values of gradients clipped",
            Scale(self.hardly_any, self.extreme, 2.0, logarithmic=True),
            lambda limit: _clipped(case, "clip_grad_value_", f"{limit:.2g}"),
            told="values of gradients clipped to {}",
        )

    EXAMPLES = {
        "before the step": changed(
            LOG_PROBABILITIES,
            "        ⟨ → nn.utils.clip_grad_value_(model.parameters(), 0.5)\n        ⟩optimizer.step()",
        ),
        "there is clipping already": changed(FUNCTIONS),
    }


def _clipped(case: Case, function: str, limit: str) -> FileEdits:
    """A call before the optimiser's only step, where nothing is clipped yet."""
    steps, model = spots(case, "step"), trained_model(case)
    if spots(case, "clip") or len(steps) != 1 or model is None or not steps[0].is_alone:
        return ()
    step = steps[0]
    name = model_at(case, model.name, step)
    clip, extra = spelled(step.file, f"torch.nn.utils.{function}")
    line = f"{clip}({name}.parameters(), {limit})"
    return (*insert_before(step.file, step.statement, line), *extra) if name else ()


class GradientsOff(Operator, code="M606", causes=("LOOP-NO-GRAD",), crashes=True):
    """Compute the loss under `no_grad`.

    There is nothing to take a gradient of: backward() raises.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        backward = next(iter(spots(case, "backward")), None)
        forward = [
            each
            for each in spots(case, "forward", training=True)
            if backward is not None and each.is_beside(backward) and each.file.loop(each.call)
        ]
        for each in forward[:1]:
            file, statement = each.file, each.statement
            place = file.place(statement)
            before = lines_of(file.text).content(place.line)[: place.column]
            if before.strip() or place.line != place.end_line or isinstance(statement, ast.Return):
                continue
            name, extra = spelled(file, "torch.no_grad")
            text = f"with {name}():\n{before}    {file.source(statement)}"
            edits = (*replace(file, statement, text), *extra)
            yield from self.mutation("the loss is computed without gradients", edits)

    EXAMPLES = {
        "in the loop": changed(
            STACK, "        ⟨ → with torch.no_grad():\n            ⟩loss = criterion(model(xb), yb)"
        ),
        "in a function": changed(
            FUNCTIONS,
            "            ⟨ → with torch.no_grad():\n"
            "                ⟩loss = F.mse_loss(net(x[rows]), y[rows])",
        ),
    }


class ParametersLeftOut(Operator, code="M607", causes=("OPT-PARAMS",)):
    """Give the optimiser only the last layer, or all but the first ones.

    The layers that are left out keep the random values they started with.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer, place, layers = case.optimizer, model_place(case), trained_layers(case)
        found = None if optimizer is None else given_parameters(case.code, optimizer.created)
        if optimizer is None or found is None or place is None or len(layers) < 2:
            return
        file, value = found
        if file is not place.file or file.source(value) != f"{place.name}.parameters()":
            return
        half = len([p for p in case.trace.parameters if p.optimizer == optimizer.name]) // 2
        title = "the first half of the parameters is not trained"
        edits = replace(file, value, f"list({file.source(value)})[{half}:]")
        yield from self.mutation(title, edits, component=optimizer.name)
        if last := place.path_of(layers[-1]):
            title = f"only {layers[-1].name} is trained"
            edits = replace(file, value, f"{last}.parameters()")
            yield from self.mutation(title, edits, component=optimizer.name)

    EXAMPLES = {
        "the last layer of a stack": changed(STACK, "SGD(model⟨ → [6]⟩.parameters()", nth=1),
        "half of them": changed(FUNCTIONS, "Adam(⟨net.parameters() → list(net.parameters())[4:]⟩"),
    }


class LayersFrozen(Operator, code="M608", causes=("LOOP-FREEZE",)):
    """Freeze layers that were never trained.

    They keep the random values they started with; only what comes behind them learns.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        place, layers = model_place(case), trained_layers(case)
        if place is None or len(layers) < 2:
            return
        first, most = layers[:1], layers[:-1]
        for frozen in [first, most] if len(most) > 1 else [first]:
            names = [place.path_of(layer) for layer in frozen]
            if not all(names):
                return
            text = f"for layer in ({', '.join(names)}):\n    layer.requires_grad_(False)"
            if frozen is first:
                text = f"for parameter in {names[0]}.parameters():\n    parameter.requires_grad = False"
            title = f"{', '.join(layer.name for layer in frozen[:3])} frozen"
            yield from self.mutation(title, place.put(text), component=frozen[0].name)

    EXAMPLES = {
        "the first layer": changed(
            LOG_PROBABILITIES,
            "⟨ → for parameter in model.hidden.parameters():\n"
            "    parameter.requires_grad = False\n"
            "⟩optimizer = ",
        )
    }


class GraphCut(Operator, code="M609", causes=("LOS-GRAPH-CUT",)):
    """Detach the output of a hidden layer from the graph.

    No gradient reaches the layers before the cut.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        for layer in self._parts(case):
            found = case.code.call_at(layer.called)
            if found is None or layer.calls != 1 or last_name(found[1].func) != layer.name.rpartition(".")[2]:
                continue
            edits = wrap(found[0], found[1], "", ".detach()")
            yield from self.mutation(f"{layer.name} detached", edits, component=layer.name)

    @staticmethod
    def _parts(case: Case) -> list[ModuleFact]:
        """Layers with weights, and stacks of them, that are followed by another layer with weights."""
        own = trained_layers(case)
        stacks = [m for m in case.trace.all(ModuleFact) if m.kind == "Sequential" and m.calls == 1]
        holding = [m for m in stacks if any(layer.name.startswith(f"{m.name}.") for layer in own)]
        return [m for m in (*own[:-1], *holding) if not own[-1].name.startswith(f"{m.name}.")]

    EXAMPLES = {
        "in forward": changed(FUNCTIONS, "self.fc1(h)⟨ → .detach()⟩", nth=1),
        "a stack": changed(STACK),
    }
