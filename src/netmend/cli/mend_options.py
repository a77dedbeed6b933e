"""The options of `netmend mend MODEL`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from netmend.cli.options import Directory, Quiet, ResultFile


def find(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="Trained weights (.safetensors, .pt), or the folder of a language model (with config.json).",
        ),
    ],
    function: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="FILE.py:FUNCTION", help="Builds the module that the weights belong to."
        ),
    ] = None,
    failing: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Failing inputs with the desired outputs: .npz (x, y) or FILE.py:FUNCTION; language: pairs.jsonl.",
        ),
    ] = None,
    guard: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Inputs whose outputs must not change (labels optional); language: normal text.",
        ),
    ] = None,
    validation: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Labelled inputs for choosing the patch (default: a fifth of the others)."
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="auto|NAME,…", help="Methods to try besides the baseline (docs/mend.md).")
    ] = "auto",
    steps: Annotated[
        int | None, typer.Option(min=1, help="Steps per attempt (default: 400; language: 160).")
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="R,…", help="Learning rates to try (default: 0.002,0.0002; language: 1e-5,1e-4)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed for splitting the data and drawing batches.")] = 0,
    bound: Annotated[
        float,
        typer.Option(help="Share of the guard that may break; language: allowed growth of perplexity."),
    ] = 0.01,
    tolerance: Annotated[
        float | None, typer.Option(help="For numeric outputs: how far off still counts as right.")
    ] = None,
    device: Annotated[
        str, typer.Option(metavar="cpu|cuda|…", help="Where to compute (default: a GPU if there is one).")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="Where to write the patch (default: MODEL-patch.safetensors, in this folder).",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is at --out.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Language models: print the memory plan and stop.")
    ] = False,
    longest: Annotated[int, typer.Option(min=2, help="Language models: longest text, in tokens.")] = 256,
    batch: Annotated[int, typer.Option(min=1, help="Language models: pairs (and texts) per step.")] = 16,
    spread: Annotated[
        bool, typer.Option("--spread", help="Language models: spread the model over all GPUs.")
    ] = False,
    memory: Annotated[
        float | None, typer.Option(metavar="GIB", help="With --dry-run: plan for this much free memory.")
    ] = None,
    json: ResultFile = None,
    quiet: Quiet = False,
    directory: Directory = None,
) -> int:
    """Find a patch that repairs what fails and keeps the rest (the default: `netmend mend MODEL …`).

    Exit code 0: a patch is recommended and written; 1: none is; 2: the command cannot be carried out. The model stays as it is.
    """
    from netmend.cli.mend_find import Asked, find_patch

    return find_patch(
        Asked(
            model=model,
            function=function,
            failing=failing,
            guard=guard,
            validation=validation,
            method=method,
            steps=steps,
            rate=rate,
            seed=seed,
            bound=bound,
            tolerance=tolerance,
            device=device,
            out=out,
            force=force,
            dry_run=dry_run,
            longest=longest,
            batch=batch,
            spread=spread,
            memory=memory,
            json=json,
            quiet=quiet,
            directory=directory,
        )
    )
