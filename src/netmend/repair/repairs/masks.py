"""Repairs of masks: which positions they hide, and padding that is counted."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.data.data_holders import training_targets
from netmend.changes.loss.losses import criterion_of
from netmend.diagnose.measures.batches import padding
from netmend.program.source.dataflow import PASSING, uses
from netmend.program.source.naming import qualified
from netmend.program.source.writing import add_argument, once, replace, united
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import LossFact, ModuleFact, TargetFact
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_turn_example = partial(
    example,
    begin="tokens = torch.randint(1, 9, (8, 6))\ntokens[:, 4:] = 0",
    layers="self.embed, self.out = nn.Embedding(9, 4), nn.Linear(4, 1)",
    loss="F.mse_loss(model(tokens), torch.ones(8, 6, 1))",
)


class TurnMask(Repair, code="R216", cures=("INP-MASK-MISSING", "TOK-CAUSAL-MISSING")):
    """Turn a mask of attention round that hides all there is to see, or cut it at the diagonal.

    What is masked gets no attention: the mask is True at the padding, not at the tokens. A causal mask begins right above the diagonal, as each position
    may see itself, and nothing later.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        found = case.code.statement_at(case.site)
        hidden = True if case.cause == "TOK-CAUSAL-MISSING" else hides_whole_rows(case)
        if found is None or case.fault is None or hidden is None:
            return
        file, statement = found
        exact = None if case.site is None else file.node_at(case.site)
        for node in inside(exact if isinstance(exact, ast.expr) else statement, ast.expr):
            edits = _raised(file, node) if hidden else _turned(file, node)
            if edits:
                title = (
                    "let each position see itself and what comes before"
                    if hidden
                    else "turn the mask round, so that it is True at the padding"
                )
                yield from self.change(case, title, edits, knob=f"mask at line {node.lineno}")
                return

    EXAMPLES = {
        "True at the tokens": _turn_example(
            forward="""
                h = self.embed(x)
                scores = h @ h.transpose(1, 2)
                hidden = (x ⟨! → =⟩= 9)[:, None, :]
                return self.out(scores.masked_fill(hidden, float("-inf")).softmax(-1) @ h)"""
        ),
        "the diagonal, too": _turn_example(
            forward="""
                h = self.embed(x)
                scores = h @ h.transpose(1, 2)
                hidden = torch.ones(6, 6, dtype=torch.bool).triu(⟨ → 1⟩)
                return self.out(scores.masked_fill(hidden, float("-inf")).softmax(-1) @ h)"""
        ),
        "too far above the diagonal": _turn_example(
            forward="""
                h = self.embed(x)
                scores = h @ h.transpose(1, 2)
                hidden = torch.triu(torch.ones(6, 6), diagonal=⟨6 → 1⟩) > 0
                return self.out(scores.masked_fill(hidden, float("-inf")).softmax(-1) @ h)""",
            cause="TOK-CAUSAL-MISSING",
        ),
        "padding": _turn_example(
            forward="""
                h = self.embed(x)
                scores = h @ h.transpose(1, 2)
                hidden = (x == 0)[:, None, :]
                return self.out(scores.masked_fill(hidden, float("-inf")).softmax(-1) @ h)"""
        ),
    }


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


_MASKS = {
    "TransformerEncoder": "src_key_padding_mask",
    "TransformerEncoderLayer": "src_key_padding_mask",
    "MultiheadAttention": "key_padding_mask",
}


_padding_example = partial(example, model="Tagger()")


