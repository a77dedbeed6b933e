"""A configuration of the benchmark: layers, loss, optimiser and loop of one program, framework-free."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

# Keras 2 names without an argument mean this standard deviation.
_NORMAL = re.compile(r"random_normal(?:\(std=([0-9.]+)\))?$")


@dataclass(frozen=True)
class Layer:
    """One entry of the published layer list. Sizes that a kind of layer does not have are 0."""

    index: int
    kind: str  # dense, conv2d, maxpool2d, flatten, dropout, activation
    activation: str = "linear"
    units: int = 0
    filters: int = 0
    kernel: int = 0
    padding: str = "valid"
    pool: int = 0
    rate: float = 0.0
    kernel_init: str = "glorot_uniform"
    bias_init: str = "zeros"
    l1: float = 0.0  # factor of the penalty on its weights

    @property
    def has_weights(self) -> bool:
        return self.kind in ("dense", "conv2d")


@dataclass(frozen=True)
class Optimiser:
    name: str  # sgd, adam, rmsprop, adadelta
    rate: float
    is_default_rate: bool = False


@dataclass(frozen=True)
class Configuration:
    """All that one side (buggy or fixed) of a fault is described by."""

    input_shape: tuple[int, ...]
    layers: tuple[Layer, ...]
    loss: str
    optimiser: Optimiser
    batch_size: int
    epochs: int
    metric: str
    preprocessing: str = ""

    def with_layer(self, index: int, **changes: Any) -> Configuration:
        layers = tuple(replace(item, **changes) if item.index == index else item for item in self.layers)
        return replace(self, layers=layers)


def standard_deviation(initialiser: str) -> float | None:
    """Of a normal initialiser; None for others."""
    found = _NORMAL.match(initialiser)
    return None if found is None else float(found.group(1) or 0.05)


def parse(data: Mapping[str, Any]) -> Configuration:
    optimiser = data["optimizer"]
    return Configuration(
        input_shape=tuple(data["input_shape"]),
        layers=tuple(_layer(item) for item in data["layers"]),
        loss=data["loss"],
        optimiser=Optimiser(optimiser["name"], optimiser["lr"], optimiser["lr_is_framework_default"]),
        batch_size=data["batch_size"],
        epochs=data["epochs"],
        metric=data["metric"].split(" ")[0],
        preprocessing=data["preprocessing"],
    )


def _layer(item: Mapping[str, Any]) -> Layer:
    penalty = re.match(r"l1\(([0-9.]+)\)$", item.get("kernel_regularizer", ""))
    return Layer(
        index=item["index"],
        kind=item["type"],
        activation=item.get("activation", "linear"),
        units=item.get("units", 0),
        filters=item.get("filters", 0),
        kernel=item.get("kernel", [0])[0],
        padding=item.get("padding", "valid"),
        pool=item.get("pool", [0])[0],
        rate=item.get("rate", 0.0),
        kernel_init=item.get("kernel_init", "glorot_uniform"),
        bias_init=item.get("bias_init", "zeros"),
        l1=float(penalty.group(1)) if penalty else 0.0,
    )
