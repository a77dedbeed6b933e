"""Sizes of layers and kernels, and norm layers that are missing between them."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.diagnose.detectors.layer_sizes import Bottleneck, PointwiseKernels
from netmend.diagnose.examples.curves import crashed, flat
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.chain import SIGMOIDS, chain, mostly
from netmend.diagnose.measures.ending import failing_layer, layer_before
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, Accusation, Cause, accuses, for_symptom
from netmend.localise.effects import stopped
from netmend.localise.lines.misfit import judge, misfits
from netmend.localise.outcome import harm, relief, rivals
from netmend.program.settings import argument_origin
from netmend.unit import convention
from netmend.vocabulary import (
    Evidence,
    Fault,
    FunctionFact,
    ModelFact,
    ModuleFact,
    ParameterFact,
    Site,
    Symptom,
    Trace,
)

_ONE = "Expected more than 1 value per channel"


def _crash(exception: str, *modules: ModuleFact) -> Trace:
    weights = [ParameterFact(f"{m.name}.weight", m.name) for m in modules if m.kind != "MaxPool2d"]
    first = modules[0].input_shapes if modules else ()
    model = ModelFact("model", "Net", called=Site("train.py", 20), input_shapes=first)
    return crashed(exception, *modules, *weights, model)


def _layer(
    name: str, kind: str, order: int, given: tuple[int, ...], made: tuple[int, ...] = (), **settings: int
) -> ModuleFact:
    return ModuleFact(
        f"model.{name}",
        kind,
        "model",
        settings=settings,
        order=order,
        calls=1,
        input_shapes=(given,),
        output_shapes=(made,) if made else (),
        created=Site("train.py", 4 + order),
        called=Site("train.py", 14 + order),
    )


class LayerSizes(Cause, code="LYR-DIM-MISMATCH"):
    """A layer does not fit its input: width, channels, number of axes.

    The line that raises is where the mismatch is noticed; the mistake is in the layer's arguments, or in the layer before it.
    Make the sizes of neighbouring layers agree with each other and with the data.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D701"):
            text = str(symptom.detail["exception"])
            layer = failing_layer(case.trace)
            if _ONE in text:
                yield self._single(case, symptom).fault(self.code, symptom)
            elif layer is not None and misfits(text):
                yield self._misfit(case, symptom, layer, text).fault(self.code, symptom)

    def _misfit(self, case: Case, symptom: Symptom, layer: ModuleFact, text: str) -> Accusation:
        code, why, remedy = judge(case.trace, layer, text)
        before = layer_before(case.trace, layer)
        model = case.trace.get(ModelFact, layer.model)
        data = code == "INP-LAYER-SHAPE" and before is None
        return stopped(
            symptom,
            why,
            remedy,
            PROVEN + 1.0,
            code=code,
            component=layer.name,
            site=(model.called if data and model is not None else None) or layer.created,
            summary=f"`{layer.name}` raised: {symptom.message}",
            related=[layer.created, before and before.created, layer.called, symptom.site],
        )

    def _single(self, case: Case, symptom: Symptom) -> Accusation:
        loaders = sorted(case.trace.loaders, key=lambda loader: loader.phase != "training")
        place = (
            {"component": loaders[0].name, "site": loaders[0].created} if loaders else {"component": "batch"}
        )
        return stopped(
            symptom,
            "Batch norm needs at least two samples to compute a spread.",
            "Drop the incomplete last batch with `drop_last=True`, or choose a batch size that does not leave one sample over.",
            PROVEN + 1.0,
            code="HYP-BATCH-SMALL",
            summary=f"Batch norm got a batch with a single sample: {symptom.message}",
            **place,
        )

    FAULTY = {
        "two linear layers": lambda: _crash(
            "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x32 and 16x4)",
            _layer("0", "Linear", 1, (32, 10), (32, 32), in_features=10, out_features=32),
            _layer("1", "Linear", 2, (32, 32), in_features=16, out_features=4),
        ),
        "flattened to another size": (
            "LYR-IN-SAMPLE",
            lambda: _crash(
                "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x200 and 288x2)",
                _layer("0", "Conv2d", 1, (32, 1, 12, 12), (32, 8, 10, 10), in_channels=1),
                _layer("1", "Linear", 2, (32, 200), in_features=288, out_features=2),
            ),
        ),
        "not flattened": (
            "LYR-FLATTEN-MISSING",
            lambda: _crash(
                "RuntimeError: mat1 and mat2 shapes cannot be multiplied (1280x5 and 200x2)",
                _layer("0", "Conv2d", 1, (32, 1, 12, 12), (32, 8, 10, 10), in_channels=1),
                _layer("1", "Linear", 2, (32, 8, 5, 5), in_features=200, out_features=2),
            ),
        ),
        "channels of the data": (
            "LYR-IN-SHAPE",
            lambda: _crash(
                "RuntimeError: expected input[32, 1, 12, 12] to have 3 channels, but got 1 channels instead",
                _layer("0", "Conv2d", 1, (32, 1, 12, 12), in_channels=3),
            ),
        ),
        "channels last": (
            "INP-LAYER-SHAPE",
            lambda: _crash(
                "RuntimeError: expected input[32, 12, 12, 3] to have 3 channels, but got 12 channels instead",
                _layer("0", "Conv2d", 1, (32, 12, 12, 3), in_channels=3),
            ),
        ),
    }


_NARROW_RIVALS = {
    "D101": "The steps are too large.",
    "D102": "The steps are too small.",
    "D106": "The gradients vanish.",
    "D111": "The weights start symmetric.",
    "D401": "The output is normalised twice.",
}


