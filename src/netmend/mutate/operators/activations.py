"""Faults of activations: missing, added, exchanged, over the wrong axis."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.function_edits import behind, hidden, removed
from netmend.changes.function_edits import exchanged as exchanged_link
from netmend.changes.loss.losses import exchange
from netmend.changes.network.activations import applied_at, without
from netmend.changes.network.activations import exchanged as exchanged_output
from netmend.changes.network.heads_in_source import head_of, last_layer
from netmend.changes.network.model_layers import is_written
from netmend.diagnose.measures.chain import chain
from netmend.diagnose.measures.heads import Head
from netmend.library.losses import DISTANCES
from netmend.mutate.examples import FUNCTIONS, LOG_PROBABILITIES, PROBABILITIES, STACK
from netmend.mutate.mutation import Mutation, Operator
from netmend.mutate.places import trained_model, training_criterion
from netmend.program.source.numbers import literal
from netmend.program.source.writing import replace, united
from netmend.testing.example import changed
from netmend.vocabulary import FunctionFact, ModuleFact, Site

_MILD = ("tanh", "softsign", "hardtanh", "softplus")  # tried for all layers at once only
_HARMFUL = ("sigmoid", "exp", "softmax")


class HiddenActivationExchanged(Operator, code="M201", causes=("ACT-HID-WRONG",), published=("ACH",)):
    """Replace all hidden activations, or one, with an unsuitable one.

    Sigmoids pass on a quarter of the gradient at best, softmax makes units compete for a sum of one, exponentials
    overflow.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        links = hidden(case)
        for new in (*_MILD, *_HARMFUL):
            edits = [exchanged_link(case, link, new) for link in links if link.function != new]
            if len(edits) > 1 and all(edits):
                names = ", ".join(dict.fromkeys(link.function for link in links))
                yield from self.mutation(f"all hidden activations ({names}) → {new}", united(edits))
            for link in links if new in _HARMFUL else ():
                title = f"{link.name}: {link.function} → {new}"
                own = exchanged_link(case, link, new) if link.function != new else ()
                yield from self.mutation(title, own, component=link.name)

    EXAMPLES = {
        "one layer of a stack": changed(STACK, "nn.⟨ReLU → Sigmoid⟩()", nth=4),
        "a function": changed(FUNCTIONS, "⟨F.relu → torch.sigmoid⟩(self.conv(x.unsqueeze(1)))", nth=5),
    }


class HiddenActivationRemoved(Operator, code="M202", causes=("ACT-HID-MISSING",), published=("ARM", "AFR")):
    """Remove the nonlinearity between two layers, or all of them.

    Linear layers in a row are one linear layer: the network can only draw straight lines.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        links = hidden(case)
        edits = [removed(case, link) for link in links]
        for link, own in zip(links, edits, strict=True):
            yield from self.mutation(f"{link.name}: no {link.function}", own, component=link.name)
        if len(edits) > 1 and all(edits):
            yield from self.mutation("no hidden activation at all", united(edits))

    EXAMPLES = {
        "a layer of a stack": changed(STACK, "⟨    nn.ReLU(),\n → ⟩"),
        "a function": changed(FUNCTIONS, "⟨torch.tanh(self.fc1(h)) → self.fc1(h)⟩", nth=1),
        "a method": changed(FUNCTIONS, "self.fc2(h)⟨.sigmoid() → ⟩", nth=2),
    }


_COMMON = ("relu", "elu", "selu", "hardsigmoid")


class HiddenActivationVaried(Operator, code="M207", causes=("ACT-HID-WRONG",), published=("ACH",)):
    """Replace the hidden activations, or one, with another common one.

    Most of them do nearly as well: a mild fault, if it is one, that only a good test set notices.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        links = hidden(case)
        for new in _COMMON:
            wrong = [link for link in links if link.function != new]
            edits = [exchanged_link(case, link, new) for link in wrong]
            for link, own in zip(wrong, edits, strict=True):
                title = f"{link.name}: {link.function} → {new}"
                yield from self.mutation(title, own, component=link.name)
            if len(edits) > 1 and all(edits):
                title = f"all hidden activations → {new}"
                yield from self.mutation(title, united(edits))

    EXAMPLES = {
        "a layer": changed(STACK, "nn.⟨Tanh → ReLU⟩()"),
        "a function": changed(FUNCTIONS, "F.⟨relu → elu⟩(self.conv(x.unsqueeze(1)))", nth=3),
    }


