"""D216 UnregisteredLayers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop_examples import Layer, network, optimizer, trained
from netmend.diagnose.measures.wiring import Wire, loaded, wires
from netmend.unit import Run, threshold
from netmend.vocabulary import Event, ModuleFact, Site, Symptom, Table, Trace

_WITH_WEIGHTS = (
    *("Linear", "Bilinear", "Embedding", "RNN", "LSTM", "GRU", "LSTMCell", "GRUCell", "LayerNorm"),
    *(f"{kind}{rank}d" for kind in ("Conv", "ConvTranspose", "BatchNorm") for rank in (1, 2, 3)),
)
_SHORT_LIVED = re.compile(r"\((\w+)@(.+):(\d+)#\d+\)")
_STRAY = Layer("(Linear@train.py:42#2)", optimizer=None, gradient=None, update=None, registered=False)


@register
class UnregisteredLayers:
    """Layers with weights run inside a model but are not registered with it.

    model.parameters(), .to(), .state_dict() and .train() pass them over: they are not trained, not saved, not moved.
    Usual causes: layers kept in a plain Python list or dictionary instead of nn.ModuleList or nn.ModuleDict, layers created anew
    inside forward().
    """

    code: ClassVar[str] = "D216"

    least: int = threshold(1, "exact", "one layer that is never trained is enough")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        yield from self._short_lived(trace)
        yield from self._loose(trace)
        lost: dict[str, list[Wire]] = {}
        for wire in wires(trace):
            module = wire.module
            if module is None or module.registered or not wire.executed or not wire.fact.trainable:
                continue
            if wire.holder is None and not wire.twin:
                lost.setdefault(module.name, []).append(wire)
        models = dict.fromkeys(found[0].model for found in lost.values())
        for model in models:
            own = {name: found for name, found in lost.items() if found[0].model == model}
            if len(own) < self.least:
                continue
            modules = [m for name in own if (m := trace.get(ModuleFact, name)) is not None]
            anew = [m for m in modules if m.created is not None and m.created.function.endswith("forward")]
            first = (anew or modules)[0]
            kinds = ", ".join(dict.fromkeys(module.kind for module in modules))
            yield Symptom(
                self.code,
                f"{len(own)} layers with weights ({kinds}) run inside {model} but are not registered as its modules, "
                "and are in no optimiser.",
                component=first.name,
                first_step=0,
                observed=float(len(own)),
                limit=0.0,
                site=first.created or first.called,
                detail={
                    "model": model,
                    "layers": list(own),
                    "in_forward": bool(anew),
                    "fresh": any(wire.fresh for found in own.values() for wire in found),
                    "loaded": loaded(trace, first.name),
                    "called": first.called,
                },
            )

    def _loose(self, trace: Trace) -> Iterator[Symptom]:
        """Single tensors that get gradients, but that no module has registered."""
        for event in trace.events:
            if event.kind == "loose parameter":
                yield Symptom(
                    self.code,
                    f"`{event.component}` gets gradients, but is neither in the model nor in an optimiser.",
                    component=event.component,
                    first_step=0,
                    observed=1.0,
                    limit=0.0,
                    site=event.site,
                    detail={
                        "model": event.component.partition(".")[0],
                        "layers": [event.component],
                        "in_forward": False,
                        "fresh": True,
                        "loaded": False,
                        "called": None,
                        "attribute": event.detail.get("attribute"),
                        "class": event.detail.get("class"),
                    },
                )

    def _short_lived(self, trace: Trace) -> Iterator[Symptom]:
        """Layers of which only the activations were seen: they were gone when the step was over."""
        known = {module.name for module in trace.all(ModuleFact)}
        for model in trace.models:
            for table in trace.tables_of("activation"):
                match = _SHORT_LIVED.fullmatch(table.component.removeprefix(f"{model.name}."))
                if match is None or table.component in known or match[1] not in _WITH_WEIGHTS:
                    continue
                near = model.called.file if model.called is not None else trace.run.script
                site = Site(str(PurePath(near).with_name(match[2])), int(match[3]))
                yield Symptom(
                    self.code,
                    f"A layer with weights ({match[1]}) is created anew on every call of `{model.name}`.",
                    component=table.component,
                    first_step=0,
                    observed=1.0,
                    limit=0.0,
                    site=site,
                    detail={
                        "model": model.name,
                        "layers": [table.component],
                        "in_forward": True,
                        "fresh": True,
                        "loaded": False,
                        "called": site,
                    },
                )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("registered", lambda: trained(optimizer(), *network(Layer("a"), Layer("b")))),
        Run(
            "in a list, but given to the optimiser",
            lambda: trained(
                optimizer(), *network(Layer("a"), replace(_STRAY, optimizer="optimizer", gradient=0.1))
            ),
        ),
        Run(
            "a frozen network hidden in a list on purpose",
            lambda: trained(optimizer(), *network(Layer("a"), replace(_STRAY, trainable=False))),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a tensor that is no parameter",
            lambda: trained(
                optimizer(),
                events=[Event(3, "loose parameter", "…", "model.scale", detail={"attribute": "scale"})],
            ),
        ),
        Run("layers in a plain list", lambda: trained(optimizer(), *network(Layer("a"), _STRAY))),
        Run(
            "a layer that lives for one call",
            lambda: trained(
                optimizer(),
                *network(Layer("a")),
                Table.of("activation", "model.(Linear@train.py:42#2)", {0: (0.0, 1.0)}),
            ),
        ),
    )
