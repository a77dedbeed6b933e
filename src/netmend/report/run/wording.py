"""Facts put into words: the phrases that summary, page and HTML share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netmend.diagnose.measures.acting import acts, worlds
from netmend.library.losses import OF_CLASS_INDEX, OF_YES_NO
from netmend.report.content import clean
from netmend.report.numbers import count, plural, setting
from netmend.vocabulary import (
    HEALTHY,
    Diagnosis,
    LoaderFact,
    LossFact,
    ModelFact,
    OptimizerFact,
    SchedulerFact,
    Trace,
)

# Settings worth a place in one line; the others stand in the optimiser's own table.
_TOLD_SETTINGS = {"lr": "rate", "momentum": "momentum", "weight_decay": "weight decay"}
_ACCURACY_LOSSES = {
    *OF_CLASS_INDEX,
    *OF_YES_NO,
}  # whatever the targets: 0.9 for "real" is no number to predict
_ACCURACY_TASKS = {"classification", "binary", "multi-label", "sequence"}


def metric_name(trace: Trace, loss: str = "") -> str:
    """What the recorded metric is called: accuracy for classes, R² for numbers."""
    facts = [fact for fact in trace.losses if fact.name == loss] or list(trace.losses)
    if facts and facts[0].criterion in _ACCURACY_LOSSES:
        return "accuracy"
    tasks = [task for task in trace.tasks if task.name == loss] or list(trace.tasks)
    if not tasks:
        return "metric"
    if tasks[0].kind in _ACCURACY_TASKS:
        return "accuracy"
    return "R²" if tasks[0].kind == "regression" else "metric"


def has_metric(trace: Trace, loss: str) -> bool:
    """Whether its metric says anything: batches that are all yes, then all no, as of a discriminator, have none."""
    facts = [fact for fact in trace.losses if fact.name == loss and fact.criterion in OF_YES_NO]
    targets = [operand for fact in facts for operand in fact.operands if operand.role == "target"]
    return not any(operand.distinct == 1 and operand.shape[:1] > (1,) for operand in targets)


def model_words(trace: Trace, model: ModelFact) -> str:
    """`model: MLP, 5 layers, 101,770 parameters (1,290 trainable)`."""
    layers = sum(module.leaf and module.model == model.name for module in trace.layers()) or len(
        model.modules
    )
    parts = [plural(layers, "layer"), plural(model.parameters, "parameter")]
    if model.trainable != model.parameters:
        parts[-1] += f" ({count(model.trainable)} trainable)"
    parts += [part for part in (model.wrapper, "compiled" if model.compiled else None) if part]
    if model.device and not model.device.startswith("cpu"):
        parts.append(model.device)
    name = "" if model.name in ("", model.kind) else f"{model.name}: "
    return clean(f"{name}{model.kind}, {', '.join(parts)}")


def optimizer_words(trace: Trace, optimizer: OptimizerFact) -> str:
    """`Adam, rate 0.001, weight decay 0.01; StepLR changes the rate`."""
    parts = [optimizer.kind]
    if optimizer.name and len(trace.optimizers) > 1:
        parts[0] = f"{optimizer.name}: {optimizer.kind}"
    if len(optimizer.groups) > 1:
        parts.append(f"{len(optimizer.groups)} groups")
    for key, word in _TOLD_SETTINGS.items():
        values = dict.fromkeys(
            setting(group.settings[key])
            for group in optimizer.groups
            if group.settings.get(key) not in (None, 0)
        )
        if values:
            parts.append(f"{word} {' / '.join(values)}")
    text = ", ".join(parts)
    schedulers = [s.kind for s in trace.all(SchedulerFact) if s.optimizer == optimizer.name]
    if schedulers:
        text += f"; {' and '.join(schedulers)} changes the rate"
    return clean(text)


def loader_words(loader: LoaderFact) -> str:
    """`training: 50,000 samples in batches of 64, shuffled`."""
    samples = "samples" if loader.samples is None else plural(loader.samples, "sample")
    text = samples if loader.batch_size is None else f"{samples} in batches of {count(loader.batch_size)}"
    if loader.shuffle is not None:
        text += ", shuffled" if loader.shuffle else ", not shuffled"
    return clean(text if loader.phase == "unknown" else f"{loader.phase}: {text}")


def data_words(trace: Trace) -> list[str]:
    """Data sets and batches, a phrase each; from the batches themselves where no DataLoader was seen."""
    if trace.loaders:
        return list(dict.fromkeys(loader_words(loader) for loader in trace.loaders))
    sizes = sorted({batch.size for batch in trace.batches if batch.phase == "training"})
    if not sizes:
        return []
    told = count(sizes[0]) if len(sizes) == 1 else f"{count(sizes[0])} to {count(sizes[-1])}"
    return [f"batches of {told} (no DataLoader was seen)"]


def task_words(trace: Trace) -> str:
    """`classification, 10 classes`; tasks that read alike are told once, and what shows no target is none."""
    if acts(trace):
        kinds = dict.fromkeys(world.kind for world in worlds(trace))
        return clean(", ".join(["reinforcement learning", *kinds]))
    told = []
    soft = {fact.name for fact in trace.losses if _yes_no(fact)}
    for task in trace.tasks:
        if task.kind == "other":
            continue
        if task.kind == "binary" or task.name in soft:
            told.append("binary classification")
        elif task.classes is None:
            told.append(task.kind)
        elif task.kind == "multi-label":
            told.append(f"multi-label, {plural(task.classes, 'label')}")
        else:
            told.append(f"{task.kind}, {plural(task.classes, 'class', 'classes')}")
    return clean("; ".join(dict.fromkeys(told)))


def _yes_no(fact: LossFact) -> bool:
    """A loss of yes and no whose targets are one or two values, such as 0.9 for yes."""
    targets = [operand for operand in fact.operands if operand.role == "target" and operand.shape]
    few = [target.distinct is not None and target.distinct <= 2 for target in targets]
    return (
        fact.criterion in OF_YES_NO
        and few == [True]
        and (len(targets[0].shape) < 2 or targets[0].shape[-1] == 1)
    )


def objective_words(loss: LossFact) -> str:
    """The loss function's name; of a formula of the user's own, the loss functions in it."""
    if loss.criterion != "expression":
        return clean(loss.criterion)
    terms = dict.fromkeys(name.partition("@")[0] for name in loss.settings.get("terms", ()))
    return clean(" + ".join(["own formula", *terms]))


def settings_words(settings: Mapping[str, Any], skip: tuple[str, ...] = ()) -> str:
    """All settings as `name value`, in the order of the program."""
    return clean(", ".join(f"{key} {setting(value)}" for key, value in settings.items() if key not in skip))


def verdict_words(diagnosis: Diagnosis) -> tuple[str, str]:
    """The tone (good, warn, bad) and the verdict in a few words."""
    number = len(diagnosis.faults)
    faults = "1 fault found" if number == 1 else f"{number} faults found, most likely first" if number else ""
    if diagnosis.headline:
        words = "; ".join(filter(None, (clean(diagnosis.headline), faults)))
        return "bad", f"{words[:1].upper()}{words[1:]}"
    if faults:
        return "bad", faults
    if diagnosis.verdict == HEALTHY:
        return "good", "No fault found"
    return "warn", f"Undecided: {clean(diagnosis.reason)}"
