"""Faults of layers: removed, added, narrowed; their biases, kernels and norms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.network.layer_removal import layer_removed
from netmend.changes.network.model_layers import (
    in_stack,
    is_written,
    made_by,
    set_layer_width,
    takers,
    width_of_layer,
)
from netmend.changes.network.stacks import made_together, put_behind
from netmend.mutate.examples import FUNCTIONS, LOG_PROBABILITIES, PROBABILITIES, STACK, VALIDATED
from netmend.mutate.magnitude import Graded, Knob, Scale
from netmend.mutate.mutation import Mutation, Operator
from netmend.mutate.places import has_bias, hidden_layers, trained_layers
from netmend.program.source.naming import spelled
from netmend.program.source.values import set_argument
from netmend.program.source.writing import united
from netmend.testing.example import changed
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import FileEdits


class LayerAdded(Operator, code="M424", causes=("LYR-EXTRA",), published=("LA",)):
    """Add a linear layer of the same width directly after a hidden one.

    Two linear layers in a row can do no more than one, and are harder to train.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        for layer in hidden_layers(case):
            if layer.kind == "Linear" and layer.calls == 1 and is_written(case, layer):
                title = f"one more layer after {layer.name}"
                yield from self.mutation(title, _doubled(case, layer), component=layer.name)

    EXAMPLES = {
        "in a stack": changed(STACK, "nn.Linear(4, 8),⟨ → \n    nn.Linear(8, 8),⟩"),
        "of a class": changed(
            FUNCTIONS, "nn.⟨Linear(24, hidden) → Sequential(nn.Linear(24, hidden), nn.Linear(16, 16))⟩"
        ),
    }


def _doubled(case: Case, layer: ModuleFact) -> FileEdits:
    found, width = case.code.call_at(layer.created), layer.settings.get("out_features")
    if found is None or not isinstance(width, int) or len(made_by(case, layer.created)) != 1:
        return ()
    file, call = found
    name, extra = spelled(file, "torch.nn.Linear", like=call.func)
    text = f"{name}({width}, {width})"
    if in_stack(case, layer):
        return (*put_behind(file, call, text, "more"), *extra)
    return (*made_together(file, call, text), *extra)


class LayerRemoved(Operator, code="M417", causes=("ARC-STRUCT-SUBOPT",), published=("LR",)):
    """Remove a hidden layer whose output is as wide as its input.

    The network may be too small for what it has to learn.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        # Without the first one, the inputs themselves would go through its activation.
        for layer in hidden_layers(case)[1:]:
            alone = len(made_by(case, layer.created)) == 1 and layer.calls == 1
            if alone and layer.input_shapes[:1] == layer.output_shapes[:1]:
                edits = layer_removed(case, layer)
                yield from self.mutation(f"without {layer.name}", edits, component=layer.name)

    EXAMPLES = {
        "of a stack": changed(STACK, "⟨    nn.Linear(8, 8),\n → ⟩"),
        "only the first one and the last": changed(PROBABILITIES),
    }


class LayerNarrowed(Graded, code="M416", causes=("LYR-UNITS",)):
    """Reduce a hidden layer to one or two units.

    All that later layers know of a sample has to fit through it.
    """

    values: tuple[float, ...] = (2, 1)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """Units of a hidden layer, from the program's own number down to 1."""
        for layer in hidden_layers(case):
            present = width_of_layer(layer)
            if present > 1:
                yield from self.knob(
                    f"fewer units of {layer.name}",
                    Scale(present, 1, 1.3, logarithmic=True, whole=True),
                    partial(_narrowed, case, layer),
                    component=layer.name,
                    told=f"{layer.name}: {present} → {{}} units",
                )

    def values_for(self, knob: Knob) -> Iterable[float]:
        return [width for width in self.values if knob.scale.mildest >= 4 * width]

    EXAMPLES = {
        "with the layers behind it": changed(
            STACK, "nn.Linear(4, ⟨8 → 2⟩)", "nn.BatchNorm1d(⟨8 → 2⟩)", "nn.Linear(⟨8 → 2⟩, 8)"
        ),
        "only where it is used": changed(
            FUNCTIONS,
            "self.fc1 = nn.Linear(24, ⟨hidden → 2⟩)",
            "self.fc2 = nn.Linear(⟨hidden → 2⟩, hidden)",
            nth=0,
        ),
    }


def _narrowed(case: Case, layer: ModuleFact, width: float) -> FileEdits:
    """At the lines that make the layers themselves, which must make nothing else: a name may serve several of them."""
    behind = takers(case, layer)
    sites = [layer.created, *(taker.created for taker, *_ in behind)]
    if any(times != 1 or taker.settings.get("groups", 1) not in (1, None) for taker, *_, times in behind):
        return ()
    if any(sum(other.created == site for other in case.trace.all(ModuleFact)) != 1 for site in sites):
        return ()
    faces = set_layer_width(case, layer, int(width))
    return faces.forced or faces.edits


