from __future__ import annotations

import ast
import re

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const, Operation, Value, constant, resolved
from netmend.program.meaning.modules import RECURRENT
from netmend.program.meaning.operations import LAYOUT, Op, operation, origins, walk
from netmend.program.meaning.sequences import TOKENS, token_losses
from netmend.program.meaning.statements import with_argument
from netmend.vocabulary.finding import Fix

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32)
        self.register_buffer("lower", torch.ones(64, 64).tril())

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
{}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(65, 32), nn.Embedding(64, 32)
        self.blocks = nn.ModuleList([Mix() for _ in range(2)])
        self.head = nn.Linear(32, 65)

    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)

net = Net()
"""
FUSED = "        return F.scaled_dot_product_attention({})\n"
BY_HAND = (
    "        scores = q @ k.transpose(-2, -1) * 32 ** -0.5\n{}        return F.softmax(scores, dim=-1) @ v\n"
)
PAIRS = "for ids in loader:\n    loss = F.cross_entropy(net(ids[:, :-1]).reshape(-1, 65), ids[:, 1:].reshape(-1))\n    loss.backward()\n"
WINDOWS = (
    "data = torch.load('text.pt')\nfor step in range(100):\n    starts = torch.randint(len(data) - 64, (8,))\n    x = torch.stack([data[i : i + 64] for i in starts])\n"
    "    y = torch.stack([data[i + 1 : i + 65] for i in starts])\n    loss = F.cross_entropy(net(x).view(-1, 65), y.view(-1))\n    loss.backward()\n"
)
LAYERS = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(65, 32)
        self.body = {}
        self.head = nn.Linear(32, 65)

    def forward(self, ids):
        x = self.tokens(ids)
        {}
        return self.head(x)

net = Net()
for ids in loader:
    logits = net(ids)
    loss = nn.functional.cross_entropy(logits[:, :-1].reshape(-1, 65), ids[:, 1:].reshape(-1))
    loss.backward()
"""
ENCODER = "nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, batch_first=True), 2)"
# The keyword of the mask, and its position, of layers that mix the steps of what they are given.
_MASKS = {
    "transformerencoder": ("mask", 1),
    "transformerencoderlayer": ("src_mask", 1),
    "multiheadattention": ("attn_mask", 5),
}
_MASKING = re.compile("mask|tril|triu|causal", re.IGNORECASE)