class MaskPadding(Repair, code="R210", cures=("INP-MASK-MISSING",), effort=BY_FACTS, explores=True):
    """Leave padding out: of the loss with `ignore_index`, of a mean over the words, of attention.

    Where most of a sequence is padding, it drowns what is to be learned. The padding token is that of the embedding, or the
    token that fills the sequences up.
    """

    least_share: float = 0.15  # of padding among the tokens, from which it weighs

    more_than_padding: float = 0.08  # share of the targets

    def propose(self, case: Case) -> Iterator[Change]:
        if case.fault is not None and hides_whole_rows(case) is not None:
            return  # there is a mask, and it hides too much
        told = case.trace.get(LossFact, case.component)
        loss = told or next((loss for loss in case.trace.losses if loss.backward is not None), None)
        label = None if loss is None else self._label(case, loss)
        if loss is not None and label is not None:
            edits = _filled_otherwise(case) if self._is_a_class_too(case, loss, label) else ()
            title = "fill targets up with -100, which the loss leaves out"
            if not edits:
                title, edits = f"ignore_index={label}", self._ignored(case, loss, label)
            yield from self.change(case, title, edits, knob="ignore_index")
        filled = padding(case.trace)
        if filled is not None and filled[1] >= self.least_share:
            yield from self.change(
                case, "leave padding out inside the model", self._inside(case, filled[0]), knob="mask"
            )

    def _label(self, case: Case, loss: LossFact) -> int | None:
        """The class that stands for padding among the targets of every token."""
        counts = {} if (target := case.trace.get(TargetFact, loss.name)) is None else target.class_counts
        total = sum(counts.values())
        if loss.criterion not in ("cross_entropy", "nll_loss") or not total:
            return None
        rows = next((o.shape for o in loss.operands if o.role == "prediction"), (0,))[0]
        shapes = [shape for model in case.trace.models for shape in model.input_shapes[:1]]
        per_token = any(len(shape) > 1 and rows >= shape[0] * shape[1] for shape in shapes) or any(
            len(operand.shape) > 1 for operand in loss.operands if operand.role == "target"
        )
        if not per_token:
            return None
        tokens = [
            int(layer.settings["padding_idx"])
            for layer in case.trace.all(ModuleFact)
            if "Embedding" in layer.kind and layer.settings.get("padding_idx") is not None
        ]
        filled = padding(case.trace)
        likely = [*tokens, *([filled[0]] if filled is not None else [])]
        name, count = max(counts.items(), key=lambda item: item[1])
        for token in likely:
            if counts.get(str(token), 0) >= self.least_share * total:
                return None if loss.settings.get("ignore_index") == token else token
        common = name.lstrip("-").isdigit() and count >= self.least_share * total
        return (
            int(name)
            if common and case.fault is not None and int(name) != loss.settings.get("ignore_index")
            else None
        )

    def _is_a_class_too(self, case: Case, loss: LossFact, label: int) -> bool:
        """Whether more targets have the label than there is padding: then it must not be left out."""
        filled, target = padding(case.trace), case.trace.get(TargetFact, loss.name)
        counts = {} if target is None else target.class_counts
        share = counts.get(str(label), 0) / max(1, sum(counts.values()))
        return filled is not None and share > filled[1] + self.more_than_padding

    @staticmethod
    def _ignored(case: Case, loss: LossFact, label: int) -> FileEdits:
        criterion = criterion_of(case, loss)
        if criterion is None:
            return ()
        places = [criterion.created] if criterion.created is not None else list(criterion.calls)
        edits: list[FileEdits] = []
        for file, call in places:
            given = next((keyword.value for keyword in call.keywords if keyword.arg == "ignore_index"), None)
            text = _named(case, file, label)
            added = add_argument(file, call, f"ignore_index={text}")
            edits.append(added if given is None else replace(file, given, text))
        return united(edits)

    def _inside(self, case: Case, token: int) -> FileEdits:
        """Means over the words, and attention, behind an embedding."""
        edits: FileEdits = ()
        for layer in case.trace.all(ModuleFact):
            found = (
                case.code.call_at(layer.called)
                if "Embedding" in layer.kind and len(layer.output_shapes) == 1
                else None
            )
            if found is None or len(layer.output_shapes[0]) != 3:
                continue
            if layer.input_shapes[0] != layer.output_shapes[0][:2]:
                continue
            file, call = found
            ids = call.args[0] if call.args else None
            if not isinstance(ids, ast.Name | ast.Attribute):
                continue
            if last_name(call.func) != layer.name.rpartition(".")[2]:
                continue
            by_name = {
                m.name.rpartition(".")[2]: m for m in case.trace.all(ModuleFact) if m.order is not None
            }
            kept = frozenset(
                name
                for name, module in by_name.items()
                if module.output_shapes and module.output_shapes[0][:2] == layer.input_shapes[0]
            )
            through = (
                (PASSING - {"view", "reshape", "permute", "transpose"})
                | kept
                | {"relu", "dropout", "tanh", "gelu"}
            )
            for use in uses(case.code, file, call, through):
                if use.file is not file:
                    continue
                module = by_name.get(use.function)
                if use.method == "mean" or use.function == "mean":
                    edits = (*edits, *_masked_mean(file, use.user, use.value, file.source(ids), token))
                elif module is not None and module.kind in _MASKS and isinstance(use.user, ast.Call):
                    name = _MASKS[module.kind]
                    if not any(keyword.arg == name for keyword in use.user.keywords):
                        text = f"{name}={file.source(ids)} == {token}"
                        edits = (*edits, *add_argument(file, use.user, text))
        return once(edits)

    EXAMPLES = {
        "a loss over all tokens; the padding has a name": _padding_example(
            data="""
                PAD = 0
                class Tagger(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.emb = nn.Embedding(5, 4, padding_idx=PAD)
                        self.out = nn.Linear(4, 3)
                    def forward(self, ids):
                        return self.out(self.emb(ids))""",
            criterion="nn.CrossEntropyLoss(⟨ → ignore_index=PAD⟩)",
            setup="ids = torch.tensor([[1, 2, 0, 0], [3, 0, 0, 0]])",
            loss="criterion(model(ids).view(-1, 3), torch.tensor([1, 2, 0, 0, 1, 0, 0, 0]))",
        ),
        "padding that is a class as well": _padding_example(
            imports="from torch.nn.utils.rnn import pad_sequence",
            data="""
                class Tagger(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.emb, self.out = nn.Embedding(5, 4), nn.Linear(4, 3)
                    def forward(self, ids):
                        return self.out(self.emb(ids))""",
            criterion="⟨nn.CrossEntropyLoss()⟩",
            setup="""
                words = [torch.tensor([1, 2, 3, 4]), torch.tensor([3, 4]), torch.tensor([2, 1, 2])]
                tags = [torch.tensor([1, 0, 0, 0]), torch.tensor([0, 2]), torch.tensor([0, 1, 0])]""",
            outputs="x, y = pad_sequence(words, batch_first=True), pad_sequence(tags, batch_first=⟨True → True, padding_value=-100⟩)",
            loss="criterion(model(x).view(-1, 3), y.view(-1))",
        ),
        "a mean over the words": _padding_example(
            layers="self.emb, self.fc = nn.Embedding(9, 4), nn.Linear(4, 2)",
            forward="""
                words = self.emb(ids)
                pooled = ⟨words.mean(dim=1) → (words * (ids != 0).unsqueeze(-1)).sum(dim=1) / (ids != 0).sum(dim=1, keepdim=True).clamp(min=1)⟩
                return self.fc(pooled)""",
            given="ids",
            criterion="nn.CrossEntropyLoss()",
            outputs="ids = torch.randint(1, 9, (8, 6)) * (torch.arange(6) < torch.randint(1, 4, (8, 1)))",
            loss="criterion(model(ids), torch.randint(0, 2, (8,)))",
        ),
        "classes of whole samples": _padding_example(
            model="nn.Linear(2, 3)",
            criterion="⟨nn.CrossEntropyLoss()⟩",
            loss="criterion(model(torch.randn(4, 2)), torch.tensor([0, 0, 1, 2]))",
        ),
    }


