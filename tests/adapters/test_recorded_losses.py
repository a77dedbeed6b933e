"""Facts about objectives: form, criterion, settings, operands, and the task that is read from them."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import Recorded, record

from netmend.vocabulary import FunctionFact, OperandFact, TaskFact

PROGRAM = """
{data}
net = nn.Sequential({layers})
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
{before}
for step in range(4):
    optimizer.zero_grad()
    out = net(x)
    {loss}
    loss.backward()  # <- backward
    optimizer.step()
"""
CLASSES = "x, y = torch.randn(12, 4), torch.arange(12) % 3"
VALUES = "x = torch.randn(12, 4); y = x.sum(1, keepdim=True) * 3 + 2"
YES_NO = "x = torch.randn(12, 4); y = (x[:, :1] > 0).float()"


def program(data: str, layers: str, loss: str, before: str = "") -> str:
    return PROGRAM.format(data=data, layers=layers, loss=f"{loss}  # <- loss", before=before)


def operand(done: Recorded, role: str) -> OperandFact:
    (found,) = [o for o in done.loss.operands if o.role == role]
    return found


@pytest.mark.parametrize(
    ("data", "width", "loss", "before", "criterion", "form"),
    [
        (CLASSES, 3, "loss = rule(out, y)", "rule = nn.CrossEntropyLoss()", "cross_entropy", "module"),
        (CLASSES, 3, "loss = F.cross_entropy(out, y)", "", "cross_entropy", "function"),
        (CLASSES, 3, "loss = F.nll_loss(out.log_softmax(1), y)", "", "nll_loss", "function"),
        (VALUES, 1, "loss = rule(out, y)", "rule = nn.MSELoss()", "mse_loss", "module"),
        (VALUES, 1, "loss = F.huber_loss(input=out, target=y)", "", "huber_loss", "function"),
        (VALUES, 1, "loss = ((out - y) ** 2).mean()", "", "mse_loss", "expression"),
        (VALUES, 1, "loss = (y - out).pow(2).sum()", "", "mse_loss", "expression"),
        (VALUES, 1, "loss = (out - y).abs().mean()", "", "l1_loss", "expression"),
        (
            CLASSES,
            3,
            "loss = -out.log_softmax(1).gather(1, y[:, None]).mean()",
            "",
            "cross_entropy",
            "expression",
        ),
        (
            CLASSES,
            3,
            "loss = -(F.one_hot(y, 3) * out.softmax(1).log()).sum(1).mean()",
            "",
            "cross_entropy",
            "expression",
        ),
        (
            YES_NO,
            1,
            "p = out.sigmoid(); loss = -(y * p.log() + (1 - y) * (1 - p).log()).mean()",
            "",
            "binary_cross_entropy_with_logits",  # of what the model returned
            "expression",
        ),
        (VALUES, 1, "loss = out.square().mean().exp()", "", "expression", "expression"),
    ],
)
def test_criterion_and_form_of_the_objective(
    tmp_path: Path, data: str, width: int, loss: str, before: str, criterion: str, form: str
) -> None:
    done = record(tmp_path, program(data, f"nn.Linear(4, {width})", loss, before))
    assert (done.loss.criterion, done.loss.form) == (criterion, form)
    assert done.at("loss", done.loss.called)
    assert done.at("backward", done.loss.backward)
    assert done.loss.operations


def test_settings_and_creation_of_a_loss_module(tmp_path: Path) -> None:
    rule = "rule = nn.CrossEntropyLoss(torch.tensor([1.0, 2.0, 0.5]), label_smoothing=0.1, ignore_index=7)  # <- rule"
    done = record(tmp_path, program(CLASSES, "nn.Linear(4, 3)", "loss = rule(out, y)", rule))
    settings = done.loss.settings
    assert list(settings["weight"]) == [1.0, 2.0, 0.5] and settings["label_smoothing"] == 0.1
    assert settings["reduction"] == "mean" and settings["ignore_index"] == 7
    assert done.at("rule", done.loss.created)


def test_softmax_before_cross_entropy_shows_in_the_row_sums(tmp_path: Path) -> None:
    layers = "nn.Linear(4, 3), nn.Softmax(dim=1)"
    done = record(tmp_path, program(CLASSES, layers, "loss = F.cross_entropy(out, y)"))
    given = operand(done, "prediction")
    assert given.rows_sum_to_one is True
    assert given.minimum is not None and given.minimum >= 0


@pytest.mark.parametrize(
    "layers",
    ["nn.Linear(4, 3)", "nn.Linear(4, 3), nn.Sigmoid()", "nn.Linear(4, 3), nn.LogSoftmax(dim=1)"],
)
def test_other_predictions_do_not_sum_to_one(tmp_path: Path, layers: str) -> None:
    done = record(tmp_path, program(CLASSES, layers, "loss = F.cross_entropy(out, y)"))
    assert operand(done, "prediction").rows_sum_to_one is False


def test_broadcasting_shapes_are_kept_as_they_were_given(tmp_path: Path) -> None:
    data = "x = torch.randn(12, 4); y = x.sum(1)"
    done = record(tmp_path, program(data, "nn.Linear(4, 1)", "loss = rule(out, y)", "rule = nn.MSELoss()"))
    assert operand(done, "prediction").shape == (12, 1)
    assert operand(done, "target").shape == (12,)


def test_broadcasting_is_visible_in_a_hand_written_loss(tmp_path: Path) -> None:
    data = "x = torch.randn(12, 4); y = x.sum(1)"
    done = record(tmp_path, program(data, "nn.Linear(4, 1)", "loss = ((out - y) ** 2).mean()"))
    assert done.loss.criterion == "mse_loss"
    assert [o.shape for o in done.loss.operands] == [(12, 1), (12,)]


def test_ranges_and_types_of_operands(tmp_path: Path) -> None:
    data = "x = torch.randn(12, 4); y = torch.tensor([[0.5], [-2.0], [7.25]]).repeat(4, 1)"
    done = record(
        tmp_path, program(data, "nn.Linear(4, 1)", "first = out.detach(); loss = F.mse_loss(out, y)")
    )
    target, given = operand(done, "target"), operand(done, "prediction")
    assert (target.minimum, target.maximum, target.dtype, target.distinct) == (-2.0, 7.25, "float32", 3)
    assert target.mean == pytest.approx(23.0 / 12) and target.std == pytest.approx(3.9069, abs=1e-3)
    assert target.integral is False and not target.requires_grad and given.requires_grad
    done = record(tmp_path, program(CLASSES, "nn.Linear(4, 3)", "loss = F.cross_entropy(out, y)"))
    target = operand(done, "target")
    assert (target.minimum, target.maximum, target.dtype, target.distinct) == (0.0, 2.0, "int64", 3)
    assert target.integral is True


def test_a_graph_that_is_cut_shows_in_the_prediction(tmp_path: Path) -> None:
    loss = "loss = F.mse_loss(out.detach(), y) + 0 * out.sum()"
    done = record(tmp_path, program(VALUES, "nn.Linear(4, 1)", loss))
    (called,) = [fact for fact in done.trace.losses if fact.form == "function"]
    (given,) = [o for o in called.operands if o.role == "prediction"]
    assert not given.requires_grad
    (cut,) = [f for f in done.trace.all(FunctionFact) if f.kind == "graph cut"]
    assert cut.function == "detach" and done.at("loss", cut.site)


TASKS = [
    (CLASSES, "nn.Linear(4, 3)", "loss = F.cross_entropy(out, y)", "classification", 3),
    (CLASSES, "nn.Linear(4, 5)", "loss = F.nll_loss(out.log_softmax(1), y)", "classification", 5),
    (CLASSES, "nn.Linear(4, 3)", "loss = F.cross_entropy(out, F.one_hot(y).float())", "classification", 3),
    (YES_NO, "nn.Linear(4, 1)", "loss = F.binary_cross_entropy_with_logits(out, y)", "binary", 2),
    (YES_NO, "nn.Linear(4, 1), nn.Sigmoid()", "loss = F.binary_cross_entropy(out, y)", "binary", 2),
    (
        "x = torch.randn(12, 4); y = (x > 0).float()",
        "nn.Linear(4, 4)",
        "loss = F.binary_cross_entropy_with_logits(out, y)",
        "multi-label",
        4,
    ),
    (VALUES, "nn.Linear(4, 1)", "loss = F.mse_loss(out, y)", "regression", None),
    (VALUES, "nn.Linear(4, 1)", "loss = F.l1_loss(out, y)", "regression", None),
    (VALUES, "nn.Linear(4, 1)", "loss = ((out - y) ** 2).mean()", "regression", None),
    (
        "x = torch.randint(7, (6, 5)); y = torch.randint(7, (6, 5))",
        "nn.Embedding(7, 8), nn.Linear(8, 7)",
        "loss = F.cross_entropy(out.transpose(1, 2), y)",
        "sequence",
        7,
    ),
    (
        "x = torch.randn(12, 4); y = None",
        "nn.Linear(4, 1)",
        "loss = out.square().mean().exp()",
        "other",
        None,
    ),
    (
        "x = torch.randn(12, 4); y = None",
        "nn.Linear(4, 2)",
        "loss = F.triplet_margin_loss(out[:4], out[4:8], out[8:])",
        "other",
        None,
    ),
]


@pytest.mark.parametrize(("data", "layers", "loss", "kind", "classes"), TASKS)
def test_task_kinds_with_their_number_of_classes(
    tmp_path: Path, data: str, layers: str, loss: str, kind: str, classes: int | None
) -> None:
    done = record(tmp_path, program(data, layers, loss))
    (task,) = done.trace.all(TaskFact)
    assert (task.kind, task.classes) == (kind, classes)
    assert task.evidence and task.name == done.loss.name


def test_a_flattened_sequence_is_still_a_sequence(tmp_path: Path) -> None:
    data = "x = torch.randint(7, (6, 5)); y = torch.randint(7, (6, 5))"
    loss = "loss = F.cross_entropy(out.reshape(-1, 7), y.reshape(-1))"
    done = record(tmp_path, program(data, "nn.Embedding(7, 8), nn.Linear(8, 7)", loss))
    (task,) = done.trace.all(TaskFact)
    assert (task.kind, task.classes) == ("sequence", 7)


def test_several_terms_of_one_objective_are_all_facts(tmp_path: Path) -> None:
    loss = "loss = F.mse_loss(out[:, :1], y) + 0.1 * F.l1_loss(out[:, 1:], y)"
    done = record(tmp_path, program(VALUES, "nn.Linear(4, 2)", loss))
    criteria = {fact.criterion: fact for fact in done.trace.losses}
    assert set(criteria) == {"mse_loss", "l1_loss", "expression"}
    objective = criteria["expression"]
    assert list(objective.settings["terms"]) == [criteria["mse_loss"].name, criteria["l1_loss"].name]
    assert done.at("backward", objective.backward) and criteria["mse_loss"].backward is None


def test_class_ids_as_real_targets_are_told_in_the_evidence(tmp_path: Path) -> None:
    data = "x = torch.randn(12, 4); y = (torch.arange(12) % 3).float()[:, None]"
    done = record(tmp_path, program(data, "nn.Linear(4, 1)", "loss = F.mse_loss(out, y)"))
    (task,) = done.trace.all(TaskFact)
    assert task.kind == "regression" and any("class ids" in sentence for sentence in task.evidence)


def paths(done: Recorded) -> list[FunctionFact]:
    return [fact for fact in done.trace.all(FunctionFact) if fact.kind == "loss path"]


def test_what_made_a_prediction_is_kept_from_the_last_operation_on(tmp_path: Path) -> None:
    layers = "nn.Linear(4, 1), nn.Sigmoid()"
    done = record(tmp_path, program(YES_NO, layers, "loss = F.binary_cross_entropy(out, y) + 0 * out.sum()"))
    (called,) = [fact for fact in done.trace.losses if fact.form == "function"]
    (given,) = [o for o in called.operands if o.role == "prediction"]
    assert given.path[:2] == ("SigmoidBackward0", "AddmmBackward0")
    assert not [o for o in called.operands if o.role == "target" and o.path]


@pytest.mark.parametrize(
    ("layers", "axes", "log_axes"),
    [
        ("nn.Linear(4, 3)", (), ()),
        ("nn.Linear(4, 3), nn.Softmax(dim=1)", (1,), ()),
        ("nn.Linear(4, 3), nn.Softmax(dim=0)", (0,), ()),
        ("nn.Linear(4, 3), nn.LogSoftmax(dim=1)", (), (1,)),
        ("nn.Linear(4, 3), nn.LogSoftmax(dim=0)", (), (0,)),
        ("nn.Linear(4, 3), nn.Sigmoid()", (), ()),
    ],
)
def test_axes_along_which_predictions_sum_to_one(
    tmp_path: Path, layers: str, axes: tuple[int, ...], log_axes: tuple[int, ...]
) -> None:
    done = record(tmp_path, program(CLASSES, layers, "loss = F.cross_entropy(out, y)"))
    given = operand(done, "prediction")
    assert (given.normalised_axes, given.log_normalised_axes) == (axes, log_axes)


def test_axes_along_which_targets_sum_to_one(tmp_path: Path) -> None:
    done = record(
        tmp_path, program(CLASSES, "nn.Linear(4, 3)", "loss = F.cross_entropy(out, F.one_hot(y).float())")
    )
    assert operand(done, "target").normalised_axes == (1,)


@pytest.mark.parametrize(
    ("loss", "function"),
    [
        ("loss = F.cross_entropy(torch.softmax(out, 1), y)", "softmax"),
        ("loss = F.cross_entropy(nn.Sigmoid()(out), y)", "sigmoid"),
        ("loss = F.nll_loss(out.log_softmax(1), y)", "log_softmax"),
    ],
)
def test_activations_between_output_and_loss_have_their_line(
    tmp_path: Path, loss: str, function: str
) -> None:
    done = record(tmp_path, program(CLASSES, "nn.Linear(4, 3)", loss))
    (fact,) = paths(done)
    assert fact.function == function and fact.output_shape == (12, 3) and done.at("loss", fact.site)


def test_shapes_that_grow_in_a_hand_written_loss_are_told_with_their_line(tmp_path: Path) -> None:
    data = "x = torch.randn(12, 4); y = x.sum(1)"
    loss = "loss = torch.log(torch.cosh(out - y)).mean() + 0.01 * out.abs().mean()"
    done = record(tmp_path, program(data, "nn.Linear(4, 1)", loss))
    (fact,) = paths(done)
    assert (tuple(fact.settings["first"]), tuple(fact.settings["second"])) == ((12, 1), (12,))
    assert fact.output_shape == (12, 12) and done.at("loss", fact.site)
    assert fact.settings["first_needs_gradient"] and not fact.settings["second_needs_gradient"]


def test_shapes_that_fit_are_not_told(tmp_path: Path) -> None:
    loss = "loss = ((out - y) ** 2 * torch.ones(1)).mean()"
    assert paths(record(tmp_path, program(VALUES, "nn.Linear(4, 1)", loss))) == []


@pytest.mark.parametrize(
    ("data", "width", "loss", "criterion"),
    [
        (CLASSES, 3, "loss = out.log_softmax(1).gather(1, y[:, None]).mean()", "cross_entropy"),
        (VALUES, 1, "loss = -((out - y) ** 2).mean()", "mse_loss"),
        (VALUES, 1, "loss = -F.mse_loss(out, y)", "expression"),
        (VALUES, 1, "loss = -1 * F.l1_loss(out, y)", "expression"),
    ],
)
def test_a_turned_sign_is_noticed(tmp_path: Path, data: str, width: int, loss: str, criterion: str) -> None:
    done = record(tmp_path, program(data, f"nn.Linear(4, {width})", loss))
    (fact,) = [fact for fact in done.trace.losses if fact.backward is not None]
    assert fact.criterion == criterion and fact.settings["negated"] is True


def test_an_upright_sum_of_losses_is_not_turned(tmp_path: Path) -> None:
    loss = "loss = F.mse_loss(out, y) - 0.1 * out.mean()"
    done = record(tmp_path, program(VALUES, "nn.Linear(4, 1)", loss))
    assert not any(fact.settings.get("negated") for fact in done.trace.losses)


def test_a_loss_first_met_in_evaluation_is_described_again_in_training(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        """
        x, y = torch.randn(12, 4), torch.arange(12) % 3
        net = nn.Linear(4, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        def cost():
            return F.cross_entropy(net(x), y)
        with torch.no_grad():
            cost()
        for step in range(3):
            optimizer.zero_grad()
            cost().backward()
            optimizer.step()
        """,
    )
    (given,) = [o for o in done.loss.operands if o.role == "prediction"]
    assert given.requires_grad and given.path and done.loss.backward is not None


def test_shapes_that_grow_are_seen_behind_a_forward_pass_of_another_network(tmp_path: Path) -> None:
    data = "x = torch.randn(12, 4); target = nn.Linear(4, 1)"
    loss = "future = target(x).detach().squeeze(1); loss = (out - future).pow(2).mean()"
    done = record(tmp_path, program(data, "nn.Linear(4, 1)", f"with torch.no_grad(): target(x)\n    {loss}"))
    (fact,) = [fact for fact in paths(done) if "first" in fact.settings]
    assert fact.output_shape == (12, 12) and fact.site is not None


def test_pairs_written_out_are_told_as_they_are(tmp_path: Path) -> None:
    data = "x = torch.randn(12, 4); y = x.sum(1)"
    loss = "loss = (out - y[None, :]).abs().mean()"
    (fact,) = paths(record(tmp_path, program(data, "nn.Linear(4, 1)", loss)))
    assert tuple(fact.settings["second"]) == (1, 12)


def test_small_numbers_beside_large_predictions_are_no_targets(tmp_path: Path) -> None:
    """The quantiles of a pinball loss seem to be met by anything that is a hundred thousand times larger."""
    done = record(
        tmp_path,
        """
quantiles = torch.tensor([0.1, 0.5, 0.9])
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), 5e5 + 1e5 * torch.rand(16, 1)
for step in range(4):
    optimizer.zero_grad()
    error = y - net(x)
    torch.maximum(quantiles * error, (quantiles - 1) * error).mean().backward()
    optimizer.step()
""",
    )
    assert {loss.criterion for loss in done.trace.losses} == {"expression"}
