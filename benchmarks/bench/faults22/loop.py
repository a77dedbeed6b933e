"""The training loop, in one of three hands: loaders in the script, functions, or batches cut by hand."""

from __future__ import annotations

from dataclasses import dataclass

from bench.faults22.configuration import Configuration
from bench.faults22.losses import Loss, hits
from bench.faults22.page import Page
from bench.faults22.styles import Style


@dataclass(frozen=True)
class Parts:
    """What the loop is made of."""

    configuration: Configuration
    style: Style
    loss: Loss
    penalties: list[tuple[int, str]]  # layer and line that adds to the loss
    batch: str  # number or name of a constant
    epochs: str

    @property
    def is_regression(self) -> bool:
        return self.configuration.metric != "accuracy"


def write_loop(page: Page, parts: Parts) -> None:
    page.gap()
    {"loader": _loader, "functions": _functions, "slices": _slices}[parts.style.loop](page, parts)


def _step(page: Page, parts: Parts, indent: int, inputs: str, labels: str) -> None:
    page.add("optimizer.zero_grad()", indent=indent)
    page.add(f"outputs = model({inputs})", indent=indent)
    page.add(f"loss = {parts.loss.name}(outputs, {labels})", indent=indent)
    for layer, line in parts.penalties:
        page.add(line, layer, indent)
    page.add("loss.backward()\noptimizer.step()", indent=indent)


def _loaders(page: Page, parts: Parts) -> None:
    page.add(
        f"train_loader = DataLoader(TensorDataset(x_train, y_train), batch_size={parts.batch}, shuffle=True)"
    )
    if parts.style.held_out:
        page.add("val_loader = DataLoader(TensorDataset(x_val, y_val), batch_size=500)")
    page.add("test_loader = DataLoader(TensorDataset(x_test, y_test), batch_size=500)")


def _evaluation(page: Page, parts: Parts, head: str, loader: str) -> None:
    page.gap()
    page.add(f"\n{head}")
    page.add("    model.eval()\n    correct = 0\n    with torch.no_grad():")
    page.add(f"        for inputs, labels in {loader}:")
    right = hits(parts.configuration, parts.style, "model(inputs)", "labels")
    page.add(f"            correct += {right}.sum().item()")
    page.add(f"    return correct / len({loader}.dataset)\n\n")


def _loader(page: Page, parts: Parts) -> None:
    _loaders(page, parts)
    _evaluation(page, parts, "def accuracy(loader):", "loader")
    page.add(f"for epoch in range({parts.epochs}):\n    model.train()\n    total = 0.0")
    page.add("    for inputs, labels in train_loader:")
    _step(page, parts, 8, "inputs", "labels")
    page.add("        total += loss.item() * len(inputs)")
    name, loader = ("val", "val_loader") if parts.style.held_out else ("test", "test_loader")
    page.add(
        f'    print(f"epoch {{epoch + 1}} loss {{total / len(x_train):.4f}} {name} accuracy {{accuracy({loader}):.4f}}")'
    )
    page.add('\nprint(f"final test accuracy {accuracy(test_loader):.4f}")')


def _functions(page: Page, parts: Parts) -> None:
    _loaders(page, parts)
    page.add("\n\ndef train():\n    model.train()\n    running_loss = 0.0")
    page.add("    for inputs, labels in train_loader:")
    _step(page, parts, 8, "inputs", "labels")
    page.add("        running_loss += loss.item()\n    return running_loss / len(train_loader)")
    _evaluation(page, parts, "def test():", "test_loader")
    past = f"{parts.epochs} + 1" if parts.style.constants else str(int(parts.epochs) + 1)
    page.add(f"for epoch in range(1, {past}):\n    train_loss = train()\n    test_accuracy = test()")
    page.add(
        '    print(f"epoch {epoch} loss {train_loss:.4f} test accuracy {test_accuracy:.4f}")\n\n'
        'print(f"final test accuracy {test_accuracy:.4f}")'
    )


def _slices(page: Page, parts: Parts) -> None:
    batch = parts.batch
    page.add(f"for epoch in range({parts.epochs}):\n    model.train()")
    page.add("    order = torch.randperm(len(x_train))\n    epoch_loss = 0.0")
    page.add(f"    for start in range(0, len(x_train), {batch}):")
    page.add(f"        batch = order[start : start + {batch}]")
    _step(page, parts, 8, "x_train[batch]", "y_train[batch]")
    page.add("        epoch_loss += loss.item() * len(batch) / len(x_train)")
    page.add("    model.eval()\n    with torch.no_grad():\n        predictions = model(x_test)")
    if parts.is_regression:
        name, value = "mae", "(predictions - y_test).abs()"
    else:
        name = "accuracy"
        value = hits(parts.configuration, parts.style, "predictions", "y_test") + ".float()"
    page.add(f"    {name} = {value}.mean().item()")
    page.add(f'    print(f"epoch {{epoch + 1}} loss {{epoch_loss:.4f}} test {name} {{{name}:.4f}}")')
    page.add(f'\nprint(f"final test {name} {{{name}:.4f}}")')
