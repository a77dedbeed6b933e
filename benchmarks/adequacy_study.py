"""What the adequacy measures can tell: weakened test sets, and orders of inputs to label, on scikit-learn's digits.

    python benchmarks/adequacy_study.py [--first 100] [--seeds 5] [--json benchmarks/results/adequacy-study.json]

The limits of the verdicts were set while looking at seeds 0 to 4; the published result is of seeds from 100 on.
Each seed splits the digits anew (1,000 training, 400 test, 397 others) and trains a small convolutional network.

1. Test sets: the full one, random halves of it (nothing is wrong with them but the number), and three that are weakened: classes left
   out, few inputs, easy inputs (those that the network is surest of). Does a measure get lower, and does the comparison with as
   many training inputs say so?
2. Orders: of the other inputs, half are corrupted (noise, a shift, a covered patch). How soon does each order find those that
   the network gets wrong (APFD)? A random order is measured, not assumed.
3. Plain neuron coverage, which netmend does not offer: how many inputs fill it?
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

from netmend.adequacy.result import Adequacy
from netmend.adequacy.session import adequacy
from netmend.report.adequacy import verdict_words

RESULT = Path(__file__).parent / "results" / "adequacy-study.json"
TRAIN, TEST = 1000, 400
EPOCHS = 15
RANDOM_ORDERS = 20
WEAKENED = ("5 of 10 classes", "2 of 10 classes missing", "40 inputs", "the 200 surest")
HEALTHY = ("all 400", "random 200 (a)", "random 200 (b)")

Data = tuple[np.ndarray, np.ndarray]


def split(seed: int) -> tuple[Data, Data, Data]:
    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(x))
    x, y = (x / 16.0).astype(np.float32)[order], y[order]
    cuts = [slice(0, TRAIN), slice(TRAIN, TRAIN + TEST), slice(TRAIN + TEST, None)]
    first, second, third = ((x[cut], y[cut]) for cut in cuts)
    return first, second, third


def trained(train: Data, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    model = nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(512, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )
    x, y = torch.from_numpy(train[0]), torch.from_numpy(train[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
            optimizer.step()
    return model.eval()


def test_sets(model: nn.Module, test: Data, seed: int) -> dict[str, Data]:
    x, y = test
    random = np.random.default_rng(1000 + seed)
    with torch.no_grad():
        surest = np.argsort(-model(torch.from_numpy(x)).softmax(1).max(1).values.numpy())
    kept = random.permutation(10)
    chosen = {
        "all 400": np.arange(len(x)),
        "random 200 (a)": random.choice(len(x), 200, replace=False),
        "random 200 (b)": random.choice(len(x), 200, replace=False),
        "5 of 10 classes": np.flatnonzero(np.isin(y, kept[:5])),
        "2 of 10 classes missing": np.flatnonzero(np.isin(y, kept[:8])),
        "40 inputs": random.choice(len(x), 40, replace=False),
        "the 200 surest": surest[:200],
    }
    return {name: (x[places], y[places]) for name, places in chosen.items()}


def corrupted(data: Data, seed: int) -> Data:
    """Every second input is changed, in one of three ways."""
    random = np.random.default_rng(2000 + seed)
    x = data[0].copy().reshape(-1, 8, 8)
    for place in range(0, len(x), 2):
        way = (place // 2) % 3
        if way == 0:
            x[place] = np.clip(x[place] + random.normal(0, 0.35, (8, 8)), 0, 1)
        elif way == 1:
            x[place] = np.roll(x[place], random.choice([-2, 2]), axis=random.integers(2))
        else:
            top, left = random.integers(0, 5, 2)
            x[place, top : top + 4, left : left + 4] = 0
    return x.reshape(len(x), -1).astype(np.float32), data[1]


def numbers(found: Adequacy) -> dict[str, Any]:
    return {
        "summary": verdict_words(found)[1],
        "tone": verdict_words(found)[0],
        "value": {one.name: one.value for one in found.coverages},
        "relative": {one.name: one.relative for one in found.coverages},
        "standing": {one.name: one.standing for one in found.coverages},
        "middle": {one.name: one.middle for one in found.surprises},
        "beyond": {one.name: one.beyond for one in found.surprises},
        "right": found.sets[1].right,
    }


def orders(found: Adequacy, wrong: int, count: int, seed: int) -> dict[str, float]:
    """APFD of each order, and the mean of random ones with as many mistakes."""
    from netmend.adequacy.measures.label_orders import fault_order

    random = np.random.default_rng(3000 + seed)
    flags = np.arange(count) < wrong
    drawn = [fault_order(random.permutation(count), flags) for _ in range(RANDOM_ORDERS)]
    return {**dict(found.found), "random": float(np.mean(drawn))}


def neuron_coverage(model: nn.Module, test: Data) -> dict[str, float]:
    """The share of hidden units (each place of each channel) above 0 for some of the first inputs."""
    shares = {}
    for count in (1, 5, 20, 100, TEST):
        rows, active = torch.from_numpy(test[0][:count]), []
        with torch.no_grad():
            for layer in model:
                rows = layer(rows)
                if isinstance(layer, nn.ReLU):
                    active.append((rows > 0).flatten(1).any(dim=0))
        shares[str(count)] = float(torch.cat(active).float().mean())
    return shares


def study(first: int, seeds: int) -> dict[str, Any]:
    sets: dict[str, list[dict[str, Any]]] = defaultdict(list)
    apfd: list[dict[str, float]] = []
    accuracy, mistakes, seconds, neurons = [], [], [], []
    for seed in range(first, first + seeds):
        train, test, others = split(seed)
        model = trained(train, seed)
        for name, data in test_sets(model, test, seed).items():
            started = time.perf_counter()
            sets[name].append(numbers(adequacy(model, train, data, seed=seed)))
            seconds.append(time.perf_counter() - started)
        found = adequacy(model, train, corrupted(others, seed), seed=seed)
        neurons.append(neuron_coverage(model, test))
        accuracy.append(sets["all 400"][-1]["right"])
        mistakes.append(found.mistakes)
        apfd.append(orders(found, found.mistakes or 0, found.sets[1].looked, seed))
        print(
            f"seed {seed}: test accuracy {accuracy[-1]:.3f}, {mistakes[-1]} mistakes among corrupted inputs"
        )
    return {
        "data": "scikit-learn digits, 1,000 training, 400 test, 397 other inputs",
        "first_seed": first,
        "seeds": seeds,
        "test_accuracy": accuracy,
        "seconds_per_test_set": float(np.mean(seconds)),
        "sets": {name: summary(rows, sets["all 400"]) for name, rows in sets.items()},
        "apfd": {
            name: {
                "mean": float(np.mean(values)),
                "deviation": float(np.std(values, ddof=1)) if seeds > 1 else None,
            }
            for name, values in sorted(
                ((name, [one[name] for one in apfd]) for name in apfd[0]), key=lambda pair: -np.mean(pair[1])
            )
        },
        "apfd_mistakes": mistakes,
        "false_alarms": false_alarms(sets),
        "neuron_coverage": {size: float(np.mean([one[size] for one in neurons])) for size in neurons[0]},
    }


def summary(rows: list[dict[str, Any]], full: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over seeds; how often a value is below that of the full test set, and how often that is said."""
    told: dict[str, Any] = {
        "warned": sum(row["tone"] != "good" for row in rows),
        "summaries": sorted({row["summary"].split(":")[0] for row in rows}),
    }
    for name in rows[0]["value"]:
        told[name] = {
            "value": _mean([row["value"][name] for row in rows]),
            "relative": _mean([row["relative"][name] for row in rows]),
            "below_full": sum(
                row["value"][name] < other["value"][name] for row, other in zip(rows, full, strict=True)
            ),
            "said_less": sum(row["standing"][name] == "less" for row in rows),
            "said_more": sum(row["standing"][name] == "more" for row in rows),
        }
    for name in rows[0]["middle"]:
        told[name] = {key: _mean([row[key][name] for row in rows]) for key in ("middle", "beyond")}
    return told


