"""Broken, random and twisted sources: each ends in findings or in one message, never in a crash or a hang.

NETMEND_FUZZ says how many; `NETMEND_FUZZ=10000 python -m pytest tests/lint/test_fuzz.py` is what docs/check.md tells of.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netmend.check.checker import Checker
from netmend.check.reading import Bytes
from netmend.check.select import choose, known_rules

ROUNDS = int(os.environ.get("NETMEND_FUZZ", "400"))
ROOT = Path(__file__).parents[2]
SECONDS = 20.0  # a file that needs longer counts as hanging

WORDS = [
    part
    for line in (
        "for while if else elif def class return with try except finally lambda yield await async global import from as not and or",
        "is in self super torch nn optim loss model x y optimizer.step() loss.backward() optimizer.zero_grad() nn.Linear(4,3)",
        "nn.CrossEntropyLoss() F.softmax(x,1) nn.Sequential( DataLoader( [ ] ( ) { } : , = == += ** * -> @ := 0 1 -1 1e400 'a'",
        '""" # \\ None True match case _ model.eval() torch.no_grad() del assert raise range(10) keras.Sequential( ...',
        "netmend: ignore[S101] .to(device) super().__init__()",
    )
    for part in (*line.split(), "\n", "\n    ", "\n        ", "\t")
]


def sources() -> list[str]:
    paths = sorted(
        [
            *ROOT.glob("benchmarks/corpus/calibration/*/*.py"),
            *ROOT.glob("tests/programs/**/*.py"),
            *ROOT.glob("examples/**/*.py"),
        ]
    )
    return [path.read_text(encoding="utf-8") for path in paths]


def twisted(text: str, generator: random.Random) -> str:
    """A real source with a few lines or pieces moved, doubled, cut or swapped."""
    lines = text.splitlines(keepends=True) or [""]
    for _ in range(generator.randint(1, 6)):
        place, other = generator.randrange(len(lines)), generator.randrange(len(lines))
        kind = generator.randrange(9)
        if kind == 0:
            del lines[place : place + generator.randint(1, 4)]
        elif kind == 1:
            lines[place], lines[other] = lines[other], lines[place]
        elif kind == 2:
            lines.insert(place, lines[other])
        elif kind == 3:
            lines[place] = generator.choice(("    ", "\t", "")) + lines[place].lstrip()
        elif kind == 4:
            lines[place] = re.sub(
                r"\w+", lambda match: generator.choice((match.group(), "x", "self")), lines[place]
            )
        elif kind == 5:
            cut = generator.randrange(len(lines[place]) + 1)
            lines[place] = lines[place][:cut] + generator.choice(WORDS) + lines[place][cut:]
        elif kind == 6:
            lines = lines[: place + 1]
        elif kind == 7:
            lines[place] = lines[place].replace("(", generator.choice(("((", "", "[", "(*", "(**")), 1)
        else:
            lines[place:place] = [
                f"if {generator.choice(('flag', 'True', 'x > 0'))}:\n",
                "    " + lines[place].lstrip(),
            ]
        lines = lines or [""]
    return "".join(lines)


def look(checker: Checker, content: bytes, name: str) -> None:
    start = time.monotonic()
    result = checker.check_bytes(Bytes(content, len(content), 0), name)
    assert time.monotonic() - start < SECONDS, f"hangs:\n{content[:3000]!r}"
    assert not result.failures, f"{result.failures}\n{content.decode(errors='replace')}"
    assert "gave up" not in result.problem, f"hangs:\n{content[:3000]!r}"


@pytest.fixture(scope="module")
def checker() -> Checker:
    return Checker(choose(known_rules(), select=["ALL"]), SECONDS)


def test_twisted_programs(checker: Checker, tmp_path: Path) -> None:
    generator = random.Random(20)
    texts = sources()
    for _ in range(ROUNDS // 2):
        look(checker, twisted(generator.choice(texts), generator).encode(), str(tmp_path / "twisted.py"))


def test_soups_of_words(checker: Checker, tmp_path: Path) -> None:
    generator = random.Random(21)
    for _ in range(ROUNDS // 4):
        soup = " ".join(generator.choice(WORDS) for _ in range(generator.randint(1, 200)))
        look(checker, soup.encode(), str(tmp_path / "soup.py"))


def test_broken_bytes(checker: Checker, tmp_path: Path) -> None:
    generator = random.Random(22)
    texts = sources()
    for _ in range(ROUNDS // 8):
        content = bytearray(generator.choice(texts).encode())
        for _ in range(generator.randint(1, 8)):
            content[generator.randrange(len(content))] = generator.randrange(256)
        look(checker, bytes(content), str(tmp_path / "bytes.py"))


def test_broken_notebooks(checker: Checker, tmp_path: Path) -> None:
    generator = random.Random(23)
    texts = sources()
    for _ in range(ROUNDS // 8):
        cells = [
            {
                "cell_type": generator.choice(("code", "markdown", "raw", 3)),
                "source": generator.choice((twisted(part, generator), [part], 7)),
                "outputs": [],
            }
            for part in generator.choice(texts).split("\n\n")
        ]
        text = json.dumps({"nbformat": generator.choice((4, 3, "x")), "cells": cells})
        if generator.random() < 0.3:
            cut = generator.randrange(len(text))
            text = text[:cut] + text[cut + generator.randrange(40) :]
        look(checker, text.encode(), str(tmp_path / "book.ipynb"))


@settings(max_examples=max(ROUNDS // 4, 50), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(max_size=400) | st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join))
def test_any_text(text: str) -> None:
    look(CHECKER, text.encode("utf-8", "surrogatepass"), "any.py")


CHECKER = Checker(choose(known_rules(), select=["ALL"]), SECONDS)
