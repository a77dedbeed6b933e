"""Models with layers outside them, made anew during training, or without the weights that were loaded for them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.examples.loops import Layer, optimizer, trained
from netmend.diagnose.measures.batches import epochs
from netmend.diagnose.measures.wiring import Wire, loaded, wires
from netmend.library.layers import BATCH_NORMS, LINEAR, RECURRENT
from netmend.unit import convention, exact
from netmend.vocabulary import Event, ModelFact, ModuleFact, ParameterFact, Site, Symptom, Table, Trace

_WITH_WEIGHTS = (
    *LINEAR,
    *BATCH_NORMS,
    *RECURRENT,
    "Bilinear",
    "Embedding",
    "LSTMCell",
    "GRUCell",
    "LayerNorm",
)
_SHORT_LIVED = re.compile(r"\((\w+)@(.+):(\d+)#\d+\)")
_STRAY = Layer("(Linear@train.py:42#2)", optimizer=None, gradient=None, update=None, registered=False)


class UnregisteredLayers(Detector, code="D216"):
    """Layers with weights run inside a model but are not registered with it.

    model.parameters(), .to(), .state_dict() and .train() pass them over: they are not trained, not saved, not moved.
    Usual causes: layers kept in a plain Python list or dictionary instead of nn.ModuleList or nn.ModuleDict, layers created anew
    inside forward().
    """

    least = exact(1, "one layer that is never trained is enough")

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
            message = (
                f"{len(own)} layers with weights ({kinds}) run inside {model} but are not registered as its modules, "
                "and are in no optimiser."
            )
            yield self.symptom(
                message,
                (first.name, first.created or first.called),
                observed=float(len(own)),
                limit=0.0,
                detail={
                    "model": model,
                    "layers": list(own),
                    "in_forward": bool(anew),
                    "fresh": any(wire.fresh for found in own.values() for wire in found),
                    "loaded": loaded(trace, first.name),
                    "called": first.called,
                },
                first_step=0,
            )

    def _loose(self, trace: Trace) -> Iterator[Symptom]:
        """Single tensors that get gradients, but that no module has registered."""
        for event in trace.events:
            if event.kind == "loose parameter":
                message = (
                    f"`{event.component}` gets gradients, but is neither in the model nor in an optimiser."
                )
                detail = {
                    "model": event.component.partition(".")[0],
                    "layers": [event.component],
                    "in_forward": False,
                    "fresh": True,
                    "loaded": False,
                    "called": None,
                    "attribute": event.detail.get("attribute"),
                    "class": event.detail.get("class"),
                }
                yield self.symptom(message, event, 1.0, 0.0, detail, first_step=0)

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
                message = (
                    f"A layer with weights ({match[1]}) is created anew on every call of `{model.name}`."
                )
                detail = {
                    "model": model.name,
                    "layers": [table.component],
                    "in_forward": True,
                    "fresh": True,
                    "loaded": False,
                    "called": site,
                }
                yield self.symptom(message, table.component, 1.0, 0.0, detail, first_step=0, site=site)

    HEALTHY = {
        "registered": lambda: trained(Layer("a"), Layer("b")),
        "in a list, but given to the optimiser": lambda: trained(
            Layer("a"), replace(_STRAY, optimizer="optimizer", gradient=0.1)
        ),
        "a frozen network hidden in a list on purpose": lambda: trained(
            Layer("a"), replace(_STRAY, trainable=False)
        ),
    }
    FAULTY = {
        "a tensor that is no parameter": lambda: trained(
            Event(3, "loose parameter", "…", "model.scale", detail={"attribute": "scale"})
        ),
        "layers in a plain list": lambda: trained(Layer("a"), _STRAY),
        "a layer that lives for one call": lambda: trained(
            Layer("a"), Table.of("activation", "model.(Linear@train.py:42#2)", {0: (0.0, 1.0)})
        ),
    }


def _models(count: int, *held: int) -> list[ModelFact | ParameterFact | Table]:
    """Models from one line; those numbered in `held` are held by an optimiser of their own."""
    made: list[ModelFact | ParameterFact | Table] = []
    for number in range(count):
        name = f"net#{number + 1}" if number else "net"
        made.append(ModelFact(name, "Net", created=Site("train.py", 5)))
        holder = f"opt#{number}" if number in held else None
        made.append(ParameterFact(f"{name}.weight", name, (4, 4), optimizer=holder))
        made.append(Table.of("gradient", f"{name}.weight", dict.fromkeys(range(4), (0.0, 0.1))))
    return made


def _passes(count: int, each: int) -> list[tuple[str, int]]:
    loop = []
    for number in range(count):
        name = f"net#{number + 1}" if number else "net"
        step = f"zero_grad forward:{name}=train,grad backward step:opt"
        loop += [(f"epoch:loader {step}", each), (step, 10)]
    return loop


class ModelRecreated(Detector, code="D217"):
    """The same line creates the model repeatedly during training.

    Everything learned so far is thrown away each time; only the last piece of training counts, or none at all where the optimiser
    still holds the first model.
    Usual cause: the model is created inside the loop over epochs.
    """

    least_models = convention(
        3, "two models from one line are a pair; seeds, folds and searches train each for several epochs"
    )
    most_passes = exact(1, "a model that sees the data once and is then replaced has wasted it")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        lines: dict[tuple[Site, str], list[ModelFact]] = defaultdict(list)
        for model in trace.models:
            if model.created is not None:
                lines[model.created, model.kind].append(model)
        unheld = {w.model for w in wires(trace) if w.flows and w.fact.trainable and w.holder is None}
        held = {w.model for w in wires(trace) if w.holder is not None}
        for (site, kind), models in lines.items():
            names = [model.name for model in models if _first(trace, model.name) is not None]
            stale = [name for name in names if name in unheld and name not in held]
            passes = _passes_of(trace, names)
            single = len(names) >= self.least_models and set(passes.values()) == {self.most_passes}
            if not single and not (len(stale) >= 2 or (stale and len(names) > len(stale))):
                continue
            message = f"`{kind}` was created {len(models)} times by the same line during training" + (
                ", and the later ones are not in the optimiser."
                if stale
                else "; each one saw the data only once."
            )
            yield self.symptom(
                message,
                (names[-1], site),
                observed=float(len(models)),
                limit=float(self.least_models),
                detail={"stale": stale},
                first_step=min((s for n in names[1:] if (s := _first(trace, n)) is not None), default=None),
            )

    HEALTHY = {
        "one model": lambda: trained(*_models(1, 0), *_passes(1, 5)),
        "five folds of four epochs": lambda: trained(*_models(5, 0, 1, 2, 3, 4), *_passes(5, 4)),
        "a pair of models": lambda: trained(*_models(2, 0, 1), *_passes(2, 1)),
    }
    FAULTY = {
        "anew for every epoch": lambda: trained(*_models(6, 0, 1, 2, 3, 4, 5), *_passes(6, 1)),
        "the optimiser holds the first one only": lambda: trained(
            replace(optimizer(), name="opt#0"), *_models(4, 0), *_passes(4, 1)
        ),
    }


def _first(trace: Trace, model: str) -> int | None:
    starts = [
        pattern.spans[0][0]
        for pattern in trace.patterns
        if pattern.spans
        and any(
            c.what == "forward" and c.component == model and c.detail.endswith(", grad")
            for c in pattern.calls
        )
        and any(c.what == "step" for c in pattern.calls)
    ]
    return min(starts, default=None)


def _passes_of(trace: Trace, names: list[str]) -> dict[str, int]:
    """How often a loader was begun for training while each model was in use; its very first pass may not show its name."""
    starts = sorted((start, name) for name in names if (start := _first(trace, name)) is not None)
    begun: list[int] = []
    for pattern in trace.patterns:
        order = [call.what for call in pattern.calls]
        if "epoch" in order and "backward" in order[order.index("epoch") :]:
            begun += [step for first, last in pattern.spans for step in range(first, last + 1)]
    if not starts:
        return {}
    seen = epochs(trace)
    if not begun and seen is not None and not trace.loaders:
        # Batches cut by hand: passes follow from how often samples came again.
        return dict.fromkeys(names, round(seen / len(names)))
    ends = [start - 1 for start, _ in starts[1:]] + [1 << 62]
    return {
        name: sum(start - 1 <= step < end for step in begun)
        for (start, name), end in zip(starts, ends, strict=True)
    }


def _loaded(matched: int, missing: int, unexpected: int, aliased: int = 0) -> Trace:
    detail = {"matched": matched, "missing": missing, "unexpected": unexpected, "aliased": aliased}
    return trace_of(Event(0, "state loaded", "loaded", "model", Site("train.py", 9), detail))


class CheckpointNotLoaded(Detector, code="D222"):
    """A checkpoint was loaded, but hardly any of its entries matched the model.

    With strict=False the entries that do not fit are passed over in silence: the model stays at its random start.
    Usual causes: a prefix such as "module." or "model." before every name, a checkpoint of another network.
    """

    least_share = convention(
        0.1, "of the saved entries; a backbone taken from a larger model fits far more of them"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for event in trace.events:
            if event.kind != "state loaded":
                continue
            matched, missing, unexpected = (
                int(event.detail.get(name) or 0) for name in ("matched", "missing", "unexpected")
            )
            own = int(event.detail.get("aliased") or 0)
            if matched and own == matched:
                message = f"The state loaded into {event.component} is its own current state: it was saved by reference, not copied."
                detail = {"matched": matched, "own": True, "wanted": [], "given": []}
                yield self.symptom(message, event, 0.0, self.least_share, detail)
            if not missing or (matched + unexpected and matched > self.least_share * (matched + unexpected)):
                continue
            message = (
                f"Of {matched + unexpected} saved entries {matched} were loaded into {event.component}; {missing} of its own "
                "were not in the file."
            )
            detail = {
                "matched": matched,
                "own": False,
                "wanted": list(event.detail.get("missing_keys") or ()),
                "given": list(event.detail.get("unexpected_keys") or ()),
            }
            yield self.symptom(
                message, event, matched / max(1, matched + unexpected), self.least_share, detail
            )

    HEALTHY = {
        "all of it": lambda: _loaded(10, 0, 0),
        "a new head": lambda: _loaded(8, 2, 2),
        "tied weights are loaded twice": lambda: _loaded(10, 0, 0, 2),
        "a part of a larger state": lambda: _loaded(6, 0, 40),
    }
    FAULTY = {
        "a prefix is in the way": lambda: _loaded(0, 10, 10),
        "nothing was given": lambda: _loaded(0, 10, 0),
        "the best state was only a reference": lambda: _loaded(10, 0, 0, 10),
    }