_ADDED = ("relu", "tanh", "softplus", "sigmoid", "softmax")


class ActivationAdded(Operator, code="M208", causes=("ACT-EXTRA",), published=("AAL",)):
    """Add an activation after a hidden layer that had none.

    What the next layer or norm needs, such as the sign of a number, is lost before it gets there.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        for layer in _linear(case):
            for function in _ADDED:
                title, edits = f"{function} after {layer.name}", behind(case, layer, function)
                yield from self.mutation(title, edits, component=layer.name)

    EXAMPLES = {
        "before a norm layer": changed(STACK, "nn.Linear(4, 8),⟨ → \n    nn.ReLU(),⟩"),
        "every layer has one": changed(PROBABILITIES),
    }


def _linear(case: Case) -> list[ModuleFact]:
    """Layers with weights behind which no activation comes at once; the last one is the output's matter."""
    model = trained_model(case)
    links = [link for link in chain(case.trace) if model is not None and link.model == model.name]
    weighted = [index for index, link in enumerate(links) if link.kind == "linear"]
    return [
        layer
        for index in weighted[:-1]
        if (layer := links[index].module) is not None
        and links[index + 1].kind != "activation"
        and layer.calls == 1
        and is_written(case, layer)
    ]


# Criterion → activations that do not belong behind the last layer, and what a person would call the fault.
_CLASSES = {"relu": "ACT-OUT-WRONG", "sigmoid": "ACT-OUT-WRONG", "softmax": "LYR-SOFTMAX-EXTRA"}
_YES_NO = {"relu": "ACT-OUT-WRONG", "sigmoid": "LYR-SOFTMAX-EXTRA", "softmax": "ACT-OUT-WRONG"}
_AMOUNTS = dict.fromkeys(("relu", "tanh", "sigmoid"), "ACT-OUT-WRONG")

_WRONG = {
    "cross_entropy": _CLASSES,
    "binary_cross_entropy_with_logits": _YES_NO,
    "multilabel_soft_margin_loss": _YES_NO,
    **dict.fromkeys((*DISTANCES, "expression"), _AMOUNTS),
}


class OutputActivationAdded(
    Operator, code="M203", causes=("LYR-SOFTMAX-EXTRA", "ACT-OUT-WRONG"), published=("AAL",)
):
    """Add an activation after an output layer that must stay linear.

    Losses that take scores apply softmax or sigmoid themselves; amounts are not limited to what an activation can give.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        head = head_of(case)
        layer = last_layer(case, head)
        if head is None or layer is None or head.last != "raw":
            return
        for function, cause in _WRONG.get(head.loss.criterion, {}).items():
            if function == "softmax" and head.width == 1 and cause == "LYR-SOFTMAX-EXTRA":
                continue
            if _limited(head, function):
                continue
            title = f"{function} after {layer.name}"
            edits = behind(case, layer, function)
            yield from self.mutation(title, edits, cause=cause, component=layer.name)

    EXAMPLES = {
        "softmax before cross entropy": changed(
            STACK, "nn.Linear(8, 2),⟨ → \n    nn.Softmax(dim=-1),⟩", nth=2
        ),
        "a rectifier on amounts": changed(FUNCTIONS, "⟨self.out(h) → torch.relu(self.out(h))⟩"),
        "there is one already": changed(PROBABILITIES),
    }


def _limited(head: Head, function: str) -> bool:
    """Whether the targets lie within what the function can give, so that it does no harm."""
    target = head.target
    if target is None or target.minimum is None or target.maximum is None:
        return False
    if _WRONG.get(head.loss.criterion) is not _AMOUNTS:
        return False
    low, high = {"relu": (0.0, float("inf")), "tanh": (-1.0, 1.0), "sigmoid": (0.0, 1.0)}[function]
    return low <= target.minimum and target.maximum <= high


_NEEDED = {
    **dict.fromkeys(("log_softmax", "softmax"), "LYR-SOFTMAX-MISSING"),
    **dict.fromkeys(("sigmoid", "softplus", "exp"), "ACT-OUT-MISSING"),
}

# Losses that turn scores into probabilities, and those that do not.
_WITHOUT = {
    "cross_entropy": ("nll_loss", "LYR-SOFTMAX-MISSING"),
    "binary_cross_entropy_with_logits": ("binary_cross_entropy", "ACT-OUT-MISSING"),
}


class OutputActivationRemoved(
    Operator,
    code="M204",
    causes=("LYR-SOFTMAX-MISSING", "ACT-OUT-MISSING"),
    published=("ARM",),
    crashes=True,
    rescales=True,
):
    """Remove the activation that turns scores into what the loss expects.

    A loss of probabilities or log-probabilities that is given raw scores is meaningless: it is unbounded, or it raises.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        head = head_of(case)
        if head is not None and head.last == "raw" and head.loss.criterion in _WITHOUT:
            yield from self._other_loss(case, head)
        if head is None or head.last not in _NEEDED:
            return
        applied = applied_at(case, head, head.last)
        if applied is not None:
            title, cause = f"no {head.last} at the output", _NEEDED[head.last]
            yield from self.mutation(title, without(case, applied), cause=cause)

    def _other_loss(self, case: Case, head: Head) -> Iterator[Mutation]:
        """A loss of probabilities in the place of one that makes them itself, and nothing else changed."""
        new, cause = _WITHOUT[head.loss.criterion]
        criterion = training_criterion(case, head.loss)
        if criterion is not None:
            yield from self.mutation(f"{new} of raw scores", exchange(criterion, new), cause=cause)

    EXAMPLES = {
        "a layer": changed(PROBABILITIES, "⟨, nn.Sigmoid() → ⟩)"),
        "a function": changed(LOG_PROBABILITIES, "⟨F.log_softmax(self.last(h), dim=1) → self.last(h)⟩"),
        "a loss that needs one": changed(STACK, "nn.⟨CrossEntropyLoss → NLLLoss⟩()"),
        "amounts": changed(FUNCTIONS),
    }


