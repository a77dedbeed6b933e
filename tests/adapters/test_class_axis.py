"""Scores of classes on their way from the network to the loss: whether they are still read along the axis that they were written."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from recording import record

from netmend.adapters.torch.watch.loss_calls import Layout, classes_scrambled

IMAGES = torch.zeros(8, 5, 6, 7)  # sample, class, height, width
STEPS = torch.zeros(8, 6, 5)  # sample, time, class


@pytest.mark.parametrize(
    ("output", "prediction", "scrambled"),
    [
        (IMAGES, IMAGES, False),
        (IMAGES, IMAGES.reshape(-1, 5), True),
        (IMAGES, IMAGES.permute(0, 2, 3, 1).reshape(-1, 5), False),
        (IMAGES, IMAGES.flatten(2), False),
        (STEPS, STEPS.view(-1, 5), False),
        (STEPS, STEPS.transpose(1, 2), False),
        (STEPS, STEPS.view(8, 5, 6), True),
        (STEPS, STEPS.view(8, -1), False),  # other classes: nothing is known of them
        (torch.zeros(8, 5, 5), torch.zeros(8, 5, 5).view(-1, 5), False),  # other memory
        (STEPS[:, :, 0], STEPS[:, :, 0], False),
    ],
    ids=lambda value: "x".join(map(str, value.shape)) if isinstance(value, torch.Tensor) else str(value),
)
def test_views_between_network_and_loss(
    output: torch.Tensor, prediction: torch.Tensor, scrambled: bool
) -> None:
    assert classes_scrambled(Layout.of(output), prediction) is scrambled


def test_two_axes_of_one_size_are_left_alone() -> None:
    square = torch.zeros(8, 5, 5)
    assert not classes_scrambled(Layout.of(square), square.view(-1, 5))


PROGRAM = """
net = nn.Conv2d(1, 3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(4, 1, 6, 6), torch.zeros(4, 6, 6, dtype=torch.long)
for step in range(4):
    optimizer.zero_grad()
    flat = net(x){view}
    F.cross_entropy(flat, y.reshape(-1)).backward()  # <- loss
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("view", "told"), [(".reshape(-1, 3)", 1), (".permute(0, 2, 3, 1).reshape(-1, 3)", 0)]
)
def test_what_is_recorded_of_a_run(tmp_path: Path, view: str, told: int) -> None:
    done = record(tmp_path, PROGRAM.format(view=view))
    found = [probe for probe in done.trace.probes("axis order") if probe.values.get("classes")]
    assert len(found) == told
    assert all(tuple(probe.values["before"]) == (4, 3, 6, 6) for probe in found)
