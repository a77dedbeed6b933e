"""`netmend mend MODEL`: a patch for a trained model, found, judged and written."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from typing import Any

from netmend.cli.options import (
    Directory,
    OutputOptions,
    Quiet,
    ResultFile,
    expanded,
    refuse_bad_file,
    work_folder,
)
from netmend.cli.user_functions import UserFunctions, names_function
from netmend.errors import UsageError
from netmend.trials.options import option

_MODEL_FORM = "--model FILE.py:FUNCTION, a function without arguments that builds the module"


def refuse_occupied(target: Path, force: bool) -> None:
    """Before hours of work end in a refusal."""
    if target.exists() and not force:
        raise UsageError(
            f"{target} is already there; name another file with --out, or overwrite it with --force"
        )


@dataclass(frozen=True)
class Asked:
    """The command line."""

    model: Path = option(
        MISSING,
        "Trained weights (.safetensors, .pt), or the folder of a language model (with config.json).",
        metavar="MODEL",
        is_argument=True,
    )
    function: str | None = option(
        None, "Builds the module that the weights belong to.", "--model", metavar="FILE.py:FUNCTION"
    )
    failing: str | None = option(
        None,
        "Failing inputs with the desired outputs: .npz (x, y) or FILE.py:FUNCTION; language: pairs.jsonl.",
        metavar="FILE",
    )
    guard: str | None = option(
        None, "Inputs whose outputs must not change (labels optional); language: normal text.", metavar="FILE"
    )
    validation: str | None = option(
        None, "Labelled inputs for choosing the patch (default: a fifth of the others).", metavar="FILE"
    )
    method: str = option("auto", "Methods to try besides the baseline (docs/mend.md).", metavar="auto|NAME,…")
    steps: int | None = option(None, "Steps per attempt (default: 400; language: 160).", least=1)
    rate: str | None = option(
        None, "Learning rates to try (default: 0.002,0.0002; language: 1e-5,1e-4).", metavar="R,…"
    )
    seed: int = option(0, "Seed for splitting the data and drawing batches.", least=0)
    bound: float = option(0.01, "Share of the guard that may break; language: allowed growth of perplexity.")
    tolerance: float | None = option(None, "For numeric outputs: how far off still counts as right.")
    device: str = option("", "Where to compute (default: a GPU if there is one).", metavar="cpu|cuda|…")
    out: Path | None = option(
        None,
        "Where to write the patch (default: MODEL-patch.safetensors, in this folder).",
        "-o",
        "--out",
        metavar="FILE",
    )
    force: bool = option(False, "Overwrite what is at --out.")
    dry_run: bool = option(False, "Language models: print the memory plan and stop.")
    longest: int = option(256, "Language models: longest text, in tokens.", least=2)
    batch: int = option(16, "Language models: pairs (and texts) per step.", least=1)
    spread: bool = option(False, "Language models: spread the model over all GPUs.")
    memory: float | None = option(None, "With --dry-run: plan for this much free memory.", metavar="GIB")
    json: ResultFile = None
    quiet: Quiet = False
    directory: Directory = None

    @property
    def language(self) -> bool:
        """A folder that says what model it holds, and no function that builds one."""
        return self.function is None and (self.model / "config.json").is_file()

    @property
    def target(self) -> Path:
        """Where the patch goes."""
        if self.out is not None:
            return self.out
        name = self.model.resolve().name if self.model.is_dir() else self.model.stem
        return Path(f"{name}-patch.safetensors")


@expanded
def find(asked: Asked) -> int:
    """Find a patch that repairs what fails and keeps the rest (the default: `netmend mend MODEL …`).

    Exit code 0: a patch is recommended and written; 1: none is; 2: the command cannot be carried out. The model stays as it is.
    """
    refuse_bad_file("--json", asked.json)
    refuse_bad_file("--out", asked.out)
    if not asked.model.exists():
        raise UsageError(
            f"there is no model {asked.model}; give a .safetensors file, a .pt state dict, or the folder of a language model"
        )
    if asked.language:
        from netmend.cli.mend_language import mend_language

        return mend_language(asked)
    return _classifier(asked)


def _classifier(asked: Asked) -> int:
    from netmend.cli.progress import MendProgress
    from netmend.mend.from_file import mend_file
    from netmend.mend.options import MendOptions, parse_methods, parse_rates

    given = ("--dry-run", asked.dry_run), ("--spread", asked.spread), ("--memory", asked.memory is not None)
    if words := [name for name, is_given in given if is_given]:
        raise UsageError(
            f"{', '.join(words)}: only for language models, and {asked.model} is no folder with config.json"
        )
    if asked.function is None:
        raise UsageError(f"weights alone are no model: add {_MODEL_FORM}")
    if asked.failing is None or asked.guard is None:
        raise UsageError(
            "say what fails and what must stay: --failing FILE.npz --guard FILE.npz (or FILE.py:FUNCTION)"
        )
    options = MendOptions(
        parse_methods(asked.method), seed=asked.seed, bound=asked.bound, tolerance=asked.tolerance
    )
    options = replace(
        options,
        steps=options.steps if asked.steps is None else asked.steps,
        rates=options.rates if asked.rate is None else parse_rates(asked.rate),
        directory=work_folder(asked.directory, quiet=asked.quiet),
    )
    refuse_occupied(asked.target, asked.force)
    functions = UserFunctions()
    functions.refuse_missing(asked.function, "--model")
    sets = (("--failing", asked.failing), ("--guard", asked.guard), ("--validation", asked.validation))
    for name, text in sets:
        if text is not None and names_function(text):
            functions.refuse_missing(text, name)
    failing, guard, validation = (_data(functions, name, text) for name, text in sets)
    module = functions.call(asked.function, "--model")
    with MendProgress(quiet=asked.quiet) as progress:
        found = mend_file(
            asked.model, module, failing, guard, validation, options, asked.device, progress.show
        )
    if found.patch is not None:
        found.save(asked.target)
        found = replace(found, files=(asked.target,))
    OutputOptions(asked.json, None, asked.quiet).show(found, crop=False)
    return 0 if found.patch is not None else 1


def _data(functions: UserFunctions, option: str, text: str | None) -> Any:
    from netmend.mend.files import read_data

    if text is None:
        return None
    if not names_function(text):
        return read_data(Path(text))
    found = functions.call(text, option)
    if isinstance(found, tuple) and len(found) == 2:
        return found
    if option == "--guard" and not isinstance(found, tuple):
        return found, None
    shown = f"{len(found)} values" if isinstance(found, tuple) else f"a {type(found).__name__}"
    raise UsageError(f"{option} {text} returned {shown}; it must return (inputs, wanted)")
