"""`netmend mend`: patches of weights, found, put in, taken out and looked at."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netmend.cli.command_help import PlainCommand
from netmend.cli.mend_group import DEFAULT, MendGroup
from netmend.cli.mend_options import find
from netmend.cli.options import Quiet, ResultFile
from netmend.errors import UsageError

if TYPE_CHECKING:
    from netmend.mend.fit import State

app = typer.Typer(
    cls=MendGroup,
    rich_markup_mode=None,
    help="Mend a trained model: netmend mend MODEL … finds a sparse patch of its weights, which can be reverted.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(DEFAULT, cls=PlainCommand)(find)

PatchFile = Annotated[Path, typer.Argument(metavar="PATCH", help="A patch file (safetensors).")]
Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="A .safetensors file, a folder (shards with an index too), or a .pt state dict."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--out",
        metavar="PATH",
        help="Where the changed model goes (default: beside it, under a new name).",
    ),
]
InPlace = Annotated[
    bool, typer.Option("--in-place", help="Change the model's own files; the patch is kept beside them.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is at --out.")]


@app.command(cls=PlainCommand)
def apply(
    patch: PatchFile,
    model: Model,
    out: Out = None,
    in_place: InPlace = False,
    force: Force = False,
    json: ResultFile = None,
    quiet: Quiet = False,
) -> int:
    """Apply a patch to the model it was made for; any other model is refused."""
    from netmend.mend.fit import State

    return _change(patch, model, State.IN, out, in_place, force, json, quiet)


@app.command(cls=PlainCommand)
def revert(
    patch: PatchFile,
    model: Model,
    out: Out = None,
    in_place: InPlace = False,
    force: Force = False,
    json: ResultFile = None,
    quiet: Quiet = False,
) -> int:
    """Revert a patch; the weights are then what they were before, bit for bit."""
    from netmend.mend.fit import State

    return _change(patch, model, State.OUT, out, in_place, force, json, quiet)


@app.command(cls=PlainCommand)
def show(
    patch: PatchFile,
    model: Annotated[
        Path | None, typer.Argument(metavar="[MODEL]", help="Also say whether the patch is in this model.")
    ] = None,
    json: ResultFile = None,
) -> int:
    """Show what a patch changes, and how it was found."""
    from netmend.mend.fit import fit
    from netmend.mend.model_files import open_model
    from netmend.mend.patch_file import read_patch
    from netmend.report.mend.patch import patch_document, patch_json

    _refuse_bad_file(json)
    if model is not None:
        _refuse_swapped("show", patch, model)
    held = read_patch(patch)
    state = fit(held, open_model(model), str(model)) if model else None
    _finish(patch_json(held, state) if json else "", json, patch_document(held, f"patch {patch}", state))
    return 0


@app.command(cls=PlainCommand)
def diff(
    first: Annotated[Path, typer.Argument(metavar="PATCH|MODEL", help="A patch, or the model before.")],
    second: Annotated[Path, typer.Argument(metavar="MODEL", help="The patch's model, or the model after.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Of two models: write the patch.")
    ] = None,
    force: Force = False,
    json: ResultFile = None,
) -> int:
    """Show a patch's changes to a model one by one, or the difference between two models."""
    from netmend.mend.fit import fit
    from netmend.mend.model_files import open_model
    from netmend.mend.patch import patch_between
    from netmend.mend.patch_file import read_patch, write_patch
    from netmend.report.mend.patch import patch_document, patch_json

    _refuse_bad_file(json)
    if out is not None and out.exists() and not force:
        raise UsageError(
            f"{out} is already there; name another file with --out, or overwrite it with --force"
        )
    _refuse_swapped("diff", first, second)
    if _is_patch(first):
        if out is not None:
            raise UsageError(f"--out writes the patch between two models, but {first} is a patch already")
        patch = read_patch(first)
        state = fit(patch, open_model(second), str(second))
        title = f"{first} and {second}"
    else:
        patch, state, title = (
            patch_between(open_model(first), open_model(second)),
            None,
            f"{first} → {second}",
        )
        if out is not None and patch.pieces:
            write_patch(patch, out)
        elif out is not None:
            raise UsageError(f"{first} and {second} hold the same weights, so there is no patch to write")
    _finish(patch_json(patch, state) if json else "", json, patch_document(patch, title, state, changes=True))
    return 0


def _change(
    patch: Path,
    model: Path,
    wanted: State,
    out: Path | None,
    in_place: bool,
    force: bool,
    json: Path | None,
    quiet: bool,
) -> int:
    from netmend.mend.change_model import change_model
    from netmend.mend.fit import State
    from netmend.report.mend.patch import changed_document, patch_json

    _refuse_bad_file(json)
    _refuse_swapped("apply" if wanted is State.IN else "revert", patch, model)
    changed = change_model(patch, model, wanted, out, in_place, force)
    document = None if quiet else changed_document(changed)
    _finish(patch_json(changed.patch, changed.after, changed) if json else "", json, document)
    return 0


def _refuse_swapped(command: str, patch: Path, model: Path) -> None:
    """Patch and model are easily given the wrong way round."""
    if _is_patch(model) and not _is_patch(patch):
        raise UsageError(
            f"{model} is the patch and {patch} the model; the patch comes first: netmend mend {command} {model} {patch}"
        )


def _is_patch(file: Path) -> bool:
    from netmend.mend.patch_file import is_patch

    try:
        return file.suffix in (".safetensors", ".patch") and is_patch(file)
    except UsageError:
        return False


def _finish(machine: str, file: Path | None, document: Any) -> None:
    from netmend.report.terminal import console, draw

    if file is not None:
        file.write_text(machine, encoding="utf-8")
    if document is not None:
        console(sys.stdout).print(draw(document), crop=False)  # a command to copy may be longer than a line


def _refuse_bad_file(file: Path | None) -> None:
    if file is not None and (file.is_dir() or not file.absolute().parent.is_dir()):
        raise UsageError(f"--json {file}: name a file in a folder that exists")
