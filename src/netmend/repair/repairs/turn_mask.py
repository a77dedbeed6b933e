"""R216."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.program.source.writing import add_argument, replace
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import FREE, Change, FileEdits

_example = partial(
    example,
    begin="tokens = torch.randint(1, 9, (8, 6))\ntokens[:, 4:] = 0",
    layers="self.embed, self.out = nn.Embedding(9, 4), nn.Linear(4, 1)",
    loss="F.mse_loss(model(tokens), torch.ones(8, 6, 1))",
)


@register
@dataclass(frozen=True)
class TurnMask:
    """Turn a mask of attention round that hides all there is to see, or cut it at the diagonal.

    What is masked gets no attention: the mask is True at the padding, not at the tokens. A causal mask begins right above the diagonal, as each position
    may see itself, and nothing later.
    """

    code: ClassVar[str] = "R216"
    cures: ClassVar[tuple[str, ...]] = ("INP-MASK-MISSING", "TOK-CAUSAL-MISSING")
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        found = None if case.fault is None else case.code.statement_at(case.fault.site)
        hidden = True if case.cause == "TOK-CAUSAL-MISSING" else hides_whole_rows(case)
        if found is None or case.fault is None or hidden is None:
            return
        file, statement = found
        exact = None if case.fault.site is None else file.node_at(case.fault.site)
        for node in inside(exact if isinstance(exact, ast.expr) else statement, ast.expr):
            edits = _raised(file, node) if hidden else _turned(file, node)
            if edits:
                title = (
                    "let each position see itself and what comes before"
                    if hidden
                    else "turn the mask round, so that it is True at the padding"
                )
                yield from change(self, case, title, edits, knob=f"mask at line {node.lineno}")
                return

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "True at the tokens",
            forward="""
                h = self.embed(x)
                scores = h @ h.transpose(1, 2)
                hidden = (x ⟨! → =⟩= 9)[:, None, :]
                return self.out(scores.masked_fill(hidden, float("-inf")).softmax(-1) @ h)""",
        ),
        _example(
            "the diagonal, too",
            forward="""
                h = self.embed(x)
                scores = h @ h.transpose(1, 2)
                hidden = torch.ones(6, 6, dtype=torch.bool).triu(⟨ → 1⟩)
                return self.out(scores.masked_fill(hidden, float("-inf")).softmax(-1) @ h)""",
        ),
        _example(
            "too far above the diagonal",
            forward="""
                h = self.embed(x)
                scores = h @ h.transpose(1, 2)
                hidden = torch.triu(torch.ones(6, 6), diagonal=⟨6 → 1⟩) > 0
                return self.out(scores.masked_fill(hidden, float("-inf")).softmax(-1) @ h)""",
            cause="TOK-CAUSAL-MISSING",
        ),
        _example(
            "padding",
            forward="""
                h = self.embed(x)
                scores = h @ h.transpose(1, 2)
                hidden = (x == 0)[:, None, :]
                return self.out(scores.masked_fill(hidden, float("-inf")).softmax(-1) @ h)""",
        ),
    )


def hides_whole_rows(case: Case) -> bool | None:
    """Whether a mask made NaN of the first rows only; None where no mask made any."""
    for event in case.trace.events:
        if event.kind == "nonfinite" and event.detail.get("hidden"):
            return bool(event.detail.get("first_hidden"))
    return None


def _turned(file: File, node: ast.AST) -> FileEdits:
    """`tokens != pad` → `tokens == pad`, `torch.ne(tokens, pad)` → `torch.eq(tokens, pad)`."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.NotEq):
        return replace(file, node, f"{file.source(node.left)} == {file.source(node.comparators[0])}")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "ne":
        return replace(file, node.func, f"{file.source(node.func.value)}.eq")
    return ()


def _raised(file: File, node: ast.AST) -> FileEdits:
    """`mask.triu()` → `mask.triu(1)`."""
    if not isinstance(node, ast.Call) or last_name(node.func) != "triu":
        return ()
    method = not (isinstance(node.func, ast.Attribute) and file.source(node.func.value) in ("torch", "np"))
    keyword = next((k.value for k in node.keywords if k.arg == "diagonal"), None)
    place = node.args[0 if method else 1 :]
    given = keyword or (place[0] if place else None)
    if given is not None:
        return replace(file, given, "1") if file.source(given) != "1" else ()
    if method:
        return replace(file, node, f"{file.source(node.func)}(1)") if not node.keywords else ()
    return add_argument(file, node, "diagonal=1")
