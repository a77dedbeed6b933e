"""Fingerprints of batches: what makes leakage, missing shuffling, constant features and bad values visible."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import Recorded, record

from netmend.vocabulary import BatchPrint

PROGRAM = """
from torch.utils.data import DataLoader, TensorDataset
x = torch.randn(24, 5)
y = torch.arange(24) // 8
{data}
net = nn.Linear(5, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
train = DataLoader(TensorDataset(x[:16], y[:16]), batch_size=4, shuffle={shuffle})
held_out = DataLoader(TensorDataset(x[16:], y[16:]), batch_size=4)
for epoch in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        F.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        for inputs, labels in held_out:
            F.cross_entropy(net(inputs), labels)
"""


def trained(folder: Path, data: str = "", shuffle: bool = False) -> Recorded:
    return record(folder, PROGRAM.format(data=data, shuffle=shuffle))


def of_phase(done: Recorded, phase: str) -> list[BatchPrint]:
    return [batch for batch in done.trace.batches if batch.phase == phase]


def hashes(batches: list[BatchPrint]) -> list[int]:
    return [value for batch in batches for value in batch.hashes]


def test_every_sample_of_training_and_evaluation_has_its_hash(tmp_path: Path) -> None:
    done = trained(tmp_path)
    training, evaluation = of_phase(done, "training"), of_phase(done, "evaluation")
    assert [batch.step for batch in training] == list(range(8))
    assert {batch.size for batch in training} == {4} and {batch.model for batch in training} == {"net"}
    assert len(set(hashes(training))) == 16
    assert set(hashes(evaluation)).isdisjoint(hashes(training))


def test_equal_samples_have_equal_hashes_in_both_phases(tmp_path: Path) -> None:
    done = trained(tmp_path, data="x[16:20] = x[:4]")
    shared = set(hashes(of_phase(done, "training"))) & set(hashes(of_phase(done, "evaluation")))
    assert len(shared) == 4


def test_duplicates_within_the_training_data_show(tmp_path: Path) -> None:
    done = trained(tmp_path, data="x[9] = x[2]")
    first_epoch = hashes(of_phase(done, "training")[:4])
    assert len(first_epoch) == 16 and len(set(first_epoch)) == 15


def test_a_small_change_of_a_sample_changes_its_hash(tmp_path: Path) -> None:
    done = trained(tmp_path, data="x[9] = x[2]; x[9, 4] += 1e-6")
    assert len(set(hashes(of_phase(done, "training")[:4]))) == 16


def test_shuffling_shows_between_epochs_and_in_the_order_of_labels(tmp_path: Path) -> None:
    fixed = of_phase(trained(tmp_path, shuffle=False), "training")
    assert hashes(fixed[:4]) == hashes(fixed[4:])
    assert sum(batch.label_changes or 0 for batch in fixed) == 0  # sorted by class
    mixed = of_phase(trained(tmp_path, shuffle=True), "training")
    assert hashes(mixed[:4]) != hashes(mixed[4:])
    assert sorted(hashes(mixed[:4])) == sorted(hashes(mixed[4:]))
    assert sum(batch.label_changes or 0 for batch in mixed) > 0


def test_histograms_of_labels(tmp_path: Path) -> None:
    done = trained(tmp_path)
    training = of_phase(done, "training")
    assert [dict(batch.labels) for batch in training[:4]] == [{"0": 4}, {"0": 4}, {"1": 4}, {"1": 4}]
    assert [dict(batch.labels) for batch in of_phase(done, "evaluation")[:2]] == [{"2": 4}, {"2": 4}]


def test_statistics_per_feature_and_a_constant_feature(tmp_path: Path) -> None:
    done = trained(tmp_path, data="x[:, 2] = 7.0; x[:, 3] *= 1000")
    batch = of_phase(done, "training")[0]
    assert batch.feature_axis == "feature" and len(batch.features) == 5
    x = done.variables["x"][:4]
    for index, (mean, std, low, high) in enumerate(batch.features):
        column = x[:, index]
        assert mean == pytest.approx(float(column.mean()), rel=1e-5)
        assert std == pytest.approx(float(column.std(correction=0)), rel=1e-5, abs=1e-6)
        assert (low, high) == (float(column.min()), float(column.max()))
    for batch in of_phase(done, "training"):
        assert batch.features[2][1:] == (0.0, 7.0, 7.0)


def test_statistics_of_the_input(tmp_path: Path) -> None:
    done = trained(tmp_path)
    table = done.trace.table("input", "net")
    x = done.variables["x"][:4]
    assert table.steps.tolist() == list(range(8))
    assert table.column("mean")[0] == pytest.approx(float(x.mean()), rel=1e-5)
    assert table.column("std")[0] == pytest.approx(float(x.std(correction=0)), rel=1e-5)
    assert (table.column("minimum")[0], table.column("maximum")[0]) == (float(x.min()), float(x.max()))
    assert not table.column("nonfinite").any()


def test_values_in_the_input_that_are_not_finite_are_counted(tmp_path: Path) -> None:
    done = trained(tmp_path, data="x[5, 1] = float('nan'); x[6, 0] = float('inf')")
    assert done.trace.table("input", "net").column("nonfinite")[:4].tolist() == [0, 2, 0, 0]


@pytest.mark.parametrize(
    ("shape", "layers", "axis", "features"),
    [
        ("(12, 3, 4, 4)", "nn.Conv2d(3, 2, 3), nn.Flatten(), nn.Linear(8, 3)", "channel", 3),
        ("(12, 6, 5)", "nn.Linear(5, 2), nn.Flatten(), nn.Linear(12, 3)", "feature", 5),
    ],
)
def test_layouts_of_inputs(tmp_path: Path, shape: str, layers: str, axis: str, features: int) -> None:
    done = record(
        tmp_path,
        f"""
x, y = torch.randn({shape}), torch.arange(12) % 3
net = nn.Sequential({layers})
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(2):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
""",
    )
    batch = done.trace.batches[0]
    assert (batch.feature_axis, len(batch.features), batch.size) == (axis, features, 12)


def test_tokens_and_real_targets(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        """
x, y = torch.randint(9, (12, 6)), torch.randn(12, 1) + 5
net = nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(2):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
""",
    )
    batch = done.trace.batches[0]
    x, y = done.variables["x"], done.variables["y"]
    assert batch.feature_axis == "token" and len(set(batch.hashes)) == 12
    token, share, ending, different = batch.features[0]
    counts = x.flatten().bincount()
    assert counts[int(token)] == counts.max() and share == pytest.approx(float(counts.max()) / x.numel())
    assert (
        ending == pytest.approx(float((x[:, -1] == token).float().mean())) and different == (counts > 0).sum()
    )
    assert batch.target_mean == pytest.approx(float(y.mean()), rel=1e-5)
    assert batch.target_std == pytest.approx(float(y.std(correction=0)), rel=1e-5)
    assert not batch.labels


def test_targets_of_a_hand_written_loss_are_seen(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        """
x = torch.randn(12, 4)
y = x.sum(1, keepdim=True)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(2):
    optimizer.zero_grad()
    ((net(x) - y) ** 2).mean().backward()
    optimizer.step()
""",
    )
    assert done.trace.batches[0].target_std == pytest.approx(
        float(done.variables["y"].std(correction=0)), rel=1e-5
    )


def test_shifted_samples_do_not_collide(tmp_path: Path) -> None:
    # Equal numbers at other places, other signs, other scales: all different samples.
    data = "x = torch.cat([torch.eye(5), -torch.eye(5), torch.eye(5) * 2, torch.eye(5) / 2, torch.zeros(1, 5), torch.ones(3, 5) * torch.arange(1, 4)[:, None]])"
    done = trained(tmp_path, data=data)
    training, evaluation = hashes(of_phase(done, "training")[:4]), hashes(of_phase(done, "evaluation")[:2])
    assert len(set(training + evaluation)) == 24


CRITERION = """
from torch.utils.data import DataLoader, TensorDataset
x, y = torch.randn(24, 5), torch.arange(24) // 8

class Levels(nn.Module):
    def forward(self, scores, label):
        return F.binary_cross_entropy_with_logits(scores, {target})

net, criterion = nn.Linear(5, 3), Levels()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for inputs, labels in DataLoader(TensorDataset(x, y), batch_size=4):
    optimizer.zero_grad()
    criterion(net(inputs), labels).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("target", "means"),
    [
        ("F.one_hot(label, 3).float()", [1, 1, 2, 2, 3, 3]),
        (
            "(label[:, None] > torch.arange(3)).float()",
            [0, 0, 1, 1, 3, 3],
        ),
    ],
    ids=["one-hot", "several answers"],
)
def test_a_criterion_of_ones_own_is_given_no_data(tmp_path: Path, target: str, means: list[float]) -> None:
    """Its input is the network's answer; the targets belong to the batch that the network was given."""
    done = record(tmp_path, CRITERION.format(target=target))
    assert {batch.model for batch in done.trace.batches} == {"net"}
    assert [batch.target_mean for batch in done.trace.batches] == pytest.approx(means)
    assert {batch.target_std for batch in done.trace.batches} == {0.0}