class CausalMaskMissing(StaticRule, code="S232", cause="TOK-CAUSAL-MISSING"):
    """A network that must say the next token sees it: attention without a causal mask, or a recurrent layer that also runs backwards.

    The loss compares each step with the token after it, and attention lets each step look at that very token. The loss falls to almost
    nothing, and what the network writes by itself is gibberish, because nobody gives it the answers then.

    Give attention a causal mask (`is_causal=True`, `mask=nn.Transformer.generate_square_subsequent_mask(n)`), let recurrent layers run
    forwards only.
    """

    message = "{} lets each position see the next token, which it has to predict; {}."
    triggers = ("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss")
    needs = "mbedding"

    GOOD = (
        Snippet("causal", HEAD.format(FUSED.format("q, k, v, is_causal=True")) + PAIRS),
        Snippet("a mask", HEAD.format(FUSED.format("q, k, v, attn_mask=self.lower.bool()")) + WINDOWS),
        Snippet("a mask by hand", HEAD.format(BY_HAND.format("        scores = scores.masked_fill(self.lower == 0, float('-inf'))\n")) + WINDOWS),
        Snippet("a mask put in place", HEAD.format(BY_HAND.format("        scores.masked_fill_(self.lower == 0, float('-inf'))\n")) + WINDOWS),
        Snippet("a mask that is added", HEAD.format(BY_HAND.format("        scores = scores + self.lower.log()\n")) + PAIRS),
        Snippet("each token for itself", HEAD.format(FUSED.format("q, k, v")) + "for ids, tags in loader:\n    F.cross_entropy(net(ids).reshape(-1, 65), tags.reshape(-1)).backward()\n"),
        Snippet("layers with a mask", LAYERS.format(ENCODER, "x = self.body(x, mask=nn.Transformer.generate_square_subsequent_mask(ids.shape[1]))")),
        Snippet("forwards only", LAYERS.format("nn.LSTM(32, 32, batch_first=True)", "x, _ = self.body(x)")),
    )  # fmt: skip
    BAD = (
        mended("fused attention", HEAD.format(FUSED.format("q, k, v⟨ → , is_causal=True⟩")) + PAIRS),
        mended("pieces of a text", HEAD.format(FUSED.format("q, k, v, is_causal=⟨False → True⟩")) + WINDOWS),
        Snippet("by hand", HEAD.format(BY_HAND.format("")) + WINDOWS, line=14),
        Snippet("parts in a dict", LAYERS.format(f"nn.ModuleDict(dict(blocks={ENCODER}))", "x = self.body.blocks(x, mask=None)"), line=13),
        Snippet("attention layer", LAYERS.format("nn.MultiheadAttention(32, 4, batch_first=True)", "x, _ = self.body(x, x, x)"), line=13),
        Snippet("backwards too", LAYERS.format("nn.LSTM(32, 16, batch_first=True, bidirectional=True)", "x, _ = self.body(x)"), line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        seen: set[int] = set()
        for found in token_losses(program):
            if found.shift != 1:
                continue
            for value in walk(found.use.prediction):
                op = operation(value)
                told = _leak(program, op) if op is not None else None
                if op is None or told is None or id(op.node) in seen or not _is_given(told[0], found.given):
                    continue
                seen.add(id(op.node))
                yield self.finding(
                    program,
                    op.value.node or op.node,
                    self.message.format(*told[1:]),
                    fix=_fix(program, op),
                    see=[("The next token is compared with here.", found.use.node)],
                )
                break


def _leak(program: Program, op: Op) -> tuple[Value, str, str] | None:
    """What is mixed over all steps, what mixes it, and what to do; None for anything that keeps to earlier steps or may."""
    if (
        op.layer is None
        and op.name == "scaled_dot_product_attention"
        and len(op.value.args) >= 3
        and not op.value.open
    ):
        mask, causal = op.value.argument("attn_mask", 3), op.value.argument("is_causal", 5)
        if (mask is None or _is(mask, None)) and (causal is None or _is(causal, False)):
            return op.value.args[1], "This attention", "pass is_causal=True"
        return None
    if op.layer is not None and op.name in _MASKS and op.value.args and not op.value.open:
        name, position = _MASKS[op.name]
        mask, causal = op.value.argument(name, position), op.value.keywords.get("is_causal")
        own = op.name != "multiheadattention" or (
            len(op.value.args) >= 2 and resolved(op.value.args[0]) is resolved(op.value.args[1])
        )
        if own and (mask is None or _is(mask, None)) and (causal is None or _is(causal, False)):
            return op.value.args[0], "This attention", f"pass a causal {name}"
        return None
    if (
        op.layer is not None
        and op.name in RECURRENT
        and op.value.args
        and _is(op.layer.keywords.get("bidirectional"), True)
    ):
        return op.value.args[0], "A layer that also runs backwards", "remove bidirectional=True"
    if op.name == "softmax" and op.input is not None:
        key = _scored(program, op.input)
        if key is not None and not _masks_by_hand(program, op):
            return key, "This attention", "mask the scores of later steps before the softmax"
    return None


def _fix(program: Program, op: Op) -> Fix | None:
    """`is_causal=True` for fused attention; the other layers also want the mask itself."""
    node = op.value.node
    if op.name != "scaled_dot_product_attention" or node is None or len(node.args) > 5:
        return None
    return Fix("Give attention a causal mask", with_argument(program, node, "is_causal", "True"))


def _is(value: Value | None, wanted: object) -> bool:
    return isinstance(value, Const) and value.value is wanted


def _is_given(mixed: Value, tokens: Value) -> bool:
    """Does what is mixed stem from the vectors of these tokens?"""
    for value in walk(mixed):
        op = operation(value)
        if (
            op is not None
            and op.name in ("embedding", "one_hot")
            and any(token is tokens for token in origins(op.input, TOKENS))
        ):
            return True
    return False


def _scored(program: Program, scores: Value) -> Value | None:
    """The keys of `q @ k.transpose(-2, -1) / sqrt(d)` where nothing else happens to the scores."""
    for _ in range(12):
        scores = resolved(scores)
        if isinstance(scores, Operation) and scores.operator in ("*", "/"):
            parts = [
                part
                for part in map(resolved, scores.operands)
                if _is_product(part) or operation(part) is not None
            ]
            if len(parts) != 1:
                return None
            scores = parts[0]
            continue
        if isinstance(scores, Operation) and scores.operator == "@":
            return scores.operands[1]
        op = operation(scores)
        if op is not None and op.name in ("matmul", "bmm") and len(op.inputs) == 2:
            return op.inputs[1]
        if op is None or op.layer is not None or op.name not in LAYOUT or op.input is None:
            return None
        scores = op.input
    return None


def _is_product(value: Value) -> bool:
    return isinstance(value, Operation) and value.operator in ("@", "*", "/") and constant(value) is None


def _masks_by_hand(program: Program, op: Op) -> bool:
    """Any word for a mask in the function around: it may be put on in a way that is not seen."""
    node: ast.AST = op.value.node or op.node
    around = next((above for above in program.above(node) if isinstance(above, ast.FunctionDef)), None)
    return around is None or bool(_MASKING.search(ast.unparse(around)))
