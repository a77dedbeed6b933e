"""Activations between the layers: missing, or of a kind that does not belong there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import falling, flat
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.examples.probes import probed
from netmend.diagnose.measures.chain import (
    SIGMOIDS,
    Link,
    activations,
    before,
    behind,
    in_sequence,
    linear_pairs,
    mostly,
)
from netmend.diagnose.measures.depth import Profile, profiles
from netmend.diagnose.measures.objective import objective
from netmend.library.activations import ACROSS_UNITS
from netmend.unit import calibrated, convention, exact
from netmend.vocabulary import FunctionFact, ModuleFact, ProbeFact, Symptom, Trace


class HiddenActivationMissing(Detector, code="D118"):
    """Two linear layers follow one another with no non-linearity between them.

    Together they can do no more than one linear layer: width and depth are paid for without effect, and a network made of
    such layers alone is only linear regression.
    Usual causes: the activation was forgotten, or defined in __init__ and never called in forward.
    A narrow middle (a low-rank factorisation, LoRA) is done on purpose, and so are depthwise and separable convolutions.
    """

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        affine = {symptom.component for symptom in ModelIsAffine().examine(trace)}
        for first, second, certain in linear_pairs(trace):
            whole = first.model in affine
            if on_purpose(first, second) or not (certain or whole):
                continue
            known = "; the model's output is a linear function of its input" if whole else ""
            message = f"Layer {second.name} follows {first.name} with no nonlinearity in between{known}."
            yield self.symptom(message, first, detail={"second": second.name, "affine": whole})

    HEALTHY = {
        "an activation between all layers": lambda: net_run(),
        "one linear layer": lambda: net_run("Linear(10,4)"),
        "a low-rank factorisation": lambda: net_run("Linear(64,4) Linear(4,64) ReLU Linear(64,3)"),
        "an activation after dropout": lambda: net_run("Linear(10,64) Dropout(0.5) ReLU Linear(64,4)"),
    }
    FAULTY = {
        "no activation at all": lambda: net_run("Linear(10,64) Linear(64,64) Linear(64,4)"),
        "only dropout between": lambda: net_run("Linear(10,64) ReLU Linear(64,64) Dropout(0.2) Linear(64,4)"),
        "the probe says so too": lambda: net_run(
            "Linear(10,64) Linear(64,4)",
            facts=[
                ProbeFact("affine@model", "affine", "model", values={"curvature": 1e-7, "weight_layers": 2})
            ],
        ),
    }


def on_purpose(first: Link, second: Link) -> bool:
    """A middle narrower than both ends limits the rank, which one layer alone cannot; convolutions may be split up to save work."""
    one, two = first.module, second.module
    if one is None or two is None:
        return True
    inside = one.settings.get("in_features") or one.settings.get("in_channels") or 0
    outside = two.settings.get("out_features") or two.settings.get("out_channels") or 0
    middle = one.settings.get("out_features") or one.settings.get("out_channels") or 0
    grouped = max(int(module.settings.get("groups") or 1) for module in (one, two)) > 1
    kernels = [module.settings.get("kernel_size") for module in (one, two)]
    separable = all(isinstance(kernel, list | tuple) and len(set(kernel)) > 1 for kernel in kernels)
    return 0 < middle < min(inside, outside) or grouped or separable


class HiddenSoftmax(Detector, code="D119"):
    """A hidden layer's units are squeezed by a softmax before the next layer with weights.

    The units then compete for a sum of one: each passes on about 1/width of the signal, gradients shrink by the same factor, and
    all but one unit can be switched off. Softmax belongs to the output or to attention weights.
    Usual causes: an output layer copied into the middle, "softmax for classification" in every layer.
    """

    least_units = convention(4, "a softmax over two or three is a gate or a mixture")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for link in activations(trace, ACROSS_UNITS):
            following = _next_layer(trace, link)
            before = _layer_before(trace, link)
            if following is None or before is None or len(link.shape) < 2:
                continue
            if link.shape[-1] < self.least_units:
                continue
            sure = link.module is not None and following.module is not None
            sure = sure and in_sequence(trace, link.module, following.module)  # type: ignore[arg-type]
            message = f"The {link.shape[-1]} hidden units of {before.name} go through {link.function} before {following.name}."
            detail = {"certain": sure, "before": before.name}
            yield self.symptom(message, link, float(link.shape[-1]), detail=detail)

    HEALTHY = {
        "no softmax": lambda: net_run(),
        "softmax at the output": lambda: net_run("Linear(10,64) ReLU Linear(64,4) Softmax"),
        "a gate over two experts": lambda: net_run("Linear(10,2) Softmax Linear(2,4)"),
    }
    FAULTY = {
        "softmax in the middle": lambda: net_run("Linear(10,64) Softmax Linear(64,64) ReLU Linear(64,4)")
    }


def _layer_before(trace: Trace, link: Link) -> Link | None:
    """The layer whose output the softmax takes: the last one before it, of the same shape (a norm may lie between)."""
    for other in reversed(before(trace, link)):
        if other.kind in ("linear", "recurrent"):
            return other if other.shape == link.shape else None
        if other.kind not in ("transparent", "norm"):
            return None
    return None


def _next_layer(trace: Trace, link: Link) -> Link | None:
    """The linear layer that takes the softmax's output as it is."""
    for other in behind(trace, link):
        if other.kind == "linear" and other.module is not None and other.module.input_shapes:
            return other if other.module.input_shapes[0] == link.shape else None
        if other.kind not in ("transparent", "norm"):
            return None
    return None


