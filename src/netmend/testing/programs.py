"""Small training programs for the examples of units: one standard program, of which an example states only what it is about."""

from __future__ import annotations

import re
from textwrap import dedent, indent

_IMPORTS = {
    r"\bnp\.": "import numpy as np",
    "": "import torch",
    r"\bF\b": "import torch.nn.functional as F",
    r"\bnn\.": "from torch import nn",
}
_STEP = re.compile(r"^( *)([\w.]+) ← (.*)$", re.MULTILINE)
_OF_DATA = re.compile(
    r"(?<![.\w])(?:DataLoader|Dataset|IterableDataset|Subset|TensorDataset|WeightedRandomSampler|random_split)\b"
)


def program(
    *,
    imports: str = "",  # beyond numpy, torch and what is used of it
    begin: str = "",  # what several examples begin with
    data: str = "",
    layers: str = "",  # of a class `Net`: what follows `super().__init__()` …
    forward: str = "",  # … and what its forward does
    takes: str = "",  # parameters of the class …
    given: str = "x",  # … and of its forward
    model: str = "nn.Linear(2, 1)",
    criterion: str = "",
    helpers: str = "",  # between the model and the optimiser
    optimizer: str = "torch.optim.SGD(model.parameters(), lr=0.1)",
    setup: str = "",  # between the optimiser and the loop
    epochs: str = "",  # a loop around the loop
    loop: str = "for step in range(3)",
    outputs: str = "",  # in the loop, before the loss
    loss: str = "",
    after_loss: str = "",  # before backward() …
    after_backward: str = "",  # … before the optimiser's step …
    after_step: str = "",  # … and behind it
    backward: str = "",  # a loss without a name, for one line `….backward()`
    step: str | None = None,  # all that the loop does, where that is not the usual five lines
    after_epoch: str = "",
    end: str = "",
) -> str:
    """Data, model, loss, optimiser, loop: with the usual text in every place for which nothing is given."""
    if layers:
        data = _lines(data, _network(layers, forward, takes, given))
        model = model if model.startswith("Net(") else "Net()"
    if step is None:
        step = _step(outputs, loss, after_loss, backward, after_backward, after_step)
    return script(
        _lines(
            begin,
            data,
            model and f"model = {_clean(model)}",
            criterion and f"criterion = {criterion}",
            helpers,
            optimizer and f"optimizer = {_clean(optimizer)}",
            setup,
            step and _loop(epochs, _lines(_loop(loop, step), after_epoch)),
            end,
        ),
        imports,
    )


def script(text: str, imports: str = "") -> str:
    """A program with the imports that it needs in front, unless it begins with them itself; `optimizer ← loss` is one step, in three lines."""
    text = _STEP.sub(r"\1\2.zero_grad()\n\1\3.backward()\n\1\2.step()", _clean(text))
    if text.startswith(("import ", "from ", "+ ", "⟨")):
        return text + "\n"
    before = re.sub(r"→[^⟨⟩]*⟩|^ *\+ .*$", "", text, flags=re.MULTILINE)
    head = [line for used, line in _IMPORTS.items() if re.search(used, before)]
    names = sorted(set(_OF_DATA.findall(before)))
    loader = f"from torch.utils.data import {', '.join(names)}" if names else ""
    return _lines("\n".join(head), loader, imports, text) + "\n"


def _network(layers: str, forward: str, takes: str, given: str) -> str:
    parameters = f"self, {takes}" if takes else "self"
    made = f"class Net(nn.Module):\n    def __init__({parameters}):\n        super().__init__()\n"
    called = f"    def forward(self, {given}):\n"
    return made + indent(_clean(layers), " " * 8) + "\n" + called + indent(_clean(forward), " " * 8)


def _step(
    outputs: str, loss: str, after_loss: str, backward: str, after_backward: str, after_step: str
) -> str:
    if not loss and not backward:
        return ""
    return _lines(
        "optimizer.zero_grad()",
        outputs,
        loss and f"loss = {loss}",
        after_loss,
        f"{backward or 'loss'}.backward()",
        after_backward,
        "optimizer.step()",
        after_step,
    )


def _loop(head: str, body: str) -> str:
    return f"{head}:\n{indent(_clean(body), '    ')}" if head else body


def _lines(*parts: str) -> str:
    return "\n".join(_clean(part) for part in parts if part)


def _clean(text: str) -> str:
    return dedent(text).strip("\n")
