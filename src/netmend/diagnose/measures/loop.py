"""The training loop as it was really called, and the modes in which layers worked: questions that several detectors ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from netmend.library.layers import BATCH_NORMS, RECURRENT
from netmend.vocabulary import Call, FunctionFact, ModuleFact, Pattern, Site, Trace


@lru_cache(maxsize=16)
def stepping(trace: Trace) -> tuple[Pattern, ...]:
    """Patterns that end in an optimiser step and were seen from their beginning, the most frequent first.

    Many batches before the first step of the optimiser look like steps that changed nothing; they count only where there are no others.
    """
    found = [pattern for pattern in trace.patterns if any(call.what == "step" for call in pattern.calls)]
    whole = [pattern for pattern in found if all(call.what != "gap" for call in pattern.calls)]
    real = [p for p in whole if any(call.what == "step" and call.detail != "none" for call in p.calls)]
    return tuple(sorted(real or whole, key=lambda pattern: -pattern.steps))


def main_pattern(trace: Trace) -> Pattern | None:
    """What most steps look like."""
    return next(iter(stepping(trace)), None)


@lru_cache(maxsize=16)
def batches_per_step(trace: Trace) -> float:
    """Batches that an update is made of, on average: gradients may be added up before a step."""
    patterns = stepping(trace)
    steps = steps_in(patterns)
    return sum(pattern.steps * _batches(pattern) for pattern in patterns) / steps if steps else 1.0


def _batches(pattern: Pattern) -> int:
    """Backward passes from one line, at most as many as there were forward passes to train."""
    forwards = sum(call.times for call in pattern.calls if call.what == "forward" and is_training(call))
    by_line: dict[Site | None, int] = {}
    for call in pattern.calls:
        if call.what == "backward":
            by_line[call.site] = by_line.get(call.site, 0) + call.times
    return max(1, min(max(by_line.values(), default=1), forwards))


def by_optimizer(patterns: Iterable[Pattern]) -> dict[str, list[Pattern]]:
    """The patterns apart, by the optimiser that steps at their end: several may take turns."""
    found: dict[str, list[Pattern]] = {}
    for pattern in patterns:
        step = next(call for call in reversed(pattern.calls) if call.what == "step")
        found.setdefault(step.component, []).append(pattern)
    return found


def span_of(trace: Trace, optimizer: str) -> tuple[int, int]:
    """The first step of an optimiser and the one after its last: of the run, where it is not known to have a part of its own."""
    own = [
        pattern
        for pattern in trace.patterns
        if any((c.what, c.component) == ("step", optimizer) for c in pattern.calls)
    ]
    ends = [end for pattern in own for end in pattern.spans]
    if not ends:
        return 0, trace.run.steps
    return min(first for first, _ in ends), max(last for _, last in ends) + 1


def calls(trace: Trace, what: str) -> Iterator[tuple[Pattern, Call]]:
    """Every call of one kind, with the pattern it stands in."""
    for pattern in trace.patterns:
        for call in pattern.calls:
            if call.what == what:
                yield pattern, call


def usual_site(trace: Trace, what: str) -> Site | None:
    """The line from which a kind of call is made most often."""
    weights: dict[Site, int] = {}
    for pattern, call in calls(trace, what):
        if call.site is not None:
            weights[call.site] = weights.get(call.site, 0) + pattern.steps
    return max(weights, key=lambda site: weights[site], default=None)


def unfolded(pattern: Pattern, most: int = 3) -> tuple[Call, ...]:
    """The calls one after another: neighbours with the same count are a cycle, written out at most so often."""
    result: list[Call] = []
    index = 0
    while index < len(pattern.calls):
        times = pattern.calls[index].times
        end = index + 1
        while times > 1 and end < len(pattern.calls) and pattern.calls[end].times == times:
            end += 1
        result += pattern.calls[index:end] * min(times, most)
        index = end
    return tuple(result)


def is_training(call: Call) -> bool:
    """A forward pass that records gradients."""
    return call.what == "forward" and call.detail.endswith(", grad")


def steps_in(patterns: Iterable[Pattern]) -> int:
    return sum(pattern.steps for pattern in patterns)


@dataclass(frozen=True)
class Misplaced:
    """A call out of place: the first one, the pattern it stands in, on how many of the steps, from which on."""

    call: Call
    pattern: Pattern
    steps: int
    total: int
    since: int | None

    @property
    def share(self) -> float:
        return self.steps / self.total


def misplaced(
    patterns: Sequence[Pattern], find: Callable[[Pattern], Call | None], least: float, share: float = 0.0
) -> Misplaced | None:
    """What `find` finds out of place in the patterns; None where it does on fewer steps than the least, or on too small a share."""
    found = [(pattern, call) for pattern in patterns if (call := find(pattern)) is not None]
    wrong = [pattern for pattern, _ in found]
    steps, total = steps_in(wrong), steps_in(patterns)
    if not found or steps < max(least, share * total):
        return None
    return Misplaced(found[0][1], found[0][0], steps, total, first_step(wrong))


def first_step(patterns: Iterable[Pattern]) -> int | None:
    return min((pattern.spans[0][0] for pattern in patterns if pattern.spans), default=None)


_DROPOUT = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
_BATCH_NORM = (*BATCH_NORMS, "SyncBatchNorm")


def mode_layers(trace: Trace, model: str) -> tuple[str, ...]:
    """Names of the model's dropout and batch-norm layers that were executed and depend on the mode."""
    modules = [
        m.name for m in trace.all(ModuleFact) if m.model == model and m.order is not None and _depends(m)
    ]
    functions = [
        f.name
        for f in trace.all(FunctionFact)
        if f.model == model and f.kind == "dropout" and "training" in f.settings and f.settings.get("p") != 0
    ]
    return (*modules, *functions)


