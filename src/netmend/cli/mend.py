"""`netmend mend`: patches of weights, found, put in, taken out and looked at.

`find` need not be named: `netmend mend MODEL …` is `netmend mend find MODEL …`.
"""

from __future__ import annotations

import difflib
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from netmend.cli.command_help import PlainCommand, PlainGroup
from netmend.cli.mend_find import find, refuse_occupied
from netmend.cli.options import OutputOptions, Quiet, ResultFile, expanded
from netmend.errors import UsageError
from netmend.trials.options import option

if TYPE_CHECKING:
    from netmend.mend.patch import State

DEFAULT = "find"


class MendGroup(PlainGroup):
    """Anything but the name of a command or a wish for help is taken for the default command's."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args:
            args = [ctx.help_option_names[0]]
        if args[0] not in self.commands and args[0] not in ctx.help_option_names:
            self._refuse_misspelt(args[0])
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def _refuse_misspelt(self, word: str) -> None:
        """`aply` is hardly a model, unless there is one of that name."""
        meant = difflib.get_close_matches(word, self.commands, n=1, cutoff=0.7)
        if meant and not Path(word).exists():
            raise UsageError(
                f"there is neither a command nor a model called {word}; did you mean: netmend mend {meant[0]}?"
            )

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The default command's options too: whoever asks about `netmend mend` mostly means that one."""
        super().format_options(ctx, formatter)
        find = self.commands[DEFAULT]
        records = [record for one in find.get_params(ctx) if (record := one.get_help_record(ctx))]
        with formatter.section("Options of netmend mend MODEL"):
            formatter.write_dl([record for record in records if not record[0].startswith("-h")])


app = typer.Typer(
    cls=MendGroup,
    rich_markup_mode=None,
    help="Mend a trained model: netmend mend MODEL … finds a sparse patch of its weights, which can be reverted.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(DEFAULT, cls=PlainCommand)(find)


@dataclass(frozen=True)
class ChangeOptions:
    """Which patch, which model, and where the changed model goes."""

    patch: Path = option(MISSING, "A patch file (safetensors).", metavar="PATCH", is_argument=True)
    model: Path = option(
        MISSING,
        "A .safetensors file, a folder (shards with an index too), or a .pt state dict.",
        metavar="MODEL",
        is_argument=True,
    )
    out: Path | None = option(
        None,
        "Where the changed model goes (default: beside it, under a new name).",
        "-o",
        "--out",
        metavar="PATH",
    )
    in_place: bool = option(False, "Change the model's own files; the patch is kept beside them.")
    force: bool = option(False, "Overwrite what is at --out.")
    json: ResultFile = None
    quiet: Quiet = False


@app.command(cls=PlainCommand)
@expanded
def apply(change: ChangeOptions) -> int:
    """Apply a patch to the model it was made for; any other model is refused."""
    from netmend.mend.patch import State

    return _change(change, State.IN)


@app.command(cls=PlainCommand)
@expanded
def revert(change: ChangeOptions) -> int:
    """Revert a patch; the weights are then what they were before, bit for bit."""
    from netmend.mend.patch import State

    return _change(change, State.OUT)


@app.command(cls=PlainCommand)
@expanded
def show(
    patch: Path = option(MISSING, "A patch file (safetensors).", metavar="PATCH", is_argument=True),
    model: Path | None = option(
        None, "Also say whether the patch is in this model.", metavar="[MODEL]", is_argument=True
    ),
    json: ResultFile = None,
) -> int:
    """Show what a patch changes, and how it was found."""
    from netmend.mend.model_files import open_model
    from netmend.mend.patch import fit
    from netmend.mend.patch_file import read_patch
    from netmend.report.mend.patch import patch_document, patch_json
    from netmend.report.terminal import draw

    output = OutputOptions(json)
    if model is not None:
        _refuse_swapped("show", patch, model)
    held = read_patch(patch)
    state = fit(held, open_model(model), str(model)) if model else None
    document = patch_document(held, f"patch {patch}", state)
    output.hand_over(lambda: draw(document), lambda: patch_json(held, state), crop=False)
    return 0


@app.command(cls=PlainCommand)
@expanded
def diff(
    first: Path = option(MISSING, "A patch, or the model before.", metavar="PATCH|MODEL", is_argument=True),
    second: Path = option(
        MISSING, "The patch's model, or the model after.", metavar="MODEL", is_argument=True
    ),
    out: Path | None = option(None, "Of two models: write the patch.", "-o", "--out", metavar="FILE"),
    force: bool = option(False, "Overwrite what is at --out."),
    json: ResultFile = None,
) -> int:
    """Show a patch's changes to a model one by one, or the difference between two models."""
    from netmend.mend.model_files import open_model
    from netmend.mend.patch import fit, patch_between
    from netmend.mend.patch_file import read_patch, write_patch
    from netmend.report.mend.patch import patch_document, patch_json
    from netmend.report.terminal import draw

    output = OutputOptions(json)
    if out is not None:
        refuse_occupied(out, force)
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
    document = patch_document(patch, title, state, changes=True)
    output.hand_over(lambda: draw(document), lambda: patch_json(patch, state), crop=False)
    return 0


def _change(change: ChangeOptions, wanted: State) -> int:
    from netmend.mend.change_model import change_model
    from netmend.mend.patch import State
    from netmend.report.mend.patch import changed_document, patch_json
    from netmend.report.terminal import draw

    output = OutputOptions(change.json, None, change.quiet)
    _refuse_swapped("apply" if wanted is State.IN else "revert", change.patch, change.model)
    changed = change_model(change.patch, change.model, wanted, change.out, change.in_place, change.force)
    output.hand_over(
        lambda: draw(changed_document(changed)),
        lambda: patch_json(changed.patch, changed.after, changed),
        crop=False,  # a command to copy may be longer than a line
    )
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
