"""Programs of the 22 faults: a plain PyTorch script for each side, and where its layers stand in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.faults22.configuration import Configuration
from bench.faults22.data_files import write_data
from bench.faults22.facts import BenchFault
from bench.faults22.initial import write_initial
from bench.faults22.loop import Parts, write_loop
from bench.faults22.losses import loss_of, penalties
from bench.faults22.network import Names, weight_of, write_helpers, write_network
from bench.faults22.optimisers import optimiser_line
from bench.faults22.page import Page
from bench.faults22.reading import write_reading
from bench.faults22.sizes import PORTS
from bench.faults22.styles import STYLES, Style
from netmend.errors import UsageError

SIDES = ("buggy", "fixed")
ENTRY = "train.py"
_NUMBER = r"([-+]?[0-9.]+(?:e[-+]?[0-9]+)?|nan|inf)"
_IMPORTS = (  # the line, and the text without which nobody writes it
    ("import os", "os."),
    ("from pathlib import Path", "Path("),
    ("", ""),
    ("import numpy as np", "np."),
    ("import torch", "torch."),
    ("import torch.nn as nn", "nn."),
    ("import torch.nn.functional as F", "F."),
    ("from torch.utils.data import DataLoader, TensorDataset", "DataLoader("),
)


@dataclass(frozen=True)
class LayerPlace:
    """Where a layer of the published list stands: lines that make, activate or initialise it; its modules."""

    lines: tuple[int, ...]
    modules: tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """The text of one program and its layers."""

    text: str
    layers: Mapping[int, LayerPlace]


@dataclass(frozen=True)
class Written:
    """A program on disk, ready to be started."""

    entry: Path
    layers: Mapping[int, LayerPlace]
    pattern: str  # a regular expression for the final metric that the program prints
    higher_is_better: bool


def configuration_of(fault: BenchFault, side: str) -> Configuration:
    """The configuration that the port really trains."""
    if side not in SIDES:
        raise UsageError(f"a fault has no side {side!r}; known are {' and '.join(SIDES)}")
    return PORTS[fault.id].scaled(fault.buggy if side == "buggy" else fault.fixed)


def source(fault: BenchFault, side: str) -> Source:
    configuration, style = configuration_of(fault, side), STYLES[fault.id]
    page = Page()
    names = _body(page, fault.id, configuration, style)
    head = _head(page.text)
    layers = {
        index: LayerPlace(tuple(sorted(line + len(head) for line in page.layers.get(index, ()))), modules)
        for index, modules in names.items()
    }
    return Source("\n".join([*head, page.text]), layers)


def write(fault: BenchFault, side: str, folder: Path, data: Path | None = None) -> Written:
    """Puts train.py, and the data file beside it, into the folder. `data`: where the data sets are kept."""
    made = source(fault, side)
    folder.mkdir(parents=True, exist_ok=True)
    write_data(PORTS[fault.id], folder, data)
    entry = folder / ENTRY
    entry.write_text(made.text, encoding="utf-8")
    is_accuracy = fault.fixed.metric == "accuracy"
    name = "accuracy" if is_accuracy else "mae"
    return Written(entry, made.layers, f"final test {name} {_NUMBER}", is_accuracy)


def _body(page: Page, id: str, configuration: Configuration, style: Style) -> Names:
    rate, batch, epochs = (
        f"{configuration.optimiser.rate:g}",
        str(configuration.batch_size),
        str(configuration.epochs),
    )
    page.add('torch.manual_seed(int(os.environ.get("SEED", "0")))')
    if "." not in rate:
        rate += ".0"
    if style.constants:
        page.add(f"\nBATCH_SIZE = {batch}\nEPOCHS = {epochs}\nLEARNING_RATE = {rate}")
        rate, batch, epochs = "LEARNING_RATE", "BATCH_SIZE", "EPOCHS"
    write_reading(page, id, PORTS[id].data, configuration, style, 0 if id.startswith("C") else 42)
    loss = loss_of(configuration, style)
    write_helpers(page, configuration, style)
    names = write_network(page, configuration, style)
    write_initial(page, configuration, names, style)
    page.gap()
    if loss.function:
        page.add(f"\n{loss.function}\n\n")
    if loss.line:
        page.add(loss.line)
    page.add(optimiser_line(configuration, rate))
    weights = {
        layer.index: weight_of(layer.index, names, style)
        for layer in configuration.layers
        if layer.has_weights
    }
    parts = Parts(configuration, style, loss, penalties(configuration, weights), batch, epochs)
    write_loop(page, parts)
    return names


def _head(body: str) -> list[str]:
    lines = [line for line, used in _IMPORTS if used in body]
    return [*lines, ""]
