"""What `--probe` did and how it came out, one remark for each experiment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from netmend.report.content import Remark, clean, place
from netmend.report.numbers import measure, plural
from netmend.vocabulary import Trace

_BY_HEART = (
    0.1  # convention: of the first loss; what is left then no longer says that the batch could not be learned
)


def probe_remarks(trace: Trace) -> Iterator[Remark]:
    """Only the experiments that were asked for; what the first batch shows anyway is part of the diagnosis."""
    for what, words in _WORDS.items():
        for probe in trace.probes(what):
            text = words(probe.values)
            if text:
                of = f"{clean(probe.component)}: " if len(trace.models) > 1 else ""
                yield Remark("probe", f"{of}{text}", place(probe.site, trace.run))
    for missing in trace.run.missing:
        if missing.startswith("--probe "):
            yield Remark("probe", clean(missing.removeprefix("--probe ")), tone="warn")


def _overfit(values: Mapping[str, Any]) -> str:
    first, best, steps = float(values["first"]), float(values["best"]), int(values["steps"])
    learned = "memorised" if best <= _BY_HEART * first else "not memorised"
    outcome = "nothing left to learn" if first == 0 else learned if first > 0 else "not memorised"
    return f"one batch, {plural(steps, 'step')}: {outcome}, loss {measure(first)} → {measure(best)}"


def _rates(values: Mapping[str, Any]) -> str:
    tried = [(name, value) for name, value in values.items() if name.startswith("x") and value is not None]
    shares = ", ".join(f"{measure(float(value))} at ×{name[1:]}" for name, value in tried)
    return (
        f"share of the loss left after {values['steps']} steps with the rate scaled: {shares}"
        if shares
        else ""
    )


def _ignored(values: Mapping[str, Any]) -> str:
    real, shuffled = measure(float(values["real"])), measure(float(values["shuffled"]))
    return f"one batch, {plural(int(values['steps']), 'step')}: loss {real} as it is, {shuffled} with its inputs shuffled"


_WORDS = {"batch overfit": _overfit, "rate probe": _rates, "input ignored": _ignored}
