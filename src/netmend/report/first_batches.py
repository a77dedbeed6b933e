"""The first batch of each phase as it reached the model: ranges of its features, and how its labels follow one another."""

from __future__ import annotations

import math
from collections.abc import Iterator

from netmend.report.content import Remark, clean
from netmend.report.numbers import count, measure, plural, share
from netmend.vocabulary import BatchPrint, Trace

_MOST_CLASSES = 8  # told one by one
_UNLIKE = 100.0  # times: spreads of features that lie so far apart are told


def batch_remarks(trace: Trace) -> Iterator[Remark]:
    """Inputs and labels of the first batch of training and of evaluation."""
    for phase in ("training", "evaluation"):
        first = next((batch for batch in trace.batches if batch.phase == phase), None)
        if first is None:
            continue
        words = "; ".join(filter(None, (_inputs(first), _labels(first))))
        if words:
            yield Remark("first batch", clean(f"{phase}: {plural(first.size, 'sample')}, {words}"))


def _inputs(batch: BatchPrint) -> str:
    rows = [row for row in batch.features if all(map(math.isfinite, row))]
    if not rows:
        return ""
    if batch.feature_axis == "token":
        _, frequent, _, different = rows[0]
        return f"{plural(int(different), 'distinct token')}, the most frequent is {share(frequent)} of them"
    means, stds = [row[0] for row in rows], [row[1] for row in rows]
    low, high = min(row[2] for row in rows), max(row[3] for row in rows)
    told = f"{plural(len(batch.features), batch.feature_axis)} from {_end(low)} to {_end(high)}"
    if len(rows) == 1 or max(means) - min(means) <= max(stds):
        mean, std = sum(means) / len(rows), math.sqrt(sum(std**2 for std in stds) / len(rows))
        return f"{told} (mean {measure(mean)}, standard deviation {measure(std)})"
    spread = [std for std in stds if std > 0]
    if spread and max(spread) > _UNLIKE * min(spread):
        return f"{told} (standard deviations from {measure(min(spread))} to {measure(max(spread))})"
    return f"{told} (means from {measure(min(means))} to {measure(max(means))})"


def _end(value: float) -> str:
    """Of pixels and counts the plain number."""
    return count(int(value)) if value == round(value) and abs(value) < 1e6 else measure(value)


def _labels(batch: BatchPrint) -> str:
    if not batch.labels:
        if batch.target_mean is None:
            return ""
        return f"targets {measure(batch.target_mean)} ± {measure(batch.target_std)}"
    shown = sorted(batch.labels.items(), key=lambda label: -label[1])
    if len(shown) == 1:
        return f"all of class {shown[0][0]}"
    told = ", ".join(f"{label}: {count(number)}" for label, number in shown[:_MOST_CLASSES])
    rest = f", and {len(shown) - _MOST_CLASSES} more" if len(shown) > _MOST_CLASSES else ""
    neighbours = batch.size - 1
    if batch.label_changes is None or neighbours < 1 or batch.label_changes > neighbours:
        return f"classes {told}{rest}"
    return f"classes {told}{rest}; {count(batch.label_changes)} of {count(neighbours)} neighbouring labels differ"