def test_the_features_of_one_sample_are_no_batch(tmp_path: Path) -> None:
    program = """
net = nn.Linear(5, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for row in torch.randn(6, 5):
    optimizer.zero_grad()
    net(row).square().sum().backward()
    optimizer.step()
"""
    assert {batch.size for batch in of_phase(record(tmp_path, program), "training")} == {1}


PREPARED = """
from torch.utils.data import DataLoader, Dataset
class Scaled(nn.Module):
    def forward(self, sample):
        return sample * 2
class Samples(Dataset):
    train = False
    prepare = Scaled()
    def __len__(self):
        return 16
    def __getitem__(self, index):
        return self.prepare(torch.full((5,), float(index))), index // 2
net = nn.Linear(5, 8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for inputs, labels in DataLoader(Samples(), batch_size=4):
    optimizer.zero_grad()
    {change}
    F.cross_entropy(net(inputs), labels).backward()
    optimizer.step()
"""


def test_what_prepares_samples_in_a_data_set_is_no_model(tmp_path: Path) -> None:
    done = record(tmp_path, PREPARED.format(change="pass"))
    assert [model.name for model in done.trace.models] == ["net"]
    assert {batch.model for batch in done.trace.batches} == {"net"}


def test_a_data_set_says_which_part_it_holds(tmp_path: Path) -> None:
    (loader,) = record(tmp_path, PREPARED.format(change="pass")).trace.loaders
    assert loader.part == "test"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("pass", "same"),
        ("inputs = (inputs - 3) / 2", "same"),
        ("labels = labels.flip(0)", "permuted"),
        ("inputs = inputs + 1; labels = torch.roll(labels, 1)", "permuted"),
        ("labels = 7 - labels", "other"),
        ("inputs, labels = inputs.flip(0), labels.flip(0)", ""),  # moved together
        ("inputs = torch.rand(4, 5)", ""),  # other inputs: nothing is known of their order
    ],
)
def test_the_order_of_labels_is_compared_with_that_of_the_loader(
    tmp_path: Path, change: str, found: str
) -> None:
    probes = record(tmp_path, PREPARED.format(change=change)).trace.probes("handed labels")
    counts = {name: count for probe in probes for name, count in probe.values.items() if count}
    assert counts == ({found: 4} if found else {})


@pytest.mark.parametrize(
    ("change", "shifted"),
    [("(labels + 1) % 8", True), ("(labels - 2) % 8", True), ("labels + 1", False), ("labels // 2", False)],
)
def test_class_numbers_that_are_moved_on_are_told_from_other_codes(
    tmp_path: Path, change: str, shifted: bool
) -> None:
    program = PREPARED.replace("index // 2", "index % 4 * 2 + index % 2").replace("(5, 8)", "(5, 9)")
    (probe,) = record(tmp_path, program.format(change=f"labels = {change}")).trace.probes("handed labels")
    assert (probe.values["shifted"] > 0) == shifted
