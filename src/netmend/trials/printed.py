"""Numbers that a program prints, by what stands before them: "epoch 3: val acc 0.91" holds "val acc" = 0.91."""

from __future__ import annotations

import re
from collections.abc import Iterable

HIGHER = frozenset([
    "acc", "accuracy", "f1", "auc", "auroc", "auprc", "precision", "recall", "r2", "r²", "score", "correct",
    "iou", "miou", "dice", "map", "bleu", "rouge", "reward", "return", "hit", "hits", "top1", "top5",
    "kappa", "mcc", "correlation", "psnr", "ssim", "success", "spearman", "pearson",
])  # fmt: skip
LOWER = frozenset([
    "loss", "mse", "rmse", "mae", "err", "error", "errors", "nll", "ppl", "perplexity", "bce", "ce", "xent",
    "kl", "mape", "cost", "objective", "wer", "cer", "fid", "elbo", "residual", "deviation", "divergence",
])  # fmt: skip
HELD_OUT = frozenset([
    "val", "valid", "validation", "test", "tst", "eval", "evaluation", "dev", "heldout", "held", "holdout",
    "unseen",
])  # fmt: skip
TRAINING = frozenset(["train", "training", "trn", "fit"])

NUMBER = re.compile(
    r"(?<![\w.@])([-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf(?:inity)?))(?!\w|\.\d)\s*%?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z²@][A-Za-z0-9²]*")
_OUT_OF = re.compile(r"\s*/\s*(\d+)(?![\w.])")
_NO_WORDS = re.compile(
    r"[\d?][A-Za-z]+/[A-Za-z]+"  # "134.3it/s"
    r"|\b(?:tensor|array|(?:np\.|numpy\.)?float(?:16|32|64))\("  # the number comes inside
    r"|\b(?:DEBUG|INFO|WARNING)\b(?::[\w.]+:)?"  # of logging
)
_MOST_WORDS, _LONGEST_WORD = 8, 40
_LONGEST = 2000  # characters of a line that are looked at


def numbers_in(line: str, domain: str = "") -> list[tuple[str, float]]:
    """Labels and numbers of one line, in order; numbers without any words before them are left out.

    `domain` says what data the line is about (val, test, …), until the line itself does.
    """
    line = _NO_WORDS.sub(" ", line[-_LONGEST:])
    found: list[tuple[str, float]] = []
    end = 0
    before: tuple[list[str], str] = ([], "")
    while (match := NUMBER.search(line, end)) is not None:
        words = _words(line[end : match.start()])
        text, end = match[1], match.end()
        if not _is_measure(words) and before[0] and _is_measure(before[0]) and before[1].isdigit():
            words = [*before[0], *words]  # "accuracy on 1000 test images: 54 %"
        own = next((word for word in words if word in HELD_OUT | TRAINING), "")
        if own:
            domain = own
        elif domain and _is_measure(words):
            words = [domain, *words]  # "val loss 0.3 acc 0.9"
        value = _value(text)
        out_of = _OUT_OF.match(line, end) if text.isdigit() and not HIGHER.isdisjoint(words) else None
        if out_of is not None and value <= float(out_of[1]) > 0:
            value, text, end = (
                value / float(out_of[1]),
                out_of[0],
                out_of.end(),
            )  # "accuracy: 9834/10000 (98%)"
        if words:
            found.append((" ".join(words[-_MOST_WORDS:]), value))
        before = (words, text)
    return found


def _words(text: str) -> list[str]:
    spaced = re.sub(r"([a-z]{2})([A-Z])", r"\1 \2", text)  # "valAcc", but not "mAP"
    for sign in "_-":
        spaced = spaced.replace(sign, " ")
    return [word.lower() for word in _WORD.findall(spaced.replace("@", " @")) if len(word) <= _LONGEST_WORD]


def _value(text: str) -> float:
    return float(text.replace("_", ""))


def _is_measure(words: list[str]) -> bool:
    return any(word in HIGHER or word in LOWER for word in words)


class Columns:
    """Tables: a line of names, then lines of numbers."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def numbers_in(self, line: str, domain: str = "") -> list[tuple[str, float]]:
        cells = [
            cell for cell in re.split(r"\s*[|,;\t]\s*|\s{2,}|(?<=\d)\s+(?=[-+.\d])", line.strip(" |")) if cell
        ]
        numeric = [NUMBER.fullmatch(cell) for cell in cells]
        if len(cells) > 1 and all(numeric):
            if len(cells) == len(self._names):
                return [
                    (name, _value(match[1]))
                    for name, match in zip(self._names, numeric, strict=True)
                    if match
                ]
            return []
        if not NUMBER.search(line):
            parts = [cell for cell in re.split(r"\s*[|,;\t]\s*|\s{2,}", line.strip(" |")) if cell]
            if len(parts) < 2:
                parts = line.split()
            names = [" ".join(_words(part)) for part in parts]
            if len(names) > 1 and any(_is_measure(name.split()) for name in names):
                self._names = names
        return numbers_in(line, domain)


class Reader:
    """Labels and numbers of line after line; a label twice in a line is told apart."""

    def __init__(self) -> None:
        self._columns = Columns()
        self._heading = ""

    def numbers_in(self, line: str) -> list[tuple[str, float]]:
        seen: dict[str, int] = {}
        found = []
        for label, value in self._columns.numbers_in(line, self._heading):
            seen[label] = seen.get(label, 0) + 1
            found.append((label if seen[label] == 1 else f"{label} #{seen[label]}", value))
        self._heading = ""
        if not found and line.rstrip().endswith(":"):  # "Test Error:", and on the next line "Accuracy: 64.7%"
            self._heading = next((word for word in _words(line) if word in HELD_OUT | TRAINING), "")
        return found


def labelled(lines: Iterable[tuple[int, str]]) -> dict[str, list[list[float]]]:
    """Series by label from lines with the steps at which they were printed."""
    reader = Reader()
    series: dict[str, list[list[float]]] = {}
    for step, line in lines:
        for label, value in reader.numbers_in(line):
            series.setdefault(label, []).append([step, value])
    return series
