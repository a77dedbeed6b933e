"""The kind of task, judged by what a loss is given."""

from __future__ import annotations

import pytest

from netmend.observe.targets import task_of
from netmend.vocabulary import LossFact, OperandFact

Shape = tuple[int, ...]


def loss(
    criterion: str, prediction: Shape, target: Shape, dtype: str = "float32", **facts: object
) -> LossFact:
    operands = (
        OperandFact("prediction", prediction, "float32", requires_grad=True),
        OperandFact("target", target, dtype, **facts),  # type: ignore[arg-type]
    )
    return LossFact("loss", criterion, operands=operands)


@pytest.mark.parametrize(
    ("fact", "kind", "classes"),
    [
        (loss("cross_entropy", (8, 10), (8,), "int64"), "classification", 10),
        (loss("nll_loss", (8, 4), (8,), "int64"), "classification", 4),
        (loss("cross_entropy", (10,), (), "int64"), "classification", 10),
        (loss("cross_entropy", (8, 10, 30), (8, 30), "int64"), "sequence", 10),
        (loss("binary_cross_entropy", (8, 1), (8, 1), integral=True), "binary", 2),
        (loss("binary_cross_entropy_with_logits", (8,), (8,), integral=True), "binary", 2),
        (loss("binary_cross_entropy_with_logits", (8, 5), (8, 5), integral=True), "multi-label", 5),
        (loss("binary_cross_entropy", (8, 784), (8, 784), integral=False), "regression", None),
        (loss("mse_loss", (8, 1), (8, 1)), "regression", None),
        (loss("huber_loss", (8, 1), (8, 1)), "regression", None),
        (loss("ctc_loss", (8, 1), (8, 1)), "other", None),
        (LossFact("loss"), "other", None),
    ],
)
def test_kinds(fact: LossFact, kind: str, classes: int | None) -> None:
    task = task_of(fact)
    assert (task.name, task.kind, task.classes) == ("loss", kind, classes)
    assert task.evidence


def test_evidence_names_shapes_and_types() -> None:
    (first, *_) = task_of(loss("cross_entropy", (8, 10), (8,), "int64")).evidence
    assert "[8, 10]" in first and "[8]" in first and "int64" in first


def test_class_ids_given_to_a_regression_loss_are_remarked_upon() -> None:
    few = task_of(loss("mse_loss", (8, 1), (8, 1), integral=True, distinct=3))
    many = task_of(loss("mse_loss", (8, 1), (8, 1), integral=True, distinct=500))
    assert any("class ids" in sentence for sentence in few.evidence)
    assert not any("class ids" in sentence for sentence in many.evidence)
