"""What the study of language models repairs with, and what it is tested on; the grammar knows exactly what is unwanted."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from mend_language_model import device_of, vocabulary_size
from mend_language_text import Grammar
from mend_language_worlds import WORLDS, World

from netmend.mend.torch.language.blocks import blocks_of
from netmend.mend.torch.language.loop import mean_loss
from netmend.mend.torch.language.passes import Passes
from netmend.mend.torch.language.rows import Batch, Data, Pair, Row, collate

LONGEST_SPEECH = 12


class Case:
    """One trained model with its repair data, validation data and tests."""

    def __init__(self, options: argparse.Namespace, seed: int, folder: Path) -> None:
        from transformers import GPT2LMHeadModel

        world: World = WORLDS[options.world]
        self.seed, self.words = seed, world.words()
        vocabulary_size(world, self.words)
        device = device_of(options)
        model: Any = GPT2LMHeadModel.from_pretrained(
            folder, local_files_only=True, attn_implementation="sdpa"
        )
        model = model.to(device)
        self.passes = Passes(model, blocks_of(model), autocast=device.type == "cuda")
        self.elements = sum(one.numel() for one in model.parameters())
        self.first = [one.detach().clone() for one in model.parameters()]
        count, validated = options.sizes.tested, max(8, options.pairs // 3)
        repair, test = world.grammar(self.words, 5_000 + seed), world.grammar(self.words, 9_000 + seed)
        self.data = Data(
            _pairs(repair, options.pairs, world),
            _texts(repair, options.guard_texts, world.anything),
            _pairs(repair, validated, world),
            _texts(repair, validated, world.anything),
        )
        self._forks = [Row(pair.bad.ids[: pair.fork + 1], pair.fork) for pair in self.data.validation_pairs]
        self.rude = torch.tensor(self.words.rude, device=device)
        self.prompts = {
            "unwanted_seen": test.documents(count, world.fault_seen).prompts(),
            "unwanted_unseen": test.documents(count, world.fault_unseen).prompts(),
            "kept_rude": test.documents(count, world.kept).prompts(),
            "near_miss": [
                one for kind in world.near for one in test.documents(count // len(world.near), kind).prompts()
            ],
        }
        self.texts = {
            "clean": _texts(test, count, world.anything),
            "stage": _texts(test, count, world.kept_texts),
        }

    @torch.no_grad()
    def judge(self) -> float:
        """The chance of a rude word at the forks of the validation pairs."""
        batch = collate(self._forks, self.passes.device)
        return float(self.passes.each_place(batch, self._rude_chance).mean())

    def _rude_chance(self, logits: torch.Tensor, piece: slice) -> torch.Tensor:
        return logits.float().softmax(-1)[:, self.rude].sum(1)

    @torch.no_grad()
    def rude_rate(self, prompts: list[tuple[int, ...]]) -> float:
        """The share of sampled speeches (temperature 1) with a rude word in them."""
        device, closing = self.passes.device, self.words('"')[0]
        generator = torch.Generator(device).manual_seed(77)
        length = torch.tensor([len(one) for one in prompts], device=device)
        ids = torch.zeros((len(prompts), int(length.max()) + LONGEST_SPEECH), dtype=torch.long)
        for at, one in enumerate(prompts):
            ids[at, : len(one)] = torch.tensor(one)
        ids, row = ids.to(device), torch.arange(len(prompts), device=device)
        rude = torch.zeros(len(prompts), dtype=torch.bool, device=device)
        open_still = torch.ones_like(rude)
        for at in range(LONGEST_SPEECH):
            found: list[torch.Tensor] = []

            def draw(logits: torch.Tensor, piece: slice, found: list[torch.Tensor] = found) -> torch.Tensor:
                found.append(torch.multinomial(logits.float().softmax(-1), 1, generator=generator)[:, 0])
                return logits[:, 0]

            self.passes.each_place(Batch(ids, row, length + at - 1, row), draw)
            token = found[0]
            ids[row, length + at] = token
            rude |= open_still & torch.isin(token, self.rude)
            open_still &= token != closing
        return float(rude.float().mean())


def metrics(case: Case) -> dict[str, float]:
    """All that is reported of a model, on data that neither its repair nor its choice saw."""
    found = {name: case.rude_rate(prompts) for name, prompts in case.prompts.items()}
    found["unwanted"] = (found["unwanted_seen"] + found["unwanted_unseen"]) / 2
    return found | {
        f"ppl_{name}": math.exp(mean_loss(case.passes, texts)) for name, texts in case.texts.items()
    }


def check_restored(case: Case) -> None:
    """Every run must begin with the same model, bit for bit."""
    for first, now in zip(case.first, case.passes.model.parameters(), strict=True):
        if not torch.equal(first, now):
            raise SystemExit(
                "the repair was not taken back completely: the next run would begin with another model"
            )


def _pairs(grammar: Grammar, count: int, world: World) -> list[Pair]:
    """The same prompt and the same form of speech, rude and kind; only half of the words of each class occur."""
    documents = grammar.documents(count, world.fault_seen, rude=True)
    words = grammar.words
    kind = {int(a): words.kind_adjective for a in words.rude_adjective} | {
        int(a): words.kind_noun for a in words.rude_noun
    }
    pairs = []
    for prompt, bad in zip(documents.prompts(), documents.speeches(), strict=True):
        good = tuple(int(grammar.random.choice(kind[token])) if token in kind else token for token in bad)
        pairs.append(Pair(Row(prompt + good, len(prompt)), Row(prompt + bad, len(prompt))))
    return pairs


def _texts(grammar: Grammar, count: int, context: Any) -> list[Row]:
    """Normal text: whole documents, none in a context of the unwanted behaviour."""
    whole = grammar.documents(count, context, clean=True).whole()
    return [Row(tuple(int(one) for one in np.asarray(row[row >= 0]))) for row in whole]
