"""`netmend mend MODEL`: a patch for a trained model, found, judged and written."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from netmend.cli.options import work_folder
from netmend.cli.user_functions import UserFunctions, names_function
from netmend.errors import UsageError

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

    model: Path
    function: str | None
    failing: str | None
    guard: str | None
    validation: str | None
    method: str
    steps: int | None
    rate: str | None
    seed: int
    bound: float
    tolerance: float | None
    device: str
    out: Path | None
    force: bool
    dry_run: bool
    longest: int
    batch: int
    spread: bool
    memory: float | None
    json: Path | None
    quiet: bool
    directory: Path | None

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


def find_patch(asked: Asked) -> int:
    """Everything that can be refused is refused before anything is run."""
    for option, file in (("--json", asked.json), ("--out", asked.out)):
        if file is not None and (file.is_dir() or not file.absolute().parent.is_dir()):
            raise UsageError(f"{option} {file}: name a file in a folder that exists")
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
    from netmend.report.mend.search import MENDED, mend_document
    from netmend.report.terminal import console, draw

    given = ("--dry-run", asked.dry_run), ("--spread", asked.spread), ("--memory", asked.memory is not None)
    if words := [option for option, is_given in given if is_given]:
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
    for option, text in sets:
        if text is not None and names_function(text):
            functions.refuse_missing(text, option)
    failing, guard, validation = (_data(functions, option, text) for option, text in sets)
    module = functions.call(asked.function, "--model")
    with MendProgress(quiet=asked.quiet) as progress:
        found = mend_file(
            asked.model, module, failing, guard, validation, options, asked.device, progress.told
        )
    if found.patch is not None:
        found.save(asked.target)
        found = replace(found, files=(asked.target,))
    if asked.json is not None:
        asked.json.write_text(MENDED.json(found), encoding="utf-8")
    if not asked.quiet:
        sys.stdout.flush()
        console(sys.stdout).print(draw(mend_document(found)), crop=False)
    return 0 if found.patch is not None else 1


def _data(functions: UserFunctions, option: str, text: str | None) -> Any:
    from netmend.mend.data_file import read_data

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