@accuses("LYR-UNITS", Bottleneck, once=True)
def layer_too_narrow(case: Case, symptom: Symptom) -> Accusation:
    """A hidden layer has far too few units.

    Everything later layers know of a sample has to fit through it. Make it at least as wide as the number of classes, usually 16 units or more.
    """
    module = case.trace.get(ModuleFact, symptom.component)
    created = None if module is None else module.created
    origin = argument_origin(case.sources, created, "out_features", 1)
    evidence = [*harm(case)]
    evidence += [for_symptom(s, FAIR) for s in case.of("D504")[:1]]
    evidence += rivals(case, _NARROW_RIVALS)
    width = symptom.detail.get("width")
    return Accusation(
        STRONG,
        evidence=evidence,
        site=created if origin is None else origin.site,
        reason="One or two numbers per sample cannot carry enough for the later layers to tell samples apart.",
        remedy=f"Give {symptom.component} 16 units or more instead of {width}, and widen the next layer's input to match.",
        refutation="Ten times as many units do not lower the loss.",
        related=(created, None if module is None else module.called),
        explains=("D109", "D120", "D501", "D504", "D511"),
    )


@accuses("LYR-FILTER", PointwiseKernels, once=True)
def kernel_too_small(case: Case, symptom: Symptom) -> Accusation:
    """The convolutions have kernels of 1, so that no place sees its neighbours.

    Edges, shapes and rhythms lie in how neighbouring values differ, and nothing in such a network compares them before everything is pooled or flattened.
    Use kernels of 3 or 5, with padding of half of that.
    """
    origin = argument_origin(case.sources, symptom.site, "kernel_size", 2)
    return Accusation(
        STRONG,
        evidence=[*harm(case), *relief(case, 2 * STRONG)],
        site=symptom.site if origin is None else origin.site,
        reason="Samples differ in local patterns, but these layers look at one position at a time.",
        remedy=f"Use `kernel_size=3, padding=1` in {symptom.component} and in the other convolutions.",
        refutation="Training is no better with a kernel size of 3.",
        related=(symptom.site,),
        explains=("D109", "D127", "D501", "D504", "D508", "D511"),
    )


_DEEP = "Linear(10,32) ReLU " + "Linear(32,32) ReLU " * 12 + "Linear(32,4)"
_EXPLAINS = ("D102", "D103", "D106", "D109", "D114", "D115", "D501", "D504", "D508", "D511")
_DEPTH_RIVALS = {
    "D111": "The weights start symmetric.",
    "D112": "The initial weights have the wrong scale.",
    "D302": "The inputs are badly scaled.",
    "D104": "Units are dead.",
}


class NormalisationMissing(Cause, code="LYR-NORM-MISSING"):
    """A deep stack lacks normalisation, so that signals fade or explode with depth.

    Each layer multiplies size and differences of the signal by some factor; over many layers the product goes to nothing or to infinity.
    Put BatchNorm or LayerNorm after the linear layers, add skip connections, or start with He's initialisation.
    """

    least_layers = convention(7, "shallower networks train without")

    def accuse(self, case: Case) -> Iterator[Fault]:
        deep = list(case.of("D106")) + [s for s in case.of("D103") if s.detail.get("form") == "depth"]
        deep += [s for s in case.of("D109") if s.detail.get("faded")]
        for symptom in deep[:1]:
            depth, norms = self._depth(case, symptom.component)
            hurt = harm(case)
            if depth < self.least_layers or norms or not hurt:
                continue
            evidence = [for_symptom(symptom, STRONG), *(for_symptom(s, WEAK) for s in deep[1:2]), *hurt]
            text = f"None of {depth} consecutive layers is followed by a normalisation."
            evidence.append(Evidence(text, FAIR))
            evidence += rivals(case, _DEPTH_RIVALS)
            if mostly(case.trace, SIGMOIDS) is not None:
                text = "The hidden activations are sigmoids, which shrink every gradient."
                evidence.append(Evidence(text, -STRONG))
            yield self._fault(case, symptom, [*evidence, *relief(case, 2 * STRONG)], depth)

    def _depth(self, case: Case, component: str) -> tuple[int, int]:
        """Linear layers of the model that ran, and normalisations of any kind in it."""
        module = case.trace.get(ModuleFact, component)
        links = [link for link in chain(case.trace) if module is None or link.model == module.model]
        norms = sum("Norm" in link.module.kind for link in links if link.module is not None)
        norms += sum(fact.kind == "norm" for fact in case.trace.all(FunctionFact))
        return sum(link.kind == "linear" for link in links), norms

    def _fault(self, case: Case, symptom: Symptom, evidence: list[Evidence], depth: int) -> Fault:
        site = self._line(case, symptom)
        where = "" if site is None else f" created in {site.short}"
        return self.fault(
            symptom,
            evidence,
            site=site,
            reason=f"Over {depth} layers, even a small loss of signal per layer leaves almost nothing at the end.",
            remedy=f"Put `nn.BatchNorm1d` (or 2d) or `nn.LayerNorm` after the hidden layers{where}, or add skip connections.",
            refutation="The network trains no better with normalisation, or with half as many layers.",
            explains=_EXPLAINS,
        )

    def _line(self, case: Case, symptom: Symptom) -> Site | None:
        """The line that creates most of the layers: a loop, as a rule."""
        module = case.trace.get(ModuleFact, symptom.component)
        counts: dict[Site, int] = {}
        for link in chain(case.trace):
            if (
                link.kind == "linear"
                and link.site is not None
                and (module is None or link.model == module.model)
            ):
                counts[link.site] = counts.get(link.site, 0) + 1
        return max(counts, key=lambda site: counts[site], default=symptom.site)

    FAULTY = {
        "thirteen layers, gradients fade": lambda: net_run(
            _DEEP, losses=flat(200), gradients={2 * n: 1e-9 * 3.0**n for n in range(14)}
        )
    }
