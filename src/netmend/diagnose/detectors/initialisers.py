"""Weights that no initialiser leaves so: constant, of one sign, zero for good, or set a second time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.examples.loops import Layer, trained
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.examples.probes import probed
from netmend.diagnose.measures.wiring import Wire, by_model, layers_of, loaded, size_of, wires
from netmend.diagnose.measures.words import few
from netmend.unit import convention, exact
from netmend.vocabulary import ModuleFact, ParameterFact, Site, Statistics, Symptom, Trace


def _starting_between(low: float, high: float, kind: str = "Linear") -> Trace:
    initial = Statistics(mean=(low + high) / 2, std=(high - low) / 4, rms=high, minimum=low, maximum=high)
    parameter = ParameterFact("net.0.weight", "net.0", (32, 16), initial=initial)
    module = ModuleFact("net.0", kind, created=Site("train.py", 9), order=0)
    return trace_of(parameter, module)


def _weight_normalised() -> Trace:
    """Sizes, all of them positive, and directions."""
    trace = _starting_between(0.5, 0.6)
    size = replace(trace.parameters[0], name="net.0.weight_g", shape=(32, 1))
    around = Statistics(mean=0.0, std=0.1, rms=0.1, minimum=-0.2, maximum=0.2)
    direction = replace(size, name="net.0.weight_v", shape=(32, 16), initial=around)
    facts = {**trace.facts, "parameter": {fact.name: fact for fact in (size, direction)}}
    return replace(trace, facts=facts)


def _is_scale(trace: Trace, parameter: ParameterFact) -> bool:
    """A size for each unit, beside directions of the same module: what weight normalisation keeps."""
    return math.prod(parameter.shape[1:]) == 1 and any(
        other.module == parameter.module
        and other.shape[:1] == parameter.shape[:1]
        and len(other.shape) == len(parameter.shape)
        and math.prod(other.shape) > math.prod(parameter.shape)
        for other in trace.parameters
    )


class OneSidedWeights(Detector, code="D122"):
    """All weights of a layer start with the same sign.

    Units of such a layer all rise and fall together with the sum of their inputs: behind a rectifier they are all on or all dead. Usual causes: an initialisation over
    an interval that does not lie around zero.
    """

    least_weights = exact(32, "that many signs agree by chance once in 2^31 layers")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for parameter in trace.parameters:
            module = trace.get(ModuleFact, parameter.module)
            if module is None or not module.kind.startswith(("Linear", "Conv")) or len(parameter.shape) < 2:
                continue
            low, high = parameter.initial.minimum, parameter.initial.maximum
            if low is None or high is None or low == high or math.prod(parameter.shape) < self.least_weights:
                continue
            if low < 0 < high or not (math.isfinite(low) and math.isfinite(high)):
                continue
            if _is_scale(trace, parameter):
                continue
            sign = "negative" if high <= 0 else "positive"
            message = f"All weights of {module.name} start {sign}, between {low:.3g} and {high:.3g}."
            yield self.symptom(message, module, high if high <= 0 else low, 0.0, {"direction": sign})

    HEALTHY = {
        "around zero": lambda: _starting_between(-0.2, 0.2),
        "a constant is another matter": lambda: _starting_between(0.5, 0.5),
        "a model made of one that was lost already": lambda: _starting_between(math.nan, math.nan),
        "sizes of a weight-normalised layer": _weight_normalised,
        "scales of a norm layer": lambda: _starting_between(0.5, 1.0, kind="LayerNorm"),
    }
    FAULTY = {"uniform below zero": lambda: _starting_between(-0.5, -0.001)}


def _again(parameters: int, most: int) -> Trace:
    return probed("initialised again", parameters=parameters, most=most, names=["model.h.0.c_proj.weight"])


class InitialisedAgain(Detector, code="D123"):
    """One line initialises the same parameters several times.

    Each time the values before are thrown away; the last one to write decides, and that is often not the rule that was meant for the
    parameter. Large models take much longer to build.
    Usual causes: an initialiser that is applied to every module and walks through all parameters below it: `for p in module.parameters()` where only the
    module's own are meant.
    """

    least_parameters = convention(2, "a single one is often a tied weight that two layers share")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("initialised again"):
            count, most = int(probe.values["parameters"]), int(probe.values["most"])
            if count < self.least_parameters:
                continue
            names = list(probe.values["names"])
            message = (
                f"{count} parameters are initialised repeatedly by one line, up to {most} times before training"
                + (f" ({names[0]} first)." if names else ".")
            )
            yield self.symptom(message, probe, float(count), float(self.least_parameters), first_step=0)

    HEALTHY = {"a tied weight": lambda: _again(1, 2)}
    FAULTY = {"every module walks through all below it": lambda: _again(6, 4)}


_OWN = "torch.nn."
_ONES = Statistics(1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0)
_SPREAD = Statistics(-4.0, 1.2, 4.2, -6.5, -2.3, 0.0, 0)


class ConstantParameters(Detector, code="D124"):
    """Parameters of a custom module start with one value everywhere.

    That is often meant (gains of 1, offsets of 0), so it is no fault by itself. It is one where the program has an initialiser for just this parameter
    that would have given it other values.
    Usual causes: a place-holder that was to be filled later, an initialiser that is skipped on this path.
    """

    least_values = convention(4, "numbers in the parameter: fewer are often single settings that are learned")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        seen: set[tuple[str, str]] = set()
        for fact in trace.parameters:
            module = trace.get(ModuleFact, fact.module)
            value = fact.initial.minimum
            if module is None or not module.qualified or module.qualified.startswith(_OWN):
                continue
            if value is None or value != fact.initial.maximum or not fact.trainable:
                continue
            if math.prod(fact.shape) < self.least_values or loaded(trace, fact.name):
                continue
            attribute = fact.name.rpartition(".")[2]
            if (module.kind, attribute) in seen:
                continue  # the layers of a stack are alike
            seen.add((module.kind, attribute))
            message = f"All {math.prod(fact.shape)} values of {fact.name} start at {value:g}."
            detail = {
                "attribute": attribute,
                "value": value,
                "class": module.kind,
                "vector": len(fact.shape) < 2,
            }
            yield self.symptom(message, fact.name, value, detail=detail, first_step=0, site=module.created)

    HEALTHY = {
        "values of many sizes": lambda: _with(_SPREAD),
        "the gain of a norm layer": lambda: _with(_ONES, "torch.nn.modules.normalization.LayerNorm"),
    }
    FAULTY = {"ones": lambda: _with(_ONES)}


def _with(start: Statistics, qualified: str = "__main__.Layer") -> Trace:
    """The example network with one more parameter, in a module of the user's own."""
    module = ModuleFact("model.mixer", "Layer", "model", qualified, order=9)
    fact = ParameterFact("model.mixer.dt_bias", "model.mixer", (8,), initial=start)
    return trace_of(module, fact, onto=net_run())


