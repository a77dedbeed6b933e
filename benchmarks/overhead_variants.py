"""What is compared: nothing, netmend, and the usual ways to look into a training run.

A variant is entered before a segment of steps and left after it; while it is left, training runs as if it did not exist.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch
from overhead_models import Training
from torch import Tensor, nn

BINS = 64
PLANNED_WITHIN = 40  # steps; netmend works its sampling out anew every 32


class Variant:
    """Bare training; the others add to it."""

    title = "bare"

    def __init__(self, training: Training) -> None:
        self.training = training

    def enter(self) -> None:
        pass

    def leave(self) -> None:
        pass

    def close(self) -> None:
        pass

    def settled(self) -> bool:
        """Whether what is special about the first steps is over."""
        return True

    def period(self) -> int:
        """Number of steps after which its costs repeat."""
        return 1

    def looks(self) -> int:
        """Steps looked at with all statistics so far."""
        return 0

    def note(self) -> str:
        """What should be known beside the times."""
        return ""


class Watched(Variant):
    """netmend, one recording over all segments, so that its sampling can settle."""

    title = "netmend default"
    settings: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, training: Training) -> None:
        super().__init__(training)
        self._directory = Path(tempfile.mkdtemp(prefix="netmend-overhead-"))
        self._watch: Any = None
        self._steady_from: int | None = None

    def enter(self) -> None:
        import netmend

        if self._watch is None:
            settings = {"overhead": "1%", **self.settings}
            model, optimizer = self.training.model, self.training.optimizer
            self._watch = netmend.watch(model, optimizer, directory=self._directory, quiet=True, **settings)
            self._watch.start()
        else:
            self._watch.resume()

    def leave(self) -> None:
        self._watch.pause()

    def settled(self) -> bool:
        """Every step is alike, or the allowance for the first steps is used up and the pace has been chosen since."""
        recorder = self._recorder
        if recorder.schedule.every is not None:
            return True
        if recorder.budget.starting:
            return False
        if self._steady_from is None:
            self._steady_from = recorder.step
        return bool(recorder.step - self._steady_from >= PLANNED_WITHIN)

    def period(self) -> int:
        schedule = self._recorder.schedule
        return int(schedule.every or schedule.full_interval)

    def looks(self) -> int:
        return int(self._recorder.full_steps)

    def note(self) -> str:
        own = self._recorder.budget.steady_overhead
        if own is None or self._recorder.schedule.every is not None:
            return ""
        return f"its own estimate of its cost is {own:.2%}"

    @property
    def _recorder(self) -> Any:
        return self._watch._recording.recorder

    def close(self) -> None:
        if self._watch is not None:
            self._watch.resume()
            self._watch.stop()
        shutil.rmtree(self._directory, ignore_errors=True)


class WatchedFully(Watched):
    title = "netmend, every step, all statistics"
    settings = {"every": 1, "full": True}  # noqa: RUF012


class Hooked(Variant):
    """Looks at every leaf module's output in a forward hook, and at parameters after backward."""

    def __init__(self, training: Training) -> None:
        super().__init__(training)
        self._handles: list[Any] = []

    def enter(self) -> None:
        for name, module in self.training.model.named_modules():
            if not any(module.children()):
                self._handles.append(module.register_forward_hook(self._hook(name)))
        self.training.after_backward = self.parameters

    def leave(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self.training.after_backward = None

    def _hook(self, name: str) -> Any:
        def hook(module: nn.Module, inputs: Any, output: Any) -> None:
            tensor = output[0] if isinstance(output, tuple) else output
            if isinstance(tensor, Tensor):
                self.activation(name, tensor.detach())

        return hook

    def activation(self, name: str, tensor: Tensor) -> None:
        raise NotImplementedError

    def parameters(self) -> None:
        raise NotImplementedError


class Items(Hooked):
    """The first thing one writes: each statistic of each layer fetched with .item()."""

    title = "hooks with .item(), every step"

    def __init__(self, training: Training) -> None:
        super().__init__(training)
        self.seen: dict[str, tuple[float, ...]] = {}

    def activation(self, name: str, tensor: Tensor) -> None:
        values = tensor.float()
        zeros = (values == 0).float().mean()
        self.seen[name] = tuple(
            x.item() for x in (values.mean(), values.std(), values.min(), values.max(), zeros)
        )

    @torch.no_grad()
    def parameters(self) -> None:
        for name, parameter in self.training.model.named_parameters():
            if parameter.grad is not None:
                norms = (parameter.grad.norm(), parameter.norm(), parameter.grad.abs().max())
                self.seen[name] = tuple(norm.item() for norm in norms)


class GradientHistograms(Variant):
    """As experiment trackers do: a hook on every parameter's gradient, a histogram of 64 bins, fetched at once."""

    title = "gradient histograms, every step"

    def __init__(self, training: Training) -> None:
        super().__init__(training)
        self._handles: list[Any] = []
        self.seen: dict[str, tuple[list[float], list[float]]] = {}

    def enter(self) -> None:
        for name, parameter in self.training.model.named_parameters():
            if parameter.requires_grad:
                self._handles.append(parameter.register_hook(self._hook(name)))

    def leave(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def _hook(self, name: str) -> Any:
        def hook(gradient: Tensor) -> None:
            flat = gradient.detach().reshape(-1).float()
            finite = torch.isfinite(flat)
            if not finite.all():
                flat = flat[finite]
            low, high = flat.min().item(), flat.max().item()
            counts = torch.histc(flat, bins=BINS, min=low, max=high)
            self.seen[name] = counts.cpu().tolist(), torch.linspace(low, high, BINS + 1).tolist()

        return hook


class BoardHistograms(Hooked):
    """TensorBoard histograms of all activations, gradients and weights."""

    title = "TensorBoard histograms of everything, every step"

    def __init__(self, training: Training) -> None:
        super().__init__(training)
        from torch.utils.tensorboard import SummaryWriter

        self._directory = tempfile.mkdtemp(prefix="netmend-overhead-")
        self._writer = SummaryWriter(self._directory)

    def activation(self, name: str, tensor: Tensor) -> None:
        self._writer.add_histogram(f"activation/{name}", tensor.float(), self.training.steps)

    def parameters(self) -> None:
        for name, parameter in self.training.model.named_parameters():
            self._writer.add_histogram(f"weight/{name}", parameter.detach(), self.training.steps)
            if parameter.grad is not None:
                self._writer.add_histogram(f"gradient/{name}", parameter.grad, self.training.steps)

    def close(self) -> None:
        self._writer.close()
        shutil.rmtree(self._directory, ignore_errors=True)


class Anomaly(Variant):
    title = "autograd anomaly mode"

    def enter(self) -> None:
        torch.autograd.set_detect_anomaly(True)

    def leave(self) -> None:
        torch.autograd.set_detect_anomaly(False)


VARIANTS: dict[str, type[Variant]] = {
    "bare": Variant,
    "default": Watched,
    "full": WatchedFully,
    "items": Items,
    "histograms": GradientHistograms,
    "anomaly": Anomaly,
    "tensorboard": BoardHistograms,
}