class KernelSizeWrong(Operator, code="M419", causes=("LYR-FILTER",)):
    """Reduce convolutions to single pixels.

    A kernel of 1 sees no neighbourhood: edges and shapes cannot be recognised.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        layers = [
            m
            for m in trained_layers(case)
            if m.kind in ("Conv1d", "Conv2d")
            and _keeps_size(m.settings.get("kernel_size"), m.settings.get("padding"))
        ]
        faces = [
            face
            for layer in layers
            for face in (
                set_argument(case.code, layer.created, "kernel_size", "1", 2, case.arguments),
                set_argument(case.code, layer.created, "padding", "0", 4, case.arguments),
            )
        ]
        if faces and all(faces):
            edits = united(face.forced or face.edits for face in faces)
            yield from self.mutation("kernels of 1", edits, component=layers[0].name)

    EXAMPLES = {
        "a convolution": changed(FUNCTIONS, "1, 4, ⟨3, padding=1 → 1, padding=0⟩"),
        "no convolution": changed(STACK),
    }


def _keeps_size(kernel: object, padding: object) -> bool:
    """Whether padding makes up for the kernel, as no padding does for a kernel of 1."""
    sizes = kernel if isinstance(kernel, list | tuple) else [kernel]
    pads = padding if isinstance(padding, list | tuple) else [padding] * len(sizes)
    return all(
        isinstance(s, int) and isinstance(p, int) and s > 1 and s == 2 * p + 1
        for s, p in zip(sizes, pads, strict=False)
    )


class BiasAdded(Operator, code="M422", causes=("LYR-BIAS-EXTRA",), published=("WAB",)):
    """Give a layer without a bias one.

    A norm layer behind it takes the bias away again; without one, what had to go through the origin no longer does.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        for layer in trained_layers(case):
            if not has_bias(case, layer):
                edits = set_argument(case.code, layer.created, "bias", "True", None, case.arguments)
                yield from self.mutation(f"{layer.name} with a bias", edits, component=layer.name)

    EXAMPLES = {
        "before a norm layer": changed(VALIDATED, "bias=⟨False → True⟩"),
        "all have one": changed(STACK),
    }


class BiasRemoved(Operator, code="M418", causes=("LYR-BIAS-MISSING",), published=("WRB",)):
    """Remove the biases of all layers.

    All that they compute goes through the origin.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        layers = [layer for layer in trained_layers(case) if has_bias(case, layer)]
        faces = [set_argument(case.code, m.created, "bias", "False", None, case.arguments) for m in layers]
        if faces and all(faces):
            yield from self.mutation(
                "no biases", united(face.edits for face in faces), component=layers[0].name
            )

    EXAMPLES = {
        "all layers": changed(
            PROBABILITIES, "nn.Linear(3, 8⟨ → , bias=False⟩)", "nn.Linear(8, 1⟨ → , bias=False⟩)"
        )
    }


class LayerBiasRemoved(Operator, code="M423", causes=("LYR-BIAS-MISSING",), published=("WRB",)):
    """Remove the bias of one layer.

    All that it computes goes through the origin; the layers behind it may make up for that.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        for layer in trained_layers(case):
            if has_bias(case, layer) and len(made_by(case, layer.created)) == 1:
                edits = set_argument(case.code, layer.created, "bias", "False", None, case.arguments)
                yield from self.mutation(f"{layer.name} without its bias", edits, component=layer.name)

    EXAMPLES = {"the first one": changed(STACK, "nn.Linear(4, 8⟨ → , bias=False⟩)")}


class NormalisationRemoved(Operator, code="M414", causes=("LYR-NORM-MISSING",)):
    """Remove the normalisation layers.

    Deep stacks lose the scale of their signals, and the learning rate that was chosen with them is too high.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        norms = [m for m in case.trace.all(ModuleFact) if "Norm" in m.kind and m.order is not None]
        edits = [layer_removed(case, norm) for norm in norms]
        if edits and all(edits) and all(is_written(case, norm) for norm in norms):
            yield from self.mutation("no normalisation layers", united(edits), component=norms[0].name)

    EXAMPLES = {
        "in a stack": changed(STACK, "⟨    nn.BatchNorm1d(8),\n → ⟩"),
        "in forward": changed(LOG_PROBABILITIES, "self.⟨norm(self.hidden(x)) → hidden(x)⟩"),
    }


class NormStatisticsSlow(Graded, code="M415", causes=("LYR-NORM-STATS",)):
    """Make batch norm's running statistics hardly follow the data.

    Training looks fine; in evaluation the network is given numbers of a scale that it has never seen.
    """

    values: tuple[float, ...] = (0.001, 0.0001)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """Momentum of batch norm's statistics, from 0.1 down to 1e-6."""
        norms = _norms(case)
        if norms:
            yield from self.knob(
                "slower statistics of batch norm",
                Scale(0.1, 1e-6, 3.0, logarithmic=True),
                lambda value: _followed(case, norms, f"{value:.2g}"),
                told="batch norm with momentum {}",
            )

    EXAMPLES = {
        "the default": changed(STACK, "nn.BatchNorm1d(8⟨ → , momentum=0.001⟩)"),
        "no running statistics": changed(LOG_PROBABILITIES),
    }


def _norms(case: Case) -> list[ModuleFact]:
    return [
        m
        for m in case.trace.all(ModuleFact)
        if m.kind.startswith("BatchNorm") and m.order is not None and is_written(case, m)
    ]


def _followed(case: Case, norms: list[ModuleFact], momentum: str) -> FileEdits:
    faces = [set_argument(case.code, norm.created, "momentum", momentum, 2, case.arguments) for norm in norms]
    return united(face.edits for face in faces) if all(faces) else ()
