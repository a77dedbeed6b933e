"""watch() inside one process: nothing stays behind, nothing is kept alive, no failure of ours gets out."""

from __future__ import annotations

import gc
import importlib
import inspect
import signal
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.optim.lr_scheduler
import torch.utils.data
from in_child import in_child
from sabotage import break_module, breakable_modules
from small_training import Net, train
from torch import nn

import netmend
import netmend.errors

OPTIMIZER_MODULE = importlib.import_module("torch.optim.optimizer")  # torch.optim hides it

PLACES: tuple[Any, ...] = (
    torch,
    torch.Tensor,
    torch.amp,
    torch.amp.GradScaler,
    torch.autograd,
    torch.autograd.graph,
    torch.func,
    torch.nn,
    torch.nn.Module,
    torch.nn.Parameter,
    torch.nn.functional,
    torch.nn.modules.module,
    torch.nn.utils,
    torch.nn.utils.clip_grad,
    torch.optim,
    torch.optim.Optimizer,
    torch.optim.lr_scheduler,
    torch.optim.lr_scheduler.LRScheduler,
    OPTIMIZER_MODULE,
    torch.utils.data.DataLoader,
    torch.utils.data.dataloader,
    sys,
    threading,
)
CHANGING = {"last_exc", "last_type", "last_value", "last_traceback", "_count", "_counter"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("NETMEND_DIR", str(tmp_path / "home"))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # a fork cannot use its parent's OpenMP threads: it would wait for them for ever
    yield tmp_path / "home"
    torch.set_num_threads(threads)


def hook_tables() -> Iterator[tuple[str, Any]]:
    """Torch's global hook dictionaries."""
    for module in (torch.nn.modules.module, OPTIMIZER_MODULE):
        for name, value in vars(module).items():
            if name.startswith("_global") and hasattr(value, "keys"):
                yield f"{module.__name__}.{name}", value


def photograph() -> dict[str, object]:
    """Identities of all that could have been replaced, and contents of what could have been filled."""
    picture: dict[str, object] = {}
    for place in PLACES:
        for name, value in list(vars(place).items()):
            if name not in CHANGING and (callable(value) or inspect.ismodule(value)):
                picture[f"{place.__name__}.{name}"] = id(value)
    classes = [c for c in vars(torch.optim).values() if inspect.isclass(c)]
    classes += [c for c in vars(torch.optim.lr_scheduler).values() if inspect.isclass(c)]
    for owner in classes:
        for name, value in list(vars(owner).items()):
            # Optimizer marks the step of a class when its first instance is made, watched or not
            if inspect.isfunction(value):
                picture[f"{owner.__qualname__}.{name}"] = id(value)
    picture.update({name: tuple(table) for name, table in hook_tables()})
    picture["meta_path"] = [type(finder).__name__ for finder in sys.meta_path]
    picture["excepthook"] = id(sys.excepthook)
    picture["signals"] = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    picture["threads"] = sorted(thread.name for thread in threading.enumerate())
    picture["gc"] = len(gc.callbacks)
    picture["modes"] = (
        torch.is_grad_enabled(),
        torch.is_anomaly_enabled(),
        torch._C._len_torch_function_stack(),
    )
    return picture


def test_photograph_sees_replacements(monkeypatch: pytest.MonkeyPatch) -> None:
    before = photograph()
    monkeypatch.setattr(torch.Tensor, "backward", lambda self: None)
    assert photograph() != before


@pytest.mark.parametrize("ending", ["normal", "exception", "stop", "never trained"])
def test_everything_is_put_back(ending: str) -> None:
    train(1)  # first use imports and marks things in torch
    before = photograph()
    if ending == "normal":
        with netmend.watch():
            train(1)
    elif ending == "exception":
        with pytest.raises(ZeroDivisionError), netmend.watch():
            train(1)
            raise ZeroDivisionError
    elif ending == "stop":
        watching = netmend.watch()
        watching.start()
        train(1)
        watching.stop()
        watching.stop()  # a second time does nothing
    else:
        with netmend.watch():
            pass
    assert photograph() == before


def test_results_are_the_same_and_something_was_recorded(home: Path) -> None:
    expected = train()
    with netmend.watch():
        assert train() == expected
    assert list(home.rglob("trace*.sqlite"))


def test_watching_again_and_inside() -> None:
    expected = train(1)
    with netmend.watch():
        assert train(1) == expected
    with netmend.watch():
        with pytest.raises(netmend.errors.UsageError), netmend.watch():
            pytest.fail("two recorders at once")
        assert train(1) == expected
    assert train(1) == expected


def test_tensors_die_with_their_step() -> None:
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())
    gc.collect()
    gc.disable()
    try:
        with netmend.watch():
            for _ in range(12):
                x = torch.randn(8, 6)
                y = torch.randint(3, (8,))
                output = model(x)
                loss = nn.functional.cross_entropy(output, y)
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                gradient = model.first.weight.grad
                assert gradient is not None
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
                alive = [weakref.ref(t) for t in (x, y, output, loss, gradient)]
                del x, y, output, loss, gradient
                assert [reference() for reference in alive] == [None] * 5
    finally:
        gc.enable()


def test_models_and_optimizers_die_when_dropped() -> None:
    with netmend.watch():
        model = Net()
        optimizer = torch.optim.Adam(model.parameters())
        output: torch.Tensor = model(torch.randn(8, 6))
        output.sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        alive: list[weakref.ref[Any]] = [
            weakref.ref(model),
            weakref.ref(optimizer),
            weakref.ref(model.first.weight),
        ]
        del model, optimizer, output
        gc.collect()
        assert [reference() for reference in alive] == [None] * 3


@pytest.mark.parametrize("after", [0, 4])
@pytest.mark.parametrize("module", breakable_modules())
def test_our_failure_never_reaches_the_program(
    module: str, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = train()

    def check() -> None:
        before = photograph()  # in the child: threads of other tests' libraries do not come along
        hits = break_module(module, after, monkeypatch)
        with netmend.watch():
            assert train() == expected
        monkeypatch.undo()
        assert photograph() == before, f"left behind after {sorted(set(hits))}"

    in_child(check)


def test_sabotage_does_something(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above would pass, too, if nothing were ever broken."""

    def check() -> None:
        hits = break_module("netmend.adapters.torch.watch.losses", 0, monkeypatch)
        with netmend.watch():
            train(1)
        assert hits

    in_child(check)


def test_places_are_what_they_seem() -> None:
    assert all(isinstance(place, (ModuleType, type)) for place in PLACES)
