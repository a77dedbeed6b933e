"""`netmend adequacy`: run a program (or call a function of it) for its model and data, then measure its test set."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netmend.errors import NetmendError, UsageError
from netmend.launch.import_hook import AfterImport
from netmend.launch.script import execute, load_script, prepare
from netmend.launch.tracebacks import install_hook

_FUNCTION = re.compile(r"^(?P<file>.+\.py):(?P<function>[A-Za-z_]\w*)$")
_PARTS = ("model", "train", "test", "pool")
_RETURNED = "(model, train, test) or (model, train, test, pool), or a dictionary with these names"


@dataclass(frozen=True)
class Names:
    """What the user calls the parts in the program."""

    model: str | None = None
    train: str | None = None
    test: str | None = None
    pool: str | None = None


@dataclass(frozen=True)
class Wishes:
    """How to measure, and what to do with the outcome."""

    layer: str | None = None
    task: str | None = None
    limit: int = 5_000
    count: int = 20
    seed: int = 0
    json: Path | None = None
    save: Path | None = None
    quiet: bool = False


def prepare_adequacy(program: tuple[str, ...], names: Names, wishes: Wishes) -> Callable[[], None]:
    """Everything that can be refused is refused here, before the program starts."""
    if not program:
        raise UsageError(
            "name the program: netmend adequacy train.py --train train_loader --test test_loader, "
            "or file.py:function that returns the model and the data"
        )
    for option, file in (("--json", wishes.json), ("--save", wishes.save)):
        _refuse_bad_file(option, file)
    call = _FUNCTION.match(program[0])
    if call is not None:
        given = [f"--{part}" for part in _PARTS if getattr(names, part) is not None]
        if given:
            raise UsageError(
                f"{program[0]} returns the model and the data itself; leave out {', '.join(given)}"
            )
        file = Path(call["file"])
        if not file.is_file():
            raise UsageError(
                f"there is no file {file}; give the path of the file that holds {call['function']}"
            )
        return lambda: _finish(lambda: _returned(file, call["function"], program[1:]), wishes)
    if names.train is None or names.test is None:
        raise UsageError(
            "say what the data is called in the program: --train train_loader --test test_loader "
            "(or columns: --test x_test,y_test)"
        )
    return lambda: _finish(lambda: _run(program, names), wishes)


def _finish(parts: Callable[[], dict[str, Any]], wishes: Wishes) -> None:
    try:
        _measure(parts(), wishes)
    except NetmendError as problem:
        sys.stderr.write(f"netmend: {problem}\n")
        sys.exit(2)


def _measure(parts: dict[str, Any], wishes: Wishes) -> None:
    from netmend.adequacy.session import adequacy
    from netmend.report.adequacy import adequacy_document
    from netmend.report.terminal import console, draw

    options = {"layer": wishes.layer, "task": wishes.task, "limit": wishes.limit, "count": wishes.count}
    given = {key: value for key, value in options.items() if value is not None}
    found = adequacy(**{**parts, **given, "seed": wishes.seed})
    if wishes.json is not None:
        wishes.json.write_text(found.json(), encoding="utf-8")
    if wishes.save is not None:
        found.save(wishes.save)
    if not wishes.quiet:
        sys.stdout.flush()
        console(sys.stdout).print(draw(adequacy_document(found)))


def _run(program: tuple[str, ...], names: Names) -> dict[str, Any]:
    """Run the program as Python would; afterwards its names are looked up."""
    loaded = load_script(program[0], program[1:])
    wanted = [name for name in (names.model, names.train, names.test, names.pool) if name is not None]
    listening: list[Any] = []

    def listen() -> None:
        from netmend.adequacy.torch.names import Names as Listener

        listening.append(Listener(wanted, loaded.file))
        listening[0].listen()

    hook = AfterImport("torch", listen)
    prepare(loaded)
    hook.install()
    try:
        execute(loaded)
    except SystemExit as leaving:
        if leaving.code not in (None, 0):
            raise
    except BaseException:
        install_hook()
        raise
    finally:
        hook.remove()
        for one in listening:
            one.stop()
    if not listening:
        raise UsageError(f"{program[0]} never imported torch; adequacy is measured on PyTorch models")
    held, listener = loaded.module.__dict__, listening[0]
    parts = {
        part: listener.value(getattr(names, part), held, f"--{part}")
        for part in _PARTS
        if getattr(names, part) is not None
    }
    if names.model is None:
        parts["model"] = listener.model(held)
    return parts


def _returned(file: Path, name: str, arguments: tuple[str, ...]) -> dict[str, Any]:
    """What the function of the file gives."""
    path = file.resolve()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{file} cannot be imported as a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    sys.argv[:] = [str(file), *arguments]
    try:
        spec.loader.exec_module(module)
        function = getattr(module, name, None)
        if not callable(function):
            raise UsageError(f"{file} has no function {name}")
        given = function()
    except NetmendError:
        raise
    except Exception:
        install_hook()
        raise
    return _parts(given, f"{file}:{name}")


def _parts(given: Any, where: str) -> dict[str, Any]:
    if isinstance(given, tuple) and len(given) in (3, 4):
        return dict(zip(_PARTS, given, strict=False))
    if isinstance(given, Mapping) and {"model", "train", "test"} <= set(given):
        unknown = set(given) - {*_PARTS, "layer", "task", "forward"}
        if unknown:
            raise UsageError(f"{where} returned unknown names: {', '.join(sorted(map(str, unknown)))}")
        return dict(given)
    shown = f"{len(given)} values" if isinstance(given, tuple) else f"a {type(given).__name__}"
    raise UsageError(f"{where} returned {shown}; it must return {_RETURNED}")


def _refuse_bad_file(option: str, file: Path | None) -> None:
    if file is not None and not file.resolve().parent.is_dir():
        raise UsageError(
            f"{option} {file}: the directory {file.resolve().parent} does not exist; create it first"
        )
    if file is not None and file.is_dir():
        raise UsageError(f"{option} {file}: that is a directory; name a file")
