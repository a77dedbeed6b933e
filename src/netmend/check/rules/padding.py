"""Padding that is treated as if it were data."""

from __future__ import annotations

import ast

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.library.operations import COPIES
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Item, Operation, Value, constant, resolved
from netmend.program.meaning.layouts import is_last_of
from netmend.program.meaning.operations import operation, origins, walk
from netmend.program.meaning.paths import paths
from netmend.program.meaning.sequences import UNPACKED, filled_rows, padded
from netmend.program.meaning.training import rounds
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

MEAN_HEAD = """\
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(300, 16)
        self.out = nn.Linear(16, 3)

    def forward(self, ids):
        {0}

net = Net()
opt = torch.optim.Adam(net.parameters())
"""
LOOP = """\
    opt.zero_grad()
    nn.functional.cross_entropy(net(ids), y).backward()
    opt.step()
"""
MEAN = "return self.out(self.emb(ids).mean(dim=1))"
PADDED = "for texts, y in batches:\n    ids = pad_sequence(texts, batch_first=True)\n"


class MeanOverPadding(StaticRule, code="S344", cause="INP-MASK-MISSING"):
    """Word vectors are averaged over the whole row, padding included.

    A short text in a long row becomes mostly the vector of the padding. What it says is diluted by its length, and the same text
    gives another result in another batch.

    Average over real words only: `(vectors * mask).sum(1) / mask.sum(1)`, or use `nn.EmbeddingBag` with offsets.
    """

    message = "The mean runs over padding too; sum over real tokens with a mask and divide by their number."
    triggers = ("Embedding(",)
    needs = "mean"
    patterns = (r"pad_sequence\(",)

    GOOD = (
        Snippet(
            "masked",
            MEAN_HEAD.format(
                "m = (ids > 0).unsqueeze(-1)\n        return self.out((self.emb(ids) * m).sum(1) / m.sum(1))"
            )
            + PADDED
            + LOOP,
        ),
        Snippet(
            "rows of full length",
            MEAN_HEAD.format(MEAN) + "for texts, y in batches:\n    ids = torch.stack(texts)\n" + LOOP,
        ),
        Snippet("nothing is known of the rows", MEAN_HEAD.format(MEAN) + "for ids, y in batches:\n" + LOOP),
        Snippet(
            "the padding's vector stays zero",
            MEAN_HEAD.format(MEAN).replace("(300, 16)", "(300, 16, padding_idx=0)") + PADDED + LOOP,
        ),
        Snippet(
            "the mean over features", MEAN_HEAD.format("return self.emb(ids).mean(dim=2)") + PADDED + LOOP
        ),
    )
    BAD = (
        Snippet("method", MEAN_HEAD.format(MEAN) + PADDED + LOOP, line=12),
        Snippet("function", MEAN_HEAD.format("return self.out(torch.mean(self.emb(ids), 1))") + PADDED + LOOP, line=12),
        Snippet("rows filled by hand", MEAN_HEAD.format(MEAN) + "rows = torch.zeros(100, 40, dtype=torch.long)\nfor i, text in enumerate(texts):\n"
                "    rows[i, : len(text)] = text\nfor b in torch.randperm(100).split(10):\n    ids, y = rows[b], labels[b]\n" + LOOP, line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in rounds(program):
            for event in turn.backward:
                for value in walk(event.call.receiver):
                    op = operation(resolved(value))
                    if op is None or op.name != "mean" or op.layer is not None:
                        continue
                    if constant(op.option("dim", 0)) != 1 or op.input is None:
                        continue
                    if all(_is_of_padding(program, origin) for origin in origins(op.input)):
                        yield self.finding(program, op.node)


def _is_of_padding(program: Program, value: Value) -> bool:
    """Vectors looked up for padded rows, the padding with a vector of its own."""
    op = operation(value)
    if op is None or op.name != "embedding" or op.layer is None or op.input is None:
        return False
    if op.layer.open or op.layer.argument("padding_idx", 2) is not None:
        return False
    pad = padded(program, op.input)
    is_rows = pad is not None and constant(pad.argument("batch_first", 1)) is True
    return is_rows or filled_rows(program, op.input)


LAST_HEAD = f"""{TORCH}\
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 16, batch_first=True)
        self.fc = nn.Linear(16, 2)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, (h, c) = self.rnn(packed)
        out, sizes = pad_packed_sequence(out, batch_first=True)
"""


class LastStepOfPadding(StaticRule, code="S345", cause="INP-MASK-MISSING"):
    """The last step is taken of sequences that were unpacked: for all but the longest it is padding.

    `pad_packed_sequence` fills short sequences up with zeros. Their last step is a row of zeros, whatever they said, so they all look the
    same to what comes after.

    Take the last real step: `h[-1]`, the state that the layer returns, or `out[torch.arange(len(out)), lengths - 1]`.
    """

    message = "Of unpacked sequences the last step is padding for all but the longest; use the returned state h[-1]."
    triggers = ("pad_packed_sequence(",)

    GOOD = (
        Snippet("the state", LAST_HEAD + "        return self.fc(h[-1])\n"),
        Snippet("the last real step", LAST_HEAD + "        return self.fc(out[torch.arange(len(out)), sizes - 1])\n"),
        Snippet("every step", LAST_HEAD + "        return self.fc(out)\n"),
        Snippet("the first step", LAST_HEAD + "        return self.fc(out[:, 0])\n"),
        Snippet("the last sample", LAST_HEAD.replace("(out, batch_first=True)", "(out, True)") + "        return out[-1]\n"),
    )  # fmt: skip
    BAD = (
        mended("batch first", LAST_HEAD + "        return self.fc(out[⟨:, - → torch.arange(len(sizes)), sizes - ⟩1])\n"),
        mended("all axes written", LAST_HEAD + "        last = out[⟨:, -1, : → torch.arange(len(sizes)), sizes - 1⟩]\n        return self.fc(last)\n"),
        mended("time first", LAST_HEAD.replace(", batch_first=True", "") + "        return self.fc(out[⟨-1 → sizes - 1, torch.arange(len(sizes))⟩])\n"),
        mended("the lengths have no name yet", LAST_HEAD.replace("out, sizes", "out, ⟨_ → sizes⟩") + "        return self.fc(out[⟨:, - → torch.arange(len(sizes)), sizes - ⟩1])\n", line=15),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        users = paths(program).users
        for event in program.calls_of(UNPACKED):
            axis = _axis_of_time(event.call)
            if axis is None:
                continue
            sequences = (
                part
                for part in users.get(id(event.call), [])
                if isinstance(part, Item) and constant(part.key) == 0
            )
            for user in (user for part in sequences for user in users.get(id(part), [])):
                if not isinstance(user, Item) or user.node is None:
                    continue
                if is_last_of(user.key, axis):
                    yield self.finding(
                        program, user.node, fix=_last_real_step(program, event.node, user.node, axis)
                    )


def _last_real_step(program: Program, unpacked: ast.AST, last: ast.AST, axis: int) -> Fix | None:
    """`out[:, -1]` → `out[torch.arange(len(sizes)), sizes - 1]`, with the lengths that unpacking gives."""
    statement = unpacked
    while not isinstance(statement, ast.stmt):
        above = program.parent(statement)
        if above is None:
            return None
        statement = above
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    lengths = target.elts[1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else None
    imported = any(
        isinstance(node, ast.Import) and any(name.name == "torch" and not name.asname for name in node.names)
        for node in program.nodes
    )
    is_first = isinstance(last, ast.Subscript) and isinstance(last.value, ast.Name) and _is_plain(last, axis)
    if not isinstance(lengths, ast.Name) or not isinstance(last, ast.Subscript) or not imported:
        return None
    if not is_first:
        return None
    used = {node.id for node in program.nodes if isinstance(node, ast.Name)}
    if lengths.id == "_" and "sizes" in used:
        return None
    name = "sizes" if lengths.id == "_" else lengths.id
    named = replace(program, lengths, name) if name != lengths.id else ()
    rows, steps = f"torch.arange(len({name}))", f"{name} - 1"
    picked = f"{ast.unparse(last.value)}[{f'{rows}, {steps}' if axis == 1 else f'{steps}, {rows}'}]"
    return Fix("Take the last real step", (*named, *replace(program, last, picked)))


def _is_plain(last: ast.Subscript, axis: int) -> bool:
    """Whether all of the other axes are taken whole: `out[:, -1, :]`."""
    keys = last.slice.elts if isinstance(last.slice, ast.Tuple) else [last.slice]
    return all(index == axis or ast.unparse(key) == ":" for index, key in enumerate(keys))


def _axis_of_time(call: Call) -> int | None:
    given: Value | None = call.keywords.get("batch_first", call.args[1] if len(call.args) > 1 else None)
    first = constant(given, False if given is None else None)
    return int(first) if isinstance(first, bool) else None


MASK_HEAD = f"""{TORCH}
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
_KEEPS = frozenset((*COPIES, "bool", "to", "cuda", "detach", "squeeze", "transpose", "t"))
_JOINS = frozenset(("torch.cat", "torch.concat", "torch.hstack", "torch.nn.functional.pad"))


class PaddingMaskInverted(StaticRule, code="S347", cause="INP-MASK-MISSING"):
    """The mask of padding given to attention is True at the real tokens.

    PyTorch's attention layers leave out the positions where `key_padding_mask` is True. A mask that says which tokens are real
    (`tokens != PAD`) leaves out all of them, and the network looks at the padding only. Nothing crashes as long as every row has
    some padding.

    Give the mask of the padding: `tokens == PAD`.
    """

    message = "True in this mask means padding to be left out, and it is True at the real tokens; write `== PAD`, or negate it with `~`."
    triggers = ("key_padding_mask",)
    patterns = (r"key_padding_mask\s*=",)

    GOOD = (
        Snippet("padding", MASK_HEAD + "        return self.encoder(x, src_key_padding_mask=tokens == PAD)\n"),
        Snippet("negated", MASK_HEAD + "        mask = tokens != PAD\n        return self.encoder(x, src_key_padding_mask=~mask)\n"),
        Snippet("negated by name", MASK_HEAD + "        return self.encoder(x, src_key_padding_mask=(tokens != PAD).logical_not())\n"),
        Snippet("beyond the lengths", MASK_HEAD + "        mask = torch.arange(x.shape[1])[None] >= lengths[:, None]\n        return self.encoder(x, src_key_padding_mask=mask)\n"),
        Snippet("a layer of one's own", MASK_HEAD.replace("nn.MultiheadAttention(32, 4, batch_first=True)", "Attention()") + "        return self.attention(x, key_padding_mask=tokens != PAD)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("real tokens", MASK_HEAD + "        return self.encoder(x, src_key_padding_mask=tokens != PAD)\n", line=15),
        Snippet("by name", MASK_HEAD + "        mask = (tokens != PAD).bool()\n        return self.encoder(x, src_key_padding_mask=mask)\n", line=15),
        Snippet("a token in front", MASK_HEAD + "        keep = torch.zeros(len(tokens), 1, dtype=torch.bool)\n        mask = torch.cat([keep, tokens != PAD], 1)\n        return self.encoder(x, src_key_padding_mask=mask)\n", line=16),
        Snippet("ne", MASK_HEAD + "        out, _ = self.attention(x, x, x, key_padding_mask=tokens.ne(PAD))\n        return out\n", line=15),
        Snippet("within the lengths", MASK_HEAD + "        mask = torch.arange(x.shape[1])[None] < lengths[:, None]\n        return self.encoder(x, src_key_padding_mask=mask)\n", line=15),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for op in paths(program).ops:
            if op.name not in _ATTENTION or op.layer is None or not isinstance(op.value, Call):
                continue
            for name in _MASKS:
                given = op.value.keywords.get(name)
                found = _true_at_tokens(given) if given is not None else None
                if found is not None:
                    yield self.finding(program, found.node, see=[("The mask is passed here.", op.node)])


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