def _named(case: Case, file: File, label: int) -> str:
    """The constant of the file that is the embedding's padding, else the number."""
    for call in file.calls("Embedding", "pad_sequence"):
        for keyword in call.keywords:
            value = keyword.value
            if keyword.arg in ("padding_idx", "padding_value") and isinstance(value, ast.Name):
                for node in file.tree.body:
                    if (
                        isinstance(node, ast.Assign)
                        and value.id in map(last_name, node.targets)
                        and isinstance(node.value, ast.Constant)
                        and node.value.value == label
                    ):
                        return value.id
    return str(label)


def _filled_otherwise(case: Case) -> FileEdits:
    """`pad_sequence(labels)` on the way to the loss: with a value that is no class."""
    for step in (step for flow in training_targets(case) for step in flow):
        if isinstance(step.node, ast.Call) and last_name(step.node.func) == "pad_sequence":
            given = case.sources.argument(step.node, "padding_value", 2)
            if given is not None:
                return replace(step.file, given, "-100")
            return add_argument(step.file, step.node, "padding_value=-100")
    return ()


def _masked_mean(file: File, call: ast.AST, value: ast.expr, ids: str, token: int) -> FileEdits:
    """`words.mean(dim=1)` over the words that are there."""
    if not isinstance(call, ast.Call):
        return ()
    method = isinstance(call.func, ast.Attribute) and call.func.value is value
    given = [*(call.args if method else call.args[1:]), *(k.value for k in call.keywords)]
    if len(given) != 1 or ast.unparse(given[0]) not in ("1", "-2"):
        return ()
    if not method and not qualified(file, call.func):
        return ()
    there, text = f"({ids} != {token})", file.source(value)
    return replace(
        file,
        call,
        f"({text} * {there}.unsqueeze(-1)).sum(dim=1) / {there}.sum(dim=1, keepdim=True).clamp(min=1)",
    )
