"""A whole repair of a language model in a folder: several methods, the baseline among them, and the choice by evidence."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from netmend.errors import UsageError
from netmend.mend.patch import Patch
from netmend.mend.torch.language.blocks import PATTERN, blocks_of
from netmend.mend.torch.language.descent import BASELINE, Method, method_named
from netmend.mend.torch.language.loading import load_model, load_tokenizer, patch_for_folder
from netmend.mend.torch.language.loop import Attempt, Budget, Measure, Meter, mend
from netmend.mend.torch.language.memory_plan import Plan, Shape, free_memory, plan
from netmend.mend.torch.language.passes import Passes
from netmend.mend.torch.language.rows import Data, Pair, Row, pair_rows, read_pairs, read_texts, text_rows


@dataclass(frozen=True)
class Options:
    """What is tried. `bound` is the growth of perplexity on normal text beyond which no patch is recommended."""

    methods: tuple[str, ...] = (BASELINE, "irepair_kl", "irepair_fixed_kl", "unlikely_kl")
    rates: tuple[float, ...] = (1e-5, 1e-4)
    budget: Budget = field(default_factory=Budget)
    longest: int = 256
    bound: float = 0.01
    seed: int = 0
    device: str = ""  # "": an accelerator if there is one
    spread: bool = False
    blocks: str = PATTERN


@dataclass(frozen=True)
class Tried:
    """One method at its better rate: shares repaired and growth of perplexity on validation data and on unseen data."""

    method: str
    rate: float
    score: float
    repaired: float
    growth: float
    repaired_unseen: float
    growth_unseen: float
    touched: float
    seconds: float
    steps: int
    chosen: dict[str, int]


@dataclass(frozen=True)
class Outcome:
    """All that was tried; `patch` is the recommended method's, or None where none kept to the bound."""

    tried: tuple[Tried, ...]
    recommended: str | None
    patch: Patch | None
    plans: tuple[Plan, ...]


_One = TypeVar("_One")
Say = Callable[[str], None]


def mend_folder(
    folder: Path, pairs: Path, texts: Path, options: Options, say: Say = lambda line: None
) -> Outcome:
    """Repair the model of a folder; its files stay as they are, the patch is what comes out."""
    # The baseline is always measured: a method that does not beat it is not worth its trouble.
    methods = [method_named(name) for name in dict.fromkeys((BASELINE, *options.methods))]
    tokenizer = load_tokenizer(folder)
    first = _parts(pair_rows(tokenizer, read_pairs(pairs), options.longest), options.seed, "pairs")
    second = _parts(text_rows(tokenizer, read_texts(texts), options.longest), options.seed, "normal texts")
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    model = load_model(folder, device, options.spread)
    return _Session(folder, model, first, second, options, say).run(methods)


