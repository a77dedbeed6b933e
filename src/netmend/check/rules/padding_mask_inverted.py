from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Operation, Value, constant, resolved
from netmend.program.meaning.heads import where
from netmend.program.meaning.operations import walk
from netmend.program.meaning.paths import paths
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn

PAD = 0

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 32, padding_idx=PAD)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, batch_first=True), 2)
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)

    def forward(self, tokens, lengths=None):
        x = self.embed(tokens)
"""
_ATTENTION = frozenset(
    ("multiheadattention", "transformer", "transformerencoder", "transformerdecoder", "transformerencoderlayer", "transformerdecoderlayer")
)  # fmt: skip
_MASKS = ("key_padding_mask", "src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask")
_KEEPS = frozenset(("bool", "to", "cuda", "detach", "clone", "contiguous", "squeeze", "transpose", "t"))
_JOINS = frozenset(("torch.cat", "torch.concat", "torch.hstack", "torch.nn.functional.pad"))


@register
class PaddingMaskInverted(StaticRule):
    """The mask of padding given to attention is True at the real tokens.

    PyTorch's attention layers leave out the positions where `key_padding_mask` is True. A mask that says which tokens are real
    (`tokens != PAD`) leaves out all of them, and the network looks at the padding only. Nothing crashes as long as every row has
    some padding.

    Give the mask of the padding: `tokens == PAD`.
    """

    code = "S347"
    cause = "INP-MASK-MISSING"
    message = "True in this mask means padding to be left out, and it is True at the real tokens; write `== PAD`, or negate it with `~`."
    triggers = ("key_padding_mask",)
    patterns = (r"key_padding_mask\s*=",)

    GOOD = (
        Snippet("padding", HEAD + "        return self.encoder(x, src_key_padding_mask=tokens == PAD)\n"),
        Snippet("negated", HEAD + "        mask = tokens != PAD\n        return self.encoder(x, src_key_padding_mask=~mask)\n"),
        Snippet("negated by name", HEAD + "        return self.encoder(x, src_key_padding_mask=(tokens != PAD).logical_not())\n"),
        Snippet("beyond the lengths", HEAD + "        mask = torch.arange(x.shape[1])[None] >= lengths[:, None]\n        return self.encoder(x, src_key_padding_mask=mask)\n"),
        Snippet("compared once more", HEAD + "        return self.encoder(x, src_key_padding_mask=(tokens != PAD) == 0)\n"),
        Snippet("a layer of one's own", HEAD.replace("nn.MultiheadAttention(32, 4, batch_first=True)", "Attention()") + "        return self.attention(x, key_padding_mask=tokens != PAD)\n"),
        Snippet("a mask of the caller", HEAD + "        return self.encoder(x, src_key_padding_mask=lengths)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("real tokens", HEAD + "        return self.encoder(x, src_key_padding_mask=tokens != PAD)\n", line=15),
        Snippet("by name", HEAD + "        mask = (tokens != PAD).bool()\n        return self.encoder(x, src_key_padding_mask=mask)\n", line=15),
        Snippet("a token in front", HEAD + "        keep = torch.zeros(len(tokens), 1, dtype=torch.bool)\n        mask = torch.cat([keep, tokens != PAD], 1)\n        return self.encoder(x, src_key_padding_mask=mask)\n", line=16),
        Snippet("ne", HEAD + "        out, _ = self.attention(x, x, x, key_padding_mask=tokens.ne(PAD))\n        return out\n", line=15),
        Snippet("within the lengths", HEAD + "        mask = torch.arange(x.shape[1])[None] < lengths[:, None]\n        return self.encoder(x, src_key_padding_mask=mask)\n", line=15),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for op in paths(program).ops:
            if op.name not in _ATTENTION or op.layer is None or not isinstance(op.value, Call):
                continue
            for name in _MASKS:
                given = op.value.keywords.get(name)
                found = _true_at_tokens(given) if given is not None else None
                if found is not None and found.node is not None:
                    used = where(program, "The mask is passed here.", op.value.node or found.node)
                    yield self.finding(program, found.node, related=used)


def _true_at_tokens(mask: Value, depth: int = 8) -> Value | None:
    """`tokens != PAD`, `tokens.ne(PAD)`, `arange(n) < lengths`, found through what joins or moves masks."""
    mask = resolved(mask)
    if not depth:
        return None
    if isinstance(mask, Operation) and len(mask.operands) == 2:
        return mask if _says_what_is_real(mask) else None
    if not isinstance(mask, Call):
        return None
    if mask.method in ("ne", "not_equal") and mask.args:
        return mask
    parts: list[Value] = []
    if mask.qualified in _JOINS and mask.args:
        first = resolved(mask.args[0])
        parts = list(first.items) if isinstance(first, Collection) else [first]
    elif mask.method in _KEEPS and mask.receiver is not None:
        parts = [mask.receiver]
    return next((found for part in parts if (found := _true_at_tokens(part, depth - 1)) is not None), None)


def _says_what_is_real(mask: Operation) -> bool:
    left, right = mask.operands
    if mask.operator == "!=":
        return not isinstance(constant(right, None), bool)
    return (mask.operator == "<" and _counts(left)) or (mask.operator == ">" and _counts(right))


def _counts(value: Value) -> bool:
    return any(isinstance(part, Call) and part.qualified == "torch.arange" for part in walk(value))
