"""The end of a crashed program in words: where, and what only netmend knows about it."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.vocabulary import Crash, LossFact, Symptom, TargetFact, Trace
from netmend.vocabulary.crash import CrashFact, GivenFact


def crash_of(trace: Trace, symptoms: tuple[Symptom, ...]) -> Crash | None:
    """None where the program did not crash."""
    if not any(symptom.code == "D701" for symptom in symptoms):
        return None
    run = trace.run
    kind, _, message = (run.exception or "").partition(": ")
    fact = trace.get(CrashFact, "crash")
    return Crash(kind, message.strip(), run.exception_site, run.steps, tuple(_notes(trace, fact)))


def _notes(trace: Trace, fact: CrashFact | None) -> Iterator[str]:
    if fact is not None:
        yield from _layer(fact)
        yield from _batch(fact)
        yield from _labels(trace, fact)
    bad = [event.step for event in trace.events if event.kind == "nonfinite"]
    if bad:
        yield (
            f"Values were last finite at step {min(bad) - 1}."
            if min(bad)
            else "Values were not finite from the first step on."
        )


def _layer(fact: CrashFact) -> Iterator[str]:
    layer = f"`{fact.module}` ({fact.kind})" if fact.module != fact.kind else f"The {fact.kind}"
    if fact.wants:
        yield f"{layer} expects {fact.wants} but got {fact.got}."
    elif fact.module and fact.given:
        given = " and ".join(f"{shape_words(one.shape)} ({one.dtype}, {one.device})" for one in fact.given)
        yield f"{layer} raised the error; its input was {given}."
    for one in fact.given[:1]:
        if fact.device and one.device and one.device != fact.device:
            yield f"Its weights are on {fact.device}, its input is on {one.device}."
        elif fact.dtype and one.dtype and one.dtype != fact.dtype and "Embedding" not in fact.kind:
            yield f"Its weights are {fact.dtype}, its input is {one.dtype}."


def _batch(fact: CrashFact) -> Iterator[str]:
    """How the batch differs from the first one, where it does."""
    for now, first in zip(fact.batch, fact.first_batch, strict=False):
        if fact.step == 0 or now.shape == first:
            continue
        if now.shape[1:] == first[1:]:
            if now.shape[:1] < first[:1]:
                samples = "1 sample" if now.shape[0] == 1 else f"{now.shape[0]} samples"
                yield f"The batch of step {fact.step} holds {samples}; the first held {first[0]}."
        else:
            yield f"The batch of step {fact.step} has shape {shape_words(now.shape)}; that of step 0 had {shape_words(first)}."


def _labels(trace: Trace, fact: CrashFact) -> Iterator[str]:
    predicted, target = fact.prediction, fact.target
    if predicted is None or target is None:
        return
    if "int" in target.dtype and len(predicted.shape) > 1 and _outside(target, predicted.shape[1]):
        classes = predicted.shape[1]
        yield f"Labels go from {target.minimum:.0f} to {target.maximum:.0f}, but there are scores for {classes} classes (0 to {classes - 1})."
        known = [
            int(c) for loss in trace.all(LossFact) for c in _seen(trace, loss.name) if c.lstrip("-").isdigit()
        ]
        if known and min(known) >= 0 and max(known) < classes:
            yield f"All labels before were between {min(known)} to {max(known)}."
    else:
        yield (
            f"`{fact.loss}` got predictions {shape_words(predicted.shape)} ({predicted.dtype}, {predicted.device}) "
            f"and targets {shape_words(target.shape)} ({target.dtype}, {target.device})."
        )


def _outside(target: GivenFact, classes: int) -> bool:
    low, high = target.minimum, target.maximum
    return low is not None and high is not None and (high >= classes or low < 0)


def _seen(trace: Trace, loss: str) -> tuple[str, ...]:
    fact = trace.get(TargetFact, loss)
    return () if fact is None else tuple(fact.class_counts)


def shape_words(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) if shape else "a single number"