class _Session:
    def __init__(
        self, folder: Path, model: Any, pairs: Sequence[list[Pair]], texts: Sequence[list[Row]], options: Options, say: Say
    ) -> None:  # fmt: skip
        self.folder, self.model, self.options, self.say = folder, model, options, say
        self.blocks = blocks_of(model, options.blocks)
        self.data = Data(pairs[0], texts[0], pairs[1], texts[1])
        self.unseen = (pairs[2], texts[2])
        self.shape = Shape.of(model)

    def run(self, methods: Sequence[Method]) -> Outcome:
        plans = {one: self._plan(one) for one in dict.fromkeys(method.choice != "all" for method in methods)}
        for one in plans.values():
            for line in one.lines():
                self.say(line)
        usable = [method for method in methods if plans[method.choice != "all"].fits]
        if not usable:
            raise UsageError(
                "the repair does not fit into memory in any way; use shorter texts or smaller batches"
            )
        for method in methods:
            if method not in usable:
                self.say(f"{method.name} is left out: it does not fit into memory")
        tried: list[Tried] = []
        best: tuple[float, str, dict[str, Tensor], dict[str, Tensor]] | None = None
        for method in usable:
            result, before, after = self._method(method, plans[method.choice != "all"])
            tried.append(result)
            self.say(
                f"{result.method}: repaired {result.repaired:.1%} at {result.growth:+.2%} perplexity; "
                f"unseen {result.repaired_unseen:.1%} at {result.growth_unseen:+.2%}; {result.seconds:.0f} s"
            )
            allowed = result.growth <= self.options.bound and result.repaired > 0
            if allowed and (best is None or result.score < best[0]):
                best = (result.score, method.name, before, after)
        if best is None:
            return Outcome(tuple(tried), None, None, tuple(plans.values()))
        _, name, before, after = best
        facts = next(one for one in tried if one.method == name)
        figures = {key: value for key, value in vars(facts).items() if key not in ("method", "score")}
        meta = {"method": name, "metrics": json.dumps(figures)}
        patch = patch_for_folder(
            self.folder, before, after, getattr(self.model, "base_model_prefix", ""), meta
        )
        return Outcome(tuple(tried), name, patch, tuple(plans.values()))

    def _method(self, method: Method, one: Plan) -> tuple[Tried, dict[str, Tensor], dict[str, Tensor]]:
        """The method at each rate; the model is the original one again afterwards."""
        dtype = next(iter(self.blocks[0].parameters.values())).dtype
        passes = Passes(
            self.model, self.blocks, one.recompute, one.positions,
            autocast=(self.shape.width_bytes == 4 and next(self.model.parameters()).is_cuda) or dtype is torch.float16,
        )  # fmt: skip
        meter = Meter(passes, *self.unseen, judge=None, at_once=self.options.budget.look_batch)
        before = meter.measure()
        kept: tuple[Tried, dict[str, Tensor], dict[str, Tensor]] | None = None
        for rate in self.options.rates:
            budget = replace(self.options.budget, rate=rate, reference=one.reference, keep_on=one.keep_on)
            attempt = mend(passes, self.data, method, budget, self.options.seed)
            result = self._tried(attempt, rate, before, meter.measure())
            if kept is None or result.score < kept[0].score:
                now = {name: value.to("cpu") for name, value in attempt.originals.snapshot().items()}
                kept = (
                    result,
                    {name: value.to("cpu") for name, value in attempt.originals.values.items()},
                    now,
                )
            attempt.originals.put({})
        assert kept is not None
        return kept

    def _tried(self, attempt: Attempt, rate: float, before: Measure, after: Measure) -> Tried:
        touched = attempt.originals.changed()
        return Tried(
            attempt.method, rate, attempt.score, _repaired(attempt.before, attempt.after),
            _growth(attempt.before, attempt.after), _repaired(before, after), _growth(before, after),
            touched / self.shape.parameters, attempt.seconds, attempt.steps, attempt.chosen,
        )  # fmt: skip

    def _plan(self, one_block: bool) -> Plan:
        rows = max(self.options.budget.batch * 2, self.options.budget.guard_batch)
        free = (
            free_memory({one.device for one in self.model.parameters()})
            + self.shape.parameters * self.shape.width_bytes
        )
        length = max(len(row.ids) for row in (*self.data.guard, *(pair.bad for pair in self.data.pairs)))
        texts = len(self.data.guard) + len(self.data.pairs)
        return plan(self.shape, rows, length, texts, free, one_block, self.options.budget.reference_tokens)


def _repaired(before: Measure, after: Measure) -> float:
    return 1 - after.unwanted / before.unwanted if before.unwanted > 0 else 0.0


def _growth(before: Measure, after: Measure) -> float:
    return math.expm1(min(after.loss - before.loss, 50.0))


def _parts(among: Sequence[_One], seed: int, what: str) -> tuple[list[_One], list[_One], list[_One]]:
    """To learn from (three fifths), to choose by, and to judge by (a fifth each)."""
    if len(among) < 5:
        raise UsageError(
            f"{len(among)} {what} are too few to learn from, choose by and judge by; give at least 5"
        )
    mixed = random.Random(seed).sample(list(among), len(among))
    fifth = max(1, len(among) // 5)
    return mixed[2 * fifth :], mixed[:fifth], mixed[fifth : 2 * fifth]