def false_alarms(sets: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Test sets with nothing wrong: how often is something said?"""
    rows = [row for name in HEALTHY for row in sets[name]]
    names = rows[0]["standing"]
    return {
        "test_sets": len(rows),
        "warned": sum(row["tone"] != "good" for row in rows),
        "less": {name: sum(row["standing"][name] == "less" for row in rows) for name in names},
    }


def _mean(values: list[float]) -> float | None:
    known = [value for value in values if math.isfinite(value)]
    return float(np.mean(known)) if known else None


def show(result: dict[str, Any]) -> None:
    names = ("NLC", "LSC", "DSC", "MDSC")
    print(
        f"\n{'value (relative; seeds that say less)':26}"
        + "".join(f"{name:>22}" for name in names)
        + "   warned"
    )
    for title, told in result["sets"].items():
        cells = "".join(
            f"{told[name]['value']:>9.3f} ({told[name]['relative']:.2f}; {told[name]['said_less']})".rjust(22)
            for name in names
        )
        print(f"{title:37.37}{cells}   {told['warned']} of {result['seeds']}")
    print("\nAPFD on corrupted inputs: ", end="")
    print(", ".join(f"{name} {one['mean']:.3f}" for name, one in result["apfd"].items()))
    filled = ", ".join(f"{size} inputs {share:.3f}" for size, share in result["neuron_coverage"].items())
    print(f"neuron coverage: {filled}")
    alarms = result["false_alarms"]
    print(f"false alarms: {alarms['warned']} of {alarms['test_sets']} healthy test sets; {alarms['less']}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path, default=RESULT)
    options = parser.parse_args()
    torch.set_num_threads(1)
    result = study(options.first, options.seeds)
    show(result)
    options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"written to {options.json}")


if __name__ == "__main__":
    main()
