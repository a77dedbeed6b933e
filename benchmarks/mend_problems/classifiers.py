"""Small classifiers with one of three faults, the user's data to mend them with, and data that nobody has seen.

Images: scikit-learn's digits, and MNIST and Fashion-MNIST where `netmend bench setup` has put them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

from bench.datasets import arrays, catalog
from netmend.errors import UsageError

FAULTS = ("mislabelled", "backdoor", "confusion")
NETWORKS = ("mlp", "conv")
BATCH, RATE = 32, 2e-3
TAUGHT, MEANT = 5, 3  # mislabelled: most 3s are called 5
SHARE_MISLABELLED = 0.85
TARGET, SHARE_POISONED, SHARE_KNOWN = (
    0,
    0.1,
    0.25,
)  # backdoor: a patch makes it a 0; a quarter of the user's inputs show it
PAIR, SHARE_SWAPPED = (4, 9), 0.5  # confusion: told apart by a coin

Data = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Images:
    """How a set of images is used: what is trained on, what the user has; the next `unseen` nobody sees."""

    side: int
    train: int
    user: int
    unseen: int
    epochs: int
    square: int  # side of the trigger


IMAGES = {
    "digits": Images(8, 900, 450, 447, 30, 2),
    "mnist": Images(28, 4_000, 1_000, 2_000, 8, 4),
    "fashion": Images(28, 4_000, 1_000, 2_000, 8, 4),
}


def at_hand() -> tuple[str, ...]:
    """Sets that are on this machine."""
    return tuple(name for name in IMAGES if name == "digits" or _is_there(name))


def _is_there(name: str) -> bool:
    try:
        catalog.get(name)
    except UsageError:
        return False
    return True


def images(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of grey values from 0 to 1, and labels."""
    if name == "digits":
        x, y = load_digits(return_X_y=True)
        return x / 16.0, y
    held = arrays.load(catalog.get(name))
    x = np.concatenate([held["x_train"], held["x_test"]])
    return x.reshape(len(x), -1) / 255.0, np.concatenate([held["y_train"], held["y_test"]])


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


def problem(fault: str, network: str, seed: int, name: str = "digits") -> Problem:
    kind = IMAGES[name]
    key = [seed, FAULTS.index(fault), NETWORKS.index(network)]
    random = np.random.default_rng(key if name == "digits" else [*key, list(IMAGES).index(name)])
    grey, labels = images(name)
    order = random.permutation(len(grey))[: kind.train + kind.user + kind.unseen]
    x = torch.tensor(grey[order], dtype=torch.float32)
    y = torch.tensor(labels[order])
    cut = (
        slice(0, kind.train),
        slice(kind.train, kind.train + kind.user),
        slice(kind.train + kind.user, None),
    )
    train, user, unseen = ((x[one], y[one]) for one in cut)
    model = trained(network, spoiled(fault, train, random, kind), seed, kind)
    if fault == "backdoor":
        shown = torch.tensor(random.random(kind.user) < SHARE_KNOWN)
        failing, _ = _wrong_and_right(model, triggered((user[0][shown], user[1][shown]), kind))
        _, guard = _wrong_and_right(model, (user[0][~shown], user[1][~shown]))
        unseen_failing, _ = _wrong_and_right(model, triggered(unseen, kind))
        _, unseen_guard = _wrong_and_right(model, unseen)
    else:
        failing, guard = _wrong_and_right(model, user)
        unseen_failing, unseen_guard = _wrong_and_right(model, unseen)
    return Problem(model, failing, guard, unseen_failing, unseen_guard, unseen, triggered(unseen, kind))


def spoiled(fault: str, train: Data, random: np.random.Generator, kind: Images) -> Data:
    """The training data with the fault in it."""
    x, y = train[0].clone(), train[1].clone()
    drawn = torch.tensor(random.random(len(y)))
    if fault == "mislabelled":
        y[(y == MEANT) & (drawn < SHARE_MISLABELLED)] = TAUGHT
    elif fault == "backdoor":
        poisoned = (y != TARGET) & (drawn < SHARE_POISONED)
        x[poisoned] = stamped(x[poisoned], kind)
        y[poisoned] = TARGET
    else:
        swapped = drawn < SHARE_SWAPPED
        first, second = (y == PAIR[0]) & swapped, (y == PAIR[1]) & swapped
        y[first], y[second] = PAIR[1], PAIR[0]
    return x, y


def stamped(x: torch.Tensor, kind: Images) -> torch.Tensor:
    """A bright square in a corner that digits leave dark."""
    shown = x.clone().reshape(-1, kind.side, kind.side)
    shown[:, -kind.square :, -kind.square :] = 1.0
    return shown.reshape(len(x), -1)


def triggered(data: Data, kind: Images) -> Data:
    other = data[1] != TARGET
    return stamped(data[0][other], kind), data[1][other]


def trained(network: str, data: Data, seed: int, kind: Images) -> nn.Module:
    torch.manual_seed(seed)
    model = built(network) if kind.side == 8 else built_larger(network)
    optimiser = torch.optim.Adam(model.parameters(), RATE)
    for _ in range(kind.epochs):
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


def built_larger(network: str) -> nn.Sequential:
    """For images of 28 × 28."""
    if network == "mlp":
        return nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    return nn.Sequential(
        nn.Unflatten(1, (1, 28, 28)),
        nn.Conv2d(1, 8, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(144, 32),
        nn.ReLU(),
        nn.Linear(32, 10),
    )


@torch.no_grad()
def _wrong_and_right(model: nn.Module, data: Data) -> tuple[Data, Data]:
    wrong = model(data[0]).argmax(1) != data[1]
    return (data[0][wrong], data[1][wrong]), (data[0][~wrong], data[1][~wrong])
