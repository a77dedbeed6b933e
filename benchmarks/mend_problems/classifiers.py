"""Small classifiers of digits with one of three faults, the user's data to mend them with, and data that nobody has seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

FAULTS = ("mislabelled", "backdoor", "confusion")
NETWORKS = ("mlp", "conv")
TRAIN, USER = 900, 450  # of 1,797 digits; the other 447 are unseen
EPOCHS, BATCH, RATE = 30, 32, 2e-3
TAUGHT, MEANT = 5, 3  # mislabelled: most 3s are called 5
SHARE_MISLABELLED = 0.85
TARGET, SHARE_POISONED, SHARE_KNOWN = (
    0,
    0.1,
    0.25,
)  # backdoor: a patch makes it a 0; a quarter of the user's inputs show it
PAIR, SHARE_SWAPPED = (4, 9), 0.5  # confusion: told apart by a coin

Data = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True, eq=False)
class Problem:
    """What the user has (failing and passing) and what is unseen: all of it, and the same with the trigger."""

    model: nn.Module
    failing: Data
    guard: Data
    unseen_failing: Data
    unseen_guard: Data
    clean: Data
    triggered: Data


def problem(fault: str, network: str, seed: int) -> Problem:
    random = np.random.default_rng([seed, FAULTS.index(fault), NETWORKS.index(network)])
    images, labels = load_digits(return_X_y=True)
    order = random.permutation(len(images))
    x = torch.tensor(images[order] / 16.0, dtype=torch.float32)
    y = torch.tensor(labels[order])
    cut = (slice(0, TRAIN), slice(TRAIN, TRAIN + USER), slice(TRAIN + USER, None))
    train, user, unseen = ((x[one], y[one]) for one in cut)
    model = trained(network, spoiled(fault, train, random), seed)
    if fault == "backdoor":
        shown = torch.tensor(random.random(USER) < SHARE_KNOWN)
        failing, _ = _wrong_and_right(model, triggered((user[0][shown], user[1][shown])))
        _, guard = _wrong_and_right(model, (user[0][~shown], user[1][~shown]))
        unseen_failing, _ = _wrong_and_right(model, triggered(unseen))
        _, unseen_guard = _wrong_and_right(model, unseen)
    else:
        failing, guard = _wrong_and_right(model, user)
        unseen_failing, unseen_guard = _wrong_and_right(model, unseen)
    return Problem(model, failing, guard, unseen_failing, unseen_guard, unseen, triggered(unseen))


def spoiled(fault: str, train: Data, random: np.random.Generator) -> Data:
    """The training data with the fault in it."""
    x, y = train[0].clone(), train[1].clone()
    drawn = torch.tensor(random.random(len(y)))
    if fault == "mislabelled":
        y[(y == MEANT) & (drawn < SHARE_MISLABELLED)] = TAUGHT
    elif fault == "backdoor":
        poisoned = (y != TARGET) & (drawn < SHARE_POISONED)
        x[poisoned] = stamped(x[poisoned])
        y[poisoned] = TARGET
    else:
        swapped = drawn < SHARE_SWAPPED
        first, second = (y == PAIR[0]) & swapped, (y == PAIR[1]) & swapped
        y[first], y[second] = PAIR[1], PAIR[0]
    return x, y


def stamped(x: torch.Tensor) -> torch.Tensor:
    """A bright square in a corner that digits leave dark."""
    images = x.clone().reshape(-1, 8, 8)
    images[:, 6:, 6:] = 1.0
    return images.reshape(len(x), -1)


def triggered(data: Data) -> Data:
    other = data[1] != TARGET
    return stamped(data[0][other]), data[1][other]


def trained(network: str, data: Data, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    model = built(network)
    optimiser = torch.optim.Adam(model.parameters(), RATE)
    for _ in range(EPOCHS):
        for places in torch.randperm(len(data[1])).split(BATCH):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(data[0][places]), data[1][places]).backward()
            optimiser.step()
    return model.eval()


def built(network: str) -> nn.Sequential:
    if network == "mlp":
        return nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 10))
    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(8, 16, 3, padding=1, stride=2),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64, 32),
        nn.ReLU(),
        nn.Linear(32, 10),
    )


@torch.no_grad()
def _wrong_and_right(model: nn.Module, data: Data) -> tuple[Data, Data]:
    wrong = model(data[0]).argmax(1) != data[1]
    return (data[0][wrong], data[1][wrong]), (data[0][~wrong], data[1][~wrong])
