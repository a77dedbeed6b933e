"""Token rows: prompts with answers, pairs of them, and batches; read from files of texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from netmend.errors import UsageError


@dataclass(frozen=True, eq=False)
class Row:
    """Tokens of one text; the answer begins at `start`, what stands before it is the prompt."""

    ids: tuple[int, ...]
    start: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.start < len(self.ids):
            raise UsageError(
                f"a text of {len(self.ids)} tokens cannot have an answer that begins at token {self.start}; "
                "there must be at least one token before the answer and one in it"
            )


@dataclass(frozen=True, eq=False)
class Pair:
    """The same prompt with an answer that is wanted and one that is not."""

    good: Row
    bad: Row

    @cached_property
    def fork(self) -> int:
        """The first token at which the two differ."""
        for at, (good, bad) in enumerate(zip(self.good.ids, self.bad.ids, strict=False)):
            if good != bad:
                if at == 0:
                    raise UsageError("the good and the bad answer of a pair must follow the same prompt")
                return at
        raise UsageError("the good and the bad answer of a pair must differ in a token that both have")


@dataclass(frozen=True)
class Data:
    """What a repair is made from, and what decides when to stop; the two halves must not overlap."""

    pairs: Sequence[Pair]
    guard: Sequence[Row]
    validation_pairs: Sequence[Pair]
    validation_guard: Sequence[Row]


@dataclass(frozen=True)
class Batch:
    """Rows side by side, padded on the right, with the places that are to be predicted.

    A causal model looks to the left only, so padding on the right needs no mask.
    """

    ids: Tensor
    row: Tensor  # of each place: its row ...
    place: Tensor  # ... and the position whose output predicts the label
    labels: Tensor


def collate(rows: Sequence[Row], device: torch.device, whole: bool = False) -> Batch:
    """One batch; the places are those of the answers, or (whole) of all tokens but the first."""
    ids = torch.zeros((len(rows), max(len(row.ids) for row in rows)), dtype=torch.long)
    number: list[int] = []
    place: list[int] = []
    for at, row in enumerate(rows):
        ids[at, : len(row.ids)] = torch.tensor(row.ids)
        first = 0 if whole else row.start - 1
        number += [at] * (len(row.ids) - 1 - first)
        place += range(first, len(row.ids) - 1)
    rows_of, places = torch.tensor(number), torch.tensor(place)
    labels = ids[rows_of, places + 1]
    return Batch(ids.to(device), rows_of.to(device), places.to(device), labels.to(device))


FORM = '{"prompt": "…", "bad": "…", "good": "…"}'


def read_pairs(path: Path) -> list[tuple[str, str, str]]:
    """Prompt, bad answer, good answer: one JSON object a line."""
    found = []
    for number, held in _objects(path):
        parts = [held.get(key) if isinstance(held, dict) else None for key in ("prompt", "bad", "good")]
        if not all(isinstance(part, str) and part for part in parts):
            raise UsageError(f"line {number} of {path} must look like {FORM}, with text in all three")
        if parts[1] == parts[2]:
            raise UsageError(f"line {number} of {path} has the same bad and good answer; they must differ")
        found.append((str(parts[0]), str(parts[1]), str(parts[2])))
    if not found:
        raise UsageError(f"{path} holds no pairs; each line must look like {FORM}")
    return found


def read_texts(path: Path) -> list[str]:
    """Normal text: a `.jsonl` file of {"text": "…"}, or any other file with one text a line."""
    if path.suffix != ".jsonl":
        found = [line.strip() for _, line in _lines(path) if line.strip()]
    else:
        found = []
        for number, held in _objects(path):
            text = held.get("text") if isinstance(held, dict) else held
            if not isinstance(text, str) or not text:
                raise UsageError(f'line {number} of {path} must look like {{"text": "…"}}')
            found.append(text)
    if not found:
        raise UsageError(
            f"{path} holds no text; give normal text that the repaired model must continue as before"
        )
    return found


def pair_rows(tokenizer: Any, pairs: Sequence[tuple[str, str, str]], longest: int) -> list[Pair]:
    """Tokens of the pairs; of a text that is too long, the beginning of the prompt is left out."""
    found = []
    for at, (prompt, bad, good) in enumerate(pairs, 1):
        head = _ids(tokenizer, prompt, begin=True)
        answers = [_ids(tokenizer, text)[: longest - 1] for text in (good, bad)]
        head = head[-(longest - max(len(one) for one in answers)) :]
        if not head or not all(answers):
            raise UsageError(f"pair {at} has no tokens in its prompt or in an answer; both need some")
        rows = [Row((*head, *answer), len(head)) for answer in answers]
        pair = Pair(rows[0], rows[1])
        try:
            _ = pair.fork
        except UsageError as problem:
            raise UsageError(f"pair {at}: {problem}") from None
        found.append(pair)
    return found


def text_rows(tokenizer: Any, texts: Sequence[str], longest: int) -> list[Row]:
    """Tokens of normal texts, cut to the longest length; texts of one token say nothing and are left out."""
    found = [_ids(tokenizer, text, begin=True)[:longest] for text in texts]
    rows = [Row(tuple(one)) for one in found if len(one) > 1]
    if not rows:
        raise UsageError("no normal text has two tokens or more; give longer ones")
    return rows


def _ids(tokenizer: Any, text: str, begin: bool = False) -> list[int]:
    found = list(tokenizer(text, add_special_tokens=False)["input_ids"])
    first = tokenizer.bos_token_id
    if begin and first is not None and (not found or found[0] != first):
        whole = list(tokenizer(text)["input_ids"])
        if not found or whole[:1] == [first]:  # only where the tokenizer itself begins texts so
            found = [first, *found]
    return found


def _objects(path: Path) -> list[tuple[int, Any]]:
    found = []
    for number, line in _lines(path):
        if line.strip():
            try:
                found.append((number, json.loads(line)))
            except (ValueError, RecursionError):
                raise UsageError(f"line {number} of {path} is not JSON: {line.strip()[:60]!a}") from None
    return found


def _lines(path: Path) -> list[tuple[int, str]]:
    try:
        return list(enumerate(path.read_text(encoding="utf-8").splitlines(), 1))
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"{path} cannot be read as text: {problem}") from None