def kinds(trace: Trace, names: tuple[str, ...]) -> str:
    """ "dropout", "batch norm" or "dropout and batch norm"."""
    normal = any((m := trace.get(ModuleFact, name)) is not None and m.kind in _BATCH_NORM for name in names)
    other = any((m := trace.get(ModuleFact, name)) is None or m.kind not in _BATCH_NORM for name in names)
    return " and ".join(word for word, there in (("dropout", other), ("batch norm", normal)) if there)


def switched_passes(trace: Trace, model: str) -> list[tuple[Pattern, Call]]:
    """Passes behind a call of train() of their own, none of which is trained on, in a program that never calls eval(): each with that call."""
    mine = [call for pattern in trace.patterns for call in pattern.calls if _is_of(call, model)]
    if any(call.what == "eval" for call in mine):
        return []
    used, found = set(), []
    for pattern in trace.patterns:
        switch, waiting = None, None
        for call in pattern.calls:
            ended = call.what in ("end", "epoch") or (call.what == "train" and _is_of(call, model))
            if ended and waiting is not None:
                found.append((pattern, waiting))
                waiting = None
            if call.what == "train" and _is_of(call, model):
                switch = call
            elif call.what == "forward" and call.component == model and call.detail.startswith("train"):
                waiting = switch
            elif call.what == "backward":
                used.add(_line(switch))
                waiting = switch = None
    return [item for item in found if _line(item[1]) not in used] if used - {None} else []


def _line(call: Call | None) -> Site | None:
    return call.site if call is not None else None


def _is_of(call: Call, model: str) -> bool:
    """Whether a mode is that of a model, or of what holds it."""
    return call.what in ("train", "eval") and (
        call.component in ("", model) or model.startswith(f"{call.component}.")
    )


def _depends(module: ModuleFact) -> bool:
    settings = module.settings
    if module.kind in _DROPOUT:
        return bool(settings.get("p", 0.5))
    if module.kind in _BATCH_NORM:
        return bool(settings.get("track_running_stats", True))
    if module.kind in RECURRENT:
        return bool(settings.get("dropout")) and int(settings.get("num_layers") or 1) > 1
    return module.kind == "MultiheadAttention" and bool(settings.get("dropout"))
