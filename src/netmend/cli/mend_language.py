"""`netmend mend FOLDER`: a causal language model, mended with pairs of bad and good answers."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netmend.cli.mend_find import Asked, refuse_occupied
from netmend.cli.options import OutputOptions
from netmend.errors import MissingExtra, UsageError
from netmend.mend.options import parse_methods, parse_rates

if TYPE_CHECKING:
    from netmend.mend.torch.language.session import Options

_GUESSED_TEXTS = 1_000  # where a plan is asked for before there is data


def mend_language(asked: Asked) -> int:
    """Exit code 0: a patch is recommended and written (or the plan fits); 1: none is (or it does not fit)."""
    for option, given in (("--validation", asked.validation), ("--tolerance", asked.tolerance)):
        if given is not None:
            raise UsageError(
                f"{option} is for models of other kinds; a language model has pairs and normal text"
            )
    try:
        options = _options(asked)
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] != "torch":
            raise
        raise MissingExtra(
            "mending language models needs PyTorch and transformers: pip install 'netmend[llm]'"
        ) from None
    if asked.dry_run:
        return _plan(asked, options)
    if asked.memory is not None:
        raise UsageError("--memory is for --dry-run; a repair takes what is free")
    if asked.failing is None or asked.guard is None:
        raise UsageError(
            "say what must change and what must stay: --failing pairs.jsonl --guard normal.txt "
            '(pairs: {"prompt": "…", "bad": "…", "good": "…"} a line)'
        )
    refuse_occupied(asked.target, asked.force)
    return _repair(asked, options, Path(asked.failing), Path(asked.guard))


def _options(asked: Asked) -> Options:
    from netmend.mend.torch.language.descent import method_named
    from netmend.mend.torch.language.loop import Budget
    from netmend.mend.torch.language.session import Options
    from netmend.mend.torch.state_file import device_for

    if not asked.bound >= 0:
        raise UsageError(f"the bound is a growth of perplexity, 0 or more, such as 0.01; got {asked.bound:g}")
    methods = parse_methods(asked.method)
    for name in methods:
        method_named(name)
    budget = Budget(batch=asked.batch, guard_batch=asked.batch)
    options = Options(seed=asked.seed, bound=asked.bound, longest=asked.longest, spread=asked.spread)
    return replace(
        options,
        methods=methods or options.methods,
        rates=options.rates if asked.rate is None else parse_rates(asked.rate),
        budget=budget if asked.steps is None else replace(budget, steps=asked.steps),
        device=str(device_for(asked.device)),
    )


def _repair(asked: Asked, options: Options, pairs: Path, texts: Path) -> int:
    from netmend.mend.patch_file import write_patch
    from netmend.mend.torch.language.session import mend_folder
    from netmend.report.mend.language import language_document, language_json
    from netmend.report.terminal import draw

    outcome = mend_folder(asked.model, pairs, texts, options, _sayer(asked.quiet))
    written = None
    if outcome.patch is not None:
        write_patch(outcome.patch, asked.target)
        written = asked.target
    result = outcome, options, asked.model, written
    OutputOptions(asked.json, None, asked.quiet).hand_over(
        lambda: draw(language_document(*result)), lambda: language_json(*result), crop=False
    )
    return 0 if written is not None else 1


def _plan(asked: Asked, options: Options) -> int:
    """From the configuration alone: nothing is loaded, so it works for models that this machine could not hold."""
    import torch

    from netmend.mend.torch.language.loading import empty_model
    from netmend.mend.torch.language.memory_plan import Shape, free_memory, plan
    from netmend.mend.torch.language.rows import read_pairs, read_texts

    texts = _GUESSED_TEXTS
    if asked.failing is not None and asked.guard is not None:
        texts = len(read_pairs(Path(asked.failing))) + len(read_texts(Path(asked.guard)))
    model = empty_model(asked.model)
    shape = Shape.of(model, _dtype(model.config))
    if asked.memory is not None and not asked.memory > 0:
        raise UsageError(f"--memory is in GiB, above 0; got {asked.memory:g}")
    free = free_memory([torch.device(options.device)]) if asked.memory is None else int(asked.memory * 2**30)
    say = _sayer(False, sys.stdout)
    say(
        f"{shape.parameters / 1e6:,.0f} million weights in {shape.blocks} blocks, {shape.width_bytes} bytes each; "
        f"texts of {asked.longest} tokens"
    )
    batch = max(options.budget.batch * 2, options.budget.guard_batch)
    plans = [
        plan(shape, batch, asked.longest, texts, free, one_block, options.budget.reference_tokens)
        for one_block in (True, False)
    ]
    for one in plans:
        for line in one.lines():
            say(line)
    return 0 if any(one.fits for one in plans) else 1


def _dtype(config: Any) -> Any:
    import torch

    # Newer versions of transformers complain about the older name.
    held = config.dtype if hasattr(config, "dtype") else getattr(config, "torch_dtype", None)
    found = getattr(torch, held, None) if isinstance(held, str) else held
    return found if isinstance(found, torch.dtype) else torch.float32


def _sayer(quiet: bool, stream: Any = None) -> Any:
    def say(line: str) -> None:
        if not quiet:
            (stream or sys.stderr).write(f"{line}\n" if stream else f"netmend: {line}\n")

    return say