_OTHER_OUTPUTS = {
    "sigmoid": ("softmax", "relu", "tanh"),
    "softmax": ("sigmoid",),
    "tanh": ("relu", "sigmoid"),
}


class OutputActivationExchanged(
    Operator, code="M205", causes=("ACT-OUT-WRONG",), published=("ACH",), crashes=True
):
    """Replace the output activation with another.

    A softmax over a single output is always 1, a rectifier or tanh gives no probabilities.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        head = head_of(case)
        if head is None or head.last not in _OTHER_OUTPUTS:
            return
        applied = applied_at(case, head, head.last)
        for new in _OTHER_OUTPUTS[head.last]:
            edits = () if applied is None else exchanged_output(case, applied, new)
            yield from self.mutation(f"{head.last} → {new} at the output", edits)

    EXAMPLES = {"a rectifier": changed(PROBABILITIES, "nn.⟨Sigmoid → ReLU⟩()", nth=1)}


_SOFTMAXES = ("softmax", "log_softmax")


class SoftmaxAxisWrong(Operator, code="M206", causes=("ACT-DIM",)):
    """Apply a softmax over the samples of the batch instead of the classes.

    Samples then compete with each other, and what is predicted for one depends on the others.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        functions = [f for f in case.trace.all(FunctionFact) if f.function in _SOFTMAXES]
        layers = [m for m in case.trace.all(ModuleFact) if m.activation in _SOFTMAXES]
        applied = [
            *((f.site, f.name, f.output_shape) for f in functions),
            *((m.created, m.name, (*m.output_shapes, ())[0]) for m in layers),
        ]
        sites: dict[Site, str] = {}
        for place, name, shape in applied:
            if place is not None and len(shape) == 2:
                sites.setdefault(place, name)
        for site, name in sites.items():
            found = case.code.call_at(site)
            axis = None if found is None else _axis(found[1])
            if found is not None and axis is not None and literal(axis) in (1, -1):
                edits = replace(found[0], axis, "0")
                yield from self.mutation(f"{name} over the batch", edits, component=name)

    EXAMPLES = {"log_softmax": changed(LOG_PROBABILITIES, "dim=⟨1 → 0⟩"), "there is none": changed(STACK)}


def _axis(call: ast.Call) -> ast.expr | None:
    named = next((keyword.value for keyword in call.keywords if keyword.arg == "dim"), None)
    return named or (call.args[-1] if call.args else None)
