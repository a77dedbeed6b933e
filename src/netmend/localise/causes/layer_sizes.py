"""LYR-DIM-MISMATCH, LYR-IN-SAMPLE, LYR-IN-SHAPE, LYR-FLATTEN-MISSING, LYR-FILTER, INP-LAYER-SHAPE, HYP-BATCH-SMALL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.crash import failing_layer, layer_before
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.effects import ANY
from netmend.localise.lines.misfit import judge, misfits
from netmend.unit import Run
from netmend.vocabulary import Fault, ModelFact, ModuleFact, ParameterFact, RunFact, Site, Symptom, Trace

_ONE = "Expected more than 1 value per channel"


def _crash(exception: str, *modules: ModuleFact) -> Trace:
    run = RunFact(
        "example", "train.py", status="failed", exception=exception, exception_site=Site("train.py", 20)
    )
    weights = [ParameterFact(f"{m.name}.weight", m.name) for m in modules if m.kind != "MaxPool2d"]
    first = modules[0].input_shapes if modules else ()
    return Trace(
        facts={
            "run": {"example": run},
            "module": {module.name: module for module in modules},
            "parameter": {weight.name: weight for weight in weights},
            "model": {"model": ModelFact("model", "Net", called=Site("train.py", 20), input_shapes=first)},
        }
    )


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


@register
class LayerSizes:
    """A layer does not fit its input: width, channels, number of axes.

    The line that raises is where the mismatch is noticed; the mistake is in the layer's arguments, or in the layer before it.
    Make the sizes of neighbouring layers agree with each other and with the data.
    """

    code: ClassVar[str] = "LYR-DIM-MISMATCH"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D701"):
            text = str(symptom.detail["exception"])
            layer = failing_layer(case.trace)
            if _ONE in text:
                yield self._single(case, symptom)
            elif layer is None:
                continue
            elif misfits(text):
                yield self._misfit(case, symptom, layer, text)

    def _misfit(self, case: Case, symptom: Symptom, layer: ModuleFact, text: str) -> Fault:
        code, why, remedy = judge(case.trace, layer, text)
        before = layer_before(case.trace, layer)
        model = case.trace.get(ModelFact, layer.model)
        data = code == "INP-LAYER-SHAPE" and before is None
        place = (model.called if data and model is not None else None) or layer.created or symptom.site
        return fault(
            code,
            [for_symptom(symptom, PROVEN + 1.0)],
            component=layer.name,
            site=place,
            summary=f"`{layer.name}` raised: {symptom.message}",
            reason=why,
            remedy=remedy,
            refutation="",
            related=[
                layer.created,
                before.created if before is not None else None,
                layer.called,
                symptom.site,
            ],
            explains=ANY,
        )

    def _single(self, case: Case, symptom: Symptom) -> Fault:
        loaders = sorted(case.trace.loaders, key=lambda loader: loader.phase != "training")
        loader = loaders[0] if loaders else None
        return fault(
            "HYP-BATCH-SMALL",
            [for_symptom(symptom, PROVEN + 1.0)],
            component=loader.name if loader is not None else "batch",
            site=loader.created if loader is not None else symptom.site,
            summary=f"Batch norm got a batch with a single sample: {symptom.message}",
            reason="Batch norm needs at least two samples to compute a spread.",
            remedy="Drop the incomplete last batch with `drop_last=True`, or choose a batch size that does not leave one sample over.",
            refutation="",
            related=[symptom.site],
            explains=ANY,
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "two linear layers",
            lambda: _crash(
                "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x32 and 16x4)",
                _layer("0", "Linear", 1, (32, 10), (32, 32), in_features=10, out_features=32),
                _layer("1", "Linear", 2, (32, 32), in_features=16, out_features=4),
            ),
        ),
        Run(
            "flattened to another size",
            lambda: _crash(
                "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x200 and 288x2)",
                _layer("0", "Conv2d", 1, (32, 1, 12, 12), (32, 8, 10, 10), in_channels=1),
                _layer("1", "Linear", 2, (32, 200), in_features=288, out_features=2),
            ),
            "LYR-IN-SAMPLE",
        ),
        Run(
            "not flattened",
            lambda: _crash(
                "RuntimeError: mat1 and mat2 shapes cannot be multiplied (1280x5 and 200x2)",
                _layer("0", "Conv2d", 1, (32, 1, 12, 12), (32, 8, 10, 10), in_channels=1),
                _layer("1", "Linear", 2, (32, 8, 5, 5), in_features=200, out_features=2),
            ),
            "LYR-FLATTEN-MISSING",
        ),
        Run(
            "channels of the data",
            lambda: _crash(
                "RuntimeError: expected input[32, 1, 12, 12] to have 3 channels, but got 1 channels instead",
                _layer("0", "Conv2d", 1, (32, 1, 12, 12), in_channels=3),
            ),
            "LYR-IN-SHAPE",
        ),
        Run(
            "channels last",
            lambda: _crash(
                "RuntimeError: expected input[32, 12, 12, 3] to have 3 channels, but got 12 channels instead",
                _layer("0", "Conv2d", 1, (32, 12, 12, 3), in_channels=3),
            ),
            "INP-LAYER-SHAPE",
        ),
    )
