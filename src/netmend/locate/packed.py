"""Facts as bytes: sorted term numbers and counts of all content fields in one piece, so that thousands load at once.

Words of definitions ("passages") are kept as numbers only: they are searched, never shown.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netmend.locate.facts import CONTENT_FIELDS, Definition, FileFacts
from netmend.locate.words import term_number

_MOST = 65_535  # counts are kept in 16 bits


@dataclass(frozen=True)
class PackedFacts:
    """One content's facts as they are stored. `details` is opened only for files that are shown."""

    sizes: bytes  # entries of each content field, 32 bits each
    terms: bytes  # 32 bits each, sorted inside a field
    counts: bytes  # 16 bits each
    passages: bytes  # entries of each function, method and head of a class, 32 bits each
    passage_terms: bytes
    passage_counts: bytes
    imports: str  # one per line
    lines: int
    parsed: bool
    cut: bool
    details: bytes


@dataclass(frozen=True)
class Details:
    definitions: tuple[Definition, ...] = ()
    literals: tuple[str, ...] = ()


def pack(facts: FileFacts) -> PackedFacts:
    sizes, all_terms, all_counts = [], [], []
    for field in CONTENT_FIELDS:
        terms, counts = _numbers(facts.fields.get(field, {}))
        sizes.append(len(terms))
        all_terms.append(terms)
        all_counts.append(counts)
    passages = [_numbers(definition.words) for definition in facts.definitions if definition.words]
    plain = {
        "definitions": [[d.name, d.kind, d.line, d.end] for d in facts.definitions],
        "literals": facts.literals,
    }
    return PackedFacts(
        sizes=np.array(sizes, dtype="<u4").tobytes(),
        terms=np.concatenate(all_terms).tobytes(),
        counts=np.concatenate(all_counts).tobytes(),
        passages=np.array([len(terms) for terms, _ in passages], dtype="<u4").tobytes(),
        passage_terms=b"".join(terms.tobytes() for terms, _ in passages),
        passage_counts=b"".join(counts.tobytes() for _, counts in passages),
        imports="\n".join(facts.imports),
        details=zlib.compress(json.dumps(plain, separators=(",", ":")).encode(), 1),
        lines=facts.lines,
        parsed=facts.parsed,
        cut=facts.cut,
    )


def open_details(details: bytes) -> Details:
    plain = json.loads(zlib.decompress(details))
    definitions = tuple(Definition(*entry) for entry in plain["definitions"])
    return Details(definitions, tuple(plain["literals"]))


def _numbers(counts: Mapping[str, int]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint16]]:
    if not counts:
        return np.empty(0, "<u4"), np.empty(0, "<u2")
    terms = np.fromiter(map(term_number, counts), dtype="<u4", count=len(counts))
    values = np.minimum(np.fromiter(counts.values(), dtype=np.int64, count=len(counts)), _MOST)
    order = np.argsort(terms, kind="stable")
    return terms[order], values[order].astype("<u2")
