"""`netmend adequacy`: run a program (or call a function of it) for its model and data, then measure its test set."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netmend.cli.options import OutputOptions, Quiet, ResultFile, expanded, refuse_bad_file
from netmend.cli.user_functions import FORM, load_file
from netmend.errors import NetmendError, UsageError
from netmend.launch.import_hook import AfterImport
from netmend.launch.script import execute, load_script, prepare
from netmend.launch.tracebacks import install_hook
from netmend.trials.options import option

_PARTS = ("model", "train", "test", "pool")
_RETURNED = "(model, train, test) or (model, train, test, pool), or a dictionary with these names"


@dataclass(frozen=True)
class AdequacyOptions:
    """What the parts are called in the program, how to measure, and what to do with the outcome."""

    train: str | None = option(None, "The training data in the script: a loader, or x,y.", metavar="NAME")
    test: str | None = option(None, "The test set in the script.", metavar="NAME")
    pool: str | None = option(None, "Inputs without labels, to choose from.", metavar="NAME")
    model: str | None = option(None, "The model in the script (default: the one it calls).", metavar="NAME")
    layer: str | None = option(
        None, "Measure surprise at this layer's output (default: the last layer's input).", metavar="NAME"
    )
    task: str | None = option(
        None, "Kind of output (default: inferred from the labels).", metavar="classes|binary|numbers"
    )
    limit: int = option(5_000, "Inputs used from each set.", least=2)
    count: int = option(20, "Inputs to suggest per method.", least=1)
    seed: int = option(0, "Seed for the samples that are compared.", least=0)
    json: ResultFile = None
    save: Path | None = option(None, "Write the suggested inputs as CSV.", metavar="FILE")
    quiet: Quiet = False


@expanded
def adequacy(
    *,
    program: list[str] | None = option(
        None,
        "A training script, or a function that returns (model, train, test[, pool]).",
        metavar="SCRIPT|FILE.py:FUNCTION [-- ARGS]",
        is_argument=True,
    ),
    options: AdequacyOptions,
) -> Callable[[], None]:
    """Measure how adequate a test set is for a trained model, without retraining; suggest what to label next."""
    return prepare_adequacy(tuple(program or ()), options)


def prepare_adequacy(program: tuple[str, ...], options: AdequacyOptions) -> Callable[[], None]:
    """Everything that can be refused is refused here, before the program starts."""
    if not program:
        raise UsageError(
            "name the program: netmend adequacy train.py --train train_loader --test test_loader, "
            "or file.py:function that returns the model and the data"
        )
    refuse_bad_file("--json", options.json)
    refuse_bad_file("--save", options.save)
    call = FORM.match(program[0])
    if call is not None:
        given = [f"--{part}" for part in _PARTS if getattr(options, part) is not None]
        if given:
            raise UsageError(
                f"{program[0]} returns the model and the data itself; leave out {', '.join(given)}"
            )
        file = Path(call["file"])
        if not file.is_file():
            raise UsageError(
                f"there is no file {file}; give the path of the file that holds {call['function']}"
            )
        return lambda: _finish(lambda: _returned(file, call["function"], program[1:]), options)
    if options.train is None or options.test is None:
        raise UsageError(
            "say what the data is called in the program: --train train_loader --test test_loader "
            "(or columns: --test x_test,y_test)"
        )
    return lambda: _finish(lambda: _run(program, options), options)


def _finish(parts: Callable[[], dict[str, Any]], options: AdequacyOptions) -> None:
    try:
        _measure(parts(), options)
    except NetmendError as problem:
        sys.stderr.write(f"netmend: {problem}\n")
        sys.exit(2)


def _measure(parts: dict[str, Any], options: AdequacyOptions) -> None:
    from netmend.adequacy.session import adequacy as measure

    settings = {name: getattr(options, name) for name in ("layer", "task", "limit", "count")}
    settings = {name: value for name, value in settings.items() if value is not None}
    found = measure(**{**parts, **settings, "seed": options.seed})
    if options.save is not None:
        found.save(options.save)
    OutputOptions(options.json, None, options.quiet).show(found)


def _run(program: tuple[str, ...], options: AdequacyOptions) -> dict[str, Any]:
    """Run the program as Python would; afterwards its names are looked up."""
    loaded = load_script(program[0], program[1:])
    wanted = [name for name in (options.model, options.train, options.test, options.pool) if name is not None]
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
        part: listener.value(getattr(options, part), held, f"--{part}")
        for part in _PARTS
        if getattr(options, part) is not None
    }
    if options.model is None:
        parts["model"] = listener.model(held)
    return parts


def _returned(file: Path, name: str, arguments: tuple[str, ...]) -> dict[str, Any]:
    """What the function of the file gives."""
    sys.argv[:] = [str(file), *arguments]
    try:
        module = load_file(file.resolve())
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