_NET = "Linear(10,32) Sigmoid Linear(32,32) Sigmoid Linear(32,4)"
_SHRINKING = {0: 1e-5, 2: 1e-4, 4: 1e-2}


class SigmoidStack(Detector, code="D126"):
    """Several hidden layers in a row end in sigmoids, gradients fade towards the input, and little was learned.

    A sigmoid passes on a quarter of the gradient at best: two or three of them starve the first layers although the network is not deep.
    """

    total_limit = calibrated(
        1.95, "decades between the last and the first layer; healthy programs stay below 1.9"
    )
    least_sigmoids = convention(2, "one sigmoid between two layers still learns")
    poor_relative = convention(0.6, "a loss that high at the end was hardly learned")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course, link = objective(trace), mostly(trace, SIGMOIDS)
        if link is None or course is None or (course.last_relative or 0.0) < self.poor_relative:
            return
        for profile in self._judged(trace):
            if profile.total < self.total_limit:
                continue
            count = self._count(trace, profile.model)
            message = (
                f"The {count} hidden layers of {profile.model} use {link.function}, and gradients shrink "
                f"{10**profile.total:.0f}-fold from the last layer to the first."
            )
            detail = {"function": link.function, "layers": count}
            yield self.symptom(message, link, profile.total, self.total_limit, detail, first_step=0)

    def _judged(self, trace: Trace) -> Iterator[Profile]:
        for profile in profiles(trace):
            if self._count(trace, profile.model) >= self.least_sigmoids and len(profile.layers) > 2:
                yield profile

    @staticmethod
    def _count(trace: Trace, model: str) -> int:
        return sum(link.model == model for link in activations(trace, SIGMOIDS))

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        totals = [profile.total for profile in self._judged(trace)]
        return {"total_limit": max(totals)} if totals else {}

    HEALTHY = {
        "learns all the same": lambda: net_run(_NET, losses=falling(200), gradients=_SHRINKING),
        "even gradients": lambda: net_run(_NET, losses=flat(200)),
        "rectifiers": lambda: net_run(
            "Linear(10,32) ReLU Linear(32,32) ReLU Linear(32,4)", losses=flat(200), gradients=_SHRINKING
        ),
    }
    FAULTY = {
        "two sigmoids that starve the first layer": lambda: net_run(
            _NET, losses=flat(200), gradients=_SHRINKING
        )
    }


class ModelIsAffine(Detector, code="D604"):
    """The model has several weight layers, but as a whole it is an affine function of its input.

    Half-way between two inputs the output was exactly half-way between theirs, for every pair that was tried: all its layers together
    can do no more than a single one.
    Usual cause: no activation function between the layers.
    """

    curvature_limit = exact(
        1e-4, "of the distance between outputs: single-precision rounding leaves about 1e-6"
    )
    least_layers = exact(2, "one weight layer is affine by nature")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        bent = {fact.model for fact in trace.all(FunctionFact) if fact.kind == "activation"}
        bent |= {fact.model for fact in trace.all(ModuleFact) if fact.activation and fact.order is not None}
        for probe in trace.probes("affine"):
            curvature, layers = float(probe.values["curvature"]), int(probe.values["weight_layers"])
            if curvature > self.curvature_limit or layers < self.least_layers or probe.component in bent:
                continue
            message = f"{probe.component} has {layers} weight layers, yet its output is a linear function of its input."
            yield self.symptom(message, probe, curvature, self.curvature_limit, dict(probe.values))

    HEALTHY = {
        "slightly bent": lambda: probed("affine", curvature=2e-4, weight_layers=3),
        "linear regression": lambda: probed("affine", curvature=1e-7, weight_layers=1),
        "all units happen to be active": lambda: probed(
            "affine",
            ModuleFact("model.1", "ReLU", "model", activation="relu", order=1),
            curvature=1e-7,
            weight_layers=2,
        ),
    }
    FAULTY = {"three linear layers": lambda: probed("affine", curvature=3e-7, weight_layers=3)}