_ZERO = Layer("users", "Embedding", zeros=True, gradient=0.0, update=0.0)
_TOO = Layer("items", "Embedding", zeros=True, gradient=0.0, update=0.0)


class ZerosStay(Detector, code="D129"):
    """Weights start at zero, have a gradient of exactly zero at every step, and never change.

    The derivative of a product is the other factor: where both factors start at zero, neither ever leaves it.
    Usual causes: all factors of a factorisation, or both matrices of a low-rank adapter, set to zero; one of them must be random.
    """

    least_looks = convention(4, "closely observed steps, all with a gradient of zero")
    least_together = exact(2, "a product has two factors; of one alone another thing may be the reason")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for own in by_model(trace).values() if any(wire.flows for wire in wires(trace)) else ():
            # Where nothing gets a gradient at all, that is another fault.
            found = [wire for wire in own if self._stays(wire)]
            if len(found) < self.least_together or loaded(trace, found[0].name):
                continue
            layers = layers_of(found)
            first = next(wire for wire in found if layers[0] in (wire.fact.module, wire.name))
            message = f"{size_of(found):,} weights of {few(layers)} start at 0 and had a gradient of exactly 0 on all {first.looks} recorded steps."
            detail = {"layers": layers, "value": 0.0}
            yield self.symptom(message, (layers[0], first.created), 0.0, detail=detail, first_step=0)

    def _stays(self, wire: Wire) -> bool:
        return (
            wire.held
            and wire.executed
            and wire.fact.trainable
            and len(wire.fact.shape) >= 2
            and wire.fact.initial.zero_share == 1.0
            and wire.measured >= self.least_looks
            and not wire.flows
            and wire.changed is False
        )

    HEALTHY = {
        "random weights": lambda: trained(Layer("users"), Layer("items")),
        "one factor is random: the other one gets a gradient": lambda: trained(
            Layer("down"), Layer("up", zeros=True)
        ),
        "a layer of zeros that nothing depends on": lambda: trained(_ZERO, Layer("head")),
    }
    FAULTY = {"both factors of a product": lambda: trained(_ZERO, _TOO, Layer("bias"), losses=[1.0] * 40)}
