"""Files of bad and good answers and of normal text, and their tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netmend.errors import UsageError
from netmend.mend.torch.language.rows import Pair, Row

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
