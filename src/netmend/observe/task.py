"""What kind of problem a loss is about, judged by what the loss is given rather than by names."""

from __future__ import annotations

from netmend.vocabulary import LossFact, OperandFact, TaskFact

_FEW = 20  # whole-numbered real targets with at most this many values look like class ids


def task_of(loss: LossFact) -> TaskFact:
    """The task behind a loss, with the evidence, in sentences."""
    prediction = next((o for o in loss.operands if o.role == "prediction"), None)
    target = next((o for o in loss.operands if o.role == "target"), None)
    if target is None or prediction is None:
        return TaskFact(loss.name, "other", evidence=(f"the objective {loss.name} shows no target",))
    shown = (
        f"the loss is given predictions {_shape(prediction)} and targets {_shape(target)} of {target.dtype}"
    )
    if loss.criterion in ("cross_entropy", "nll_loss", "multi_margin_loss"):
        return _classes(loss, prediction, target, shown)
    if loss.criterion in (
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "multilabel_soft_margin_loss",
    ):
        return _binary(loss, target, shown)
    if loss.criterion in (
        "mse_loss",
        "l1_loss",
        "smooth_l1_loss",
        "huber_loss",
        "poisson_nll_loss",
        "gaussian_nll_loss",
    ):
        evidence = [shown, f"{loss.criterion} compares real values"]
        if target.integral and target.distinct is not None and target.distinct <= _FEW:
            evidence.append(f"yet the targets take only {target.distinct} whole values, as class ids do")
        return TaskFact(loss.name, "regression", evidence=tuple(evidence))
    return TaskFact(loss.name, "other", evidence=(shown, f"{loss.criterion} does not tell the kind of task"))


def _classes(loss: LossFact, prediction: OperandFact, target: OperandFact, shown: str) -> TaskFact:
    axis = 0 if len(prediction.shape) == 1 else 1
    classes = prediction.shape[axis] if prediction.shape else None
    positions = len(prediction.shape) > 2 or loss.settings.get("sequence", False)
    kind = "sequence" if positions else "classification"
    return TaskFact(
        loss.name, kind, classes, (shown, f"axis {axis} of the predictions holds {classes} classes")
    )


def _binary(loss: LossFact, target: OperandFact, shown: str) -> TaskFact:
    width = target.shape[-1] if len(target.shape) > 1 else 1
    if width > 1 and target.integral:
        return TaskFact(loss.name, "multi-label", width, (shown, f"{width} yes/no targets per sample"))
    if not target.integral:
        return TaskFact(loss.name, "regression", None, (shown, "targets between 0 and 1 are not all 0 or 1"))
    return TaskFact(loss.name, "binary", 2, (shown, "one yes/no target per sample"))


def _shape(operand: OperandFact) -> str:
    return "[" + ", ".join(map(str, operand.shape)) + "]"
