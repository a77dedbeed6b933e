"""The options of `netmend adequacy`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from netmend.cli.options import Quiet, ResultFile


def adequacy(
    program: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCRIPT|FILE.py:FUNCTION [-- ARGS]",
            help="A training script, or a function that returns (model, train, test[, pool]).",
        ),
    ] = None,
    train: Annotated[
        str | None, typer.Option(metavar="NAME", help="The training data in the script: a loader, or x,y.")
    ] = None,
    test: Annotated[str | None, typer.Option(metavar="NAME", help="The test set in the script.")] = None,
    pool: Annotated[
        str | None, typer.Option(metavar="NAME", help="Inputs without labels, to choose from.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model in the script (default: the one it calls).")
    ] = None,
    layer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Measure surprise at this layer's output (default: the last layer's input)."
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="classes|binary|numbers", help="Kind of output (default: inferred from the labels)."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=2, help="Inputs used from each set.")] = 5_000,
    count: Annotated[int, typer.Option(min=1, help="Inputs to suggest per method.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed for the samples that are compared.")] = 0,
    json: ResultFile = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the suggested inputs as CSV.")
    ] = None,
    quiet: Quiet = False,
) -> Callable[[], None]:
    """Measure how adequate a test set is for a trained model, without retraining; suggest what to label next."""
    from netmend.cli.adequacy import Names, Wishes, prepare_adequacy

    wishes = Wishes(layer, task, limit, count, seed, json, save, quiet)
    return prepare_adequacy(tuple(program or ()), Names(model, train, test, pool), wishes)
