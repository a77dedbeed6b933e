"""Keeping the best state of a training."""

from __future__ import annotations

import ast
import re
from math import inf

from netmend.check.rule import NOWHERE, Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import STORE, Event, common_loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, options, resolved
from netmend.program.meaning.best_so_far import (
    adds_losses,
    best_comparisons,
    is_negated,
    kept_name,
    scopes_of,
    start_of,
    values_compared,
    words_of,
)
from netmend.program.meaning.optimisers import steps
from netmend.program.meaning.roles import MODEL, role
from netmend.program.text.edits import insert_before, wrap
from netmend.program.text.queries import own_nodes
from netmend.vocabulary.finding import Finding, Fix

STATE_HEAD = "import copy\nimport torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nbest, state = 0, None\n"
STATE_LOOP = """\
for epoch in range(9):
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
    accuracy = evaluate(net)
    if accuracy > best:
        best = accuracy
        state = {0}
"""
TRAINER = """\
import torch

class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())

    def fit(self, data):
        for epoch in range(9):
            for x, y in data:
                self.optimizer.zero_grad()
                self.model(x).mean().backward()
                self.optimizer.step()
            if self.better():
                self.best = {0}
        self.model.load_state_dict(self.best)
"""


class BestStateNotCopied(StaticRule, code="S609", cause="TRN-CKPT"):
    """The best weights are kept as `model.state_dict()` without a copy and loaded again after more training.

    `state_dict()` returns the very tensors of the model. Training goes on changing them, so what is loaded in the end are the
    last weights, not the best.

    Copy them: `copy.deepcopy(model.state_dict())`.
    """

    message = (
        "state_dict() is not a copy: further training changes it too. Keep copy.deepcopy(model.state_dict())."
    )
    triggers = ("load_state_dict(",)
    patterns = (r"state_dict\(\)(?:\.copy\(\))?\)?[ \t]*(?:$|\n|#|;)",)

    GOOD = (
        Snippet(
            "copied",
            STATE_HEAD
            + STATE_LOOP.format("copy.deepcopy(net.state_dict())")
            + "net.load_state_dict(state)\n",
        ),
        Snippet(
            "handed to a twin at once",
            STATE_HEAD
            + "twin = nn.Linear(4, 2)\n"
            + STATE_LOOP.format("net.state_dict()\n        twin.load_state_dict(state)"),
        ),
        Snippet(
            "another one is loaded",
            STATE_HEAD
            + STATE_LOOP.format("net.state_dict()")
            + "net.load_state_dict(torch.load('best.pt'))\n",
        ),
    )
    BAD = (
        mended("alias", STATE_HEAD + STATE_LOOP.format("⟨net.state_dict() → copy.deepcopy(net.state_dict())⟩") + "net.load_state_dict(state)\n"),
        Snippet("in a trainer", TRAINER.format("self.model.state_dict()"), line=15,
                fixed="import copy\n" + TRAINER.format("copy.deepcopy(self.model.state_dict())")),
        Snippet("a shallow copy", STATE_HEAD + STATE_LOOP.format("dict(net.state_dict())") + "net.load_state_dict(state)\n", line=16),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        stores: dict[int, Event] = {}
        for event in program.events:
            if event.kind == STORE and isinstance(event.value, Call) and _state(event.value) is not None:
                stores[id(event.value)] = event
        if not stores:
            return
        for load in program.methods_of("load_state_dict"):
            call = load.call
            given = call.argument("state_dict", 0)
            for option in options(resolved(given)) if given is not None else ():
                store = stores.get(id(option))
                if store is not None and isinstance(option, Call) and _trains_between(program, store, load):
                    yield self.finding(
                        program,
                        option.node,
                        fix=self._fix(program, option),
                        see=[("It is loaded again here.", load.node)],
                    )

    def _fix(self, program: Program, state: Call) -> Fix | None:
        if state.node is None or state.method != "state_dict":
            return None
        edits = wrap(program, state.node, "copy.deepcopy(", ")")
        if not edits:
            return None
        imported = [part for part in program.tree.body if isinstance(part, ast.Import | ast.ImportFrom)]
        if any(
            isinstance(part, ast.Import)
            and any(name.name == "copy" and not name.asname for name in part.names)
            for part in imported
        ):
            return Fix("Keep a copy", edits, "safe")
        plain = [
            part
            for part in imported
            if not (isinstance(part, ast.ImportFrom) and part.module == "__future__")
        ]
        added = insert_before(program, plain[0], "import copy") if plain else ()
        return Fix("Keep a copy", (*added, *edits), "safe") if added else None


def _state(value: Call) -> Value | None:
    """The model whose state a value is without a copy: `model.state_dict()`, `dict(model.state_dict())`, `….copy()`."""
    if value.method == "state_dict" and not value.args and value.result is None:
        return value.receiver if role(value.receiver) == MODEL else None
    inner = None
    if value.qualified == "dict" and len(value.args) == 1:
        inner = value.args[0]
    elif value.method == "copy" and not value.args:
        inner = value.receiver
    return _state(inner) if isinstance(inner, Call) else None


def _trains_between(program: Program, store: Event, load: Event) -> bool:
    """Does an optimiser step after the state was kept and before it is loaded?"""
    for step, _ in steps(program):
        if store.order < step.order < load.order:
            return True
        loop = common_loop(store, step)
        if loop is not None and store.order < load.order and not any(part is loop for part in load.around()):
            return True
    return False


START_HEAD = "import torch\n\n"
START_LOOP = """\
for epoch in range(50):
    train(net, train_loader)
    val_loss = evaluate(net, val_loader)
    if val_loss < best:
        best = val_loss
        torch.save(net.state_dict(), "best.pt")
"""
STOPPER = """\
import torch

class Stopper:
    def __init__(self, patience):
        self.patience, self.bad = patience, 0
        self.best = {0}

    def step(self, loss):
        if loss < self.best - 1e-4:
            self.best = loss
            self.bad = 0
        else:
            self.bad += 1
        return self.bad >= self.patience
"""
MEASURED = """\
import torch
from torch.nn import functional as F

def validate(net, loader):
    total, count = 0.0, 0
    for x, y in loader:
        total += F.{0}(net(x), y, reduction="sum").item()
        count += len(y)
    return total / count

net = torch.nn.Linear(4, 3)
best = 0.0
for epoch in range(50):
    now = validate(net, loader)
    if now < best:
        best = now
"""
_LOSS = frozenset(("loss", "losses", "err", "error", "mse", "mae", "rmse", "ppl", "perplexity", "bpc", "wer", "cer"))  # fmt: skip
_SHARE = frozenset(("acc", "accuracy", "auc", "auroc", "iou", "miou", "precision", "recall"))
# What may lie below zero, though it is called a loss.
_SIGNED = frozenset(("elbo", "reward", "return", "nll", "likelihood", "log", "energy", "critic", "actor", "policy", "gen", "disc", "generator",
                     "discriminator", "g", "d", "w", "neg", "negative", "diff", "delta", "change", "stop", "profit", "surrogate", "dice", "cosine", "sim"))  # fmt: skip
_SIGNED_TEXT = re.compile(
    r"\.log_prob\b|log_?det|\belbo|(gaussian|poisson)_?nll|reward|wasserstein|cosine_?sim|negative_log|energy|s[dn]r\b",
    re.IGNORECASE,
)
_INFINITY = re.compile(r"float\('\+?inf(inity)?'\)|(np|numpy|math|torch)\.inf")


class BestStartsAtZero(StaticRule, code="S617", cause="HYP-EPOCH-FEW"):
    """The best loss so far starts at 0, so that no loss is ever below it; or the best accuracy starts at its highest value.

    Nothing ever counts as an improvement: no weights are saved, early stopping ends training after its first rounds, and what is
    loaded in the end are the weights from before training.

    Start a best loss at `float("inf")` and a best accuracy at 0.
    """

    message = (
        "The best {0} so far starts at {1}; no {0} is {2} that, so nothing counts as better. Start at {3}."
    )
    triggers = ("best", "min_", "lowest", "max_", "highest")
    patterns = (NOWHERE,)  # read from the text; values are looked at where training is called

    GOOD = (
        Snippet("infinity", START_HEAD + 'best = float("inf")\n' + START_LOOP),
        Snippet("the first round counts", START_HEAD + "best = 0.0\n" + START_LOOP.replace("if val_loss < best", "if epoch == 0 or val_loss < best")),
        Snippet("set in the first round", START_HEAD + "best = 0.0\n" + START_LOOP.replace("    if val", "    if epoch == 0:\n        best = val_loss\n    if val")),
        Snippet("accuracy", START_HEAD + "best = 0.0\n" + START_LOOP.replace("val_loss <", "val_loss >").replace("val_loss", "accuracy")),
        Snippet("may be negative", START_HEAD + "best_loss = 0.0\n" + START_LOOP.replace("best:", "best_loss:").replace("best =", "best_loss =").replace("val_loss", "neg_elbo")),
        Snippet("the range of a signed error", START_HEAD + "min_err, max_err = 0, 0\nfor err in errors:\n    if err < min_err:\n        min_err = err\n"
                "    if err > max_err:\n        max_err = err\n"),
        Snippet("percent", START_HEAD + "best = 1.0\n" + START_LOOP.replace("val_loss <", "val_loss >").replace("val_loss", "acc") + "    print(acc * 100)\n"),
        Snippet("set from outside", STOPPER.format("0.0") + "\nstopper = Stopper(3)\nstopper.best = float('inf')\n"),
    )  # fmt: skip
    BAD = (
        mended("zero", START_HEAD + 'best = ⟨0.0 → float("inf")⟩\n' + START_LOOP),
        Snippet("several names", START_HEAD + "best, wait = 0, 0\n" + START_LOOP.replace("val_loss < best", "best > val_loss and epoch > 2"), line=3),
        mended("in an object", STOPPER.format('⟨0.0 → float("inf")⟩')),
        Snippet("measured by a loss", MEASURED.format("cross_entropy"), line=12),
        Snippet("accuracy from infinity", START_HEAD + "best_acc = float('inf')\n" + START_LOOP.replace("best:", "best_acc:").replace("best =", "best_acc =")
                .replace("val_loss <", "val_loss >").replace("val_loss", "acc"), line=3),
        Snippet("accuracy from 1", START_HEAD + "best = 1.0\n" + START_LOOP.replace("val_loss <", "val_loss >").replace("val_loss", "val_acc"), line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        members: dict[ast.AST, list[ast.AST]] = {}
        for branch, compare in best_comparisons(program):
            for scope in scopes_of(program, branch):
                if scope not in members:
                    is_class = isinstance(scope, ast.ClassDef)
                    members[scope] = list(ast.walk(scope) if is_class else own_nodes(scope))
                left, right = compare.left, compare.comparators[0]
                for best, now in ((left, right), (right, left)):
                    start = start_of(program, scope, members[scope], branch, best, now)
                    is_loss = isinstance(compare.ops[0], ast.Lt) == (now is left)
                    if start is not None and _is_hopeless(
                        program, branch, compare, best, now, start, is_loss
                    ):
                        yield self._found(program, branch, start, is_loss)

    def _found(self, program: Program, branch: ast.If, start: ast.expr, is_loss: bool) -> Finding | None:
        what, side, text = ("loss", "below", 'float("inf")') if is_loss else ("score", "above", "0.0")
        message = self.message.format(what, f"{_number(start):g}", side, text)
        fix = Fix("Start at the other end", (self.edit(program, start, text),))
        return self.finding(program, start, message, fix=fix, see=[("It is compared here.", branch)])


def _number(node: ast.expr) -> float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) in (int, float) else None  # type: ignore[return-value]
    text = ast.unparse(node)
    return -inf if text == "float('-inf')" else inf if _INFINITY.fullmatch(text) else None


def _is_hopeless(
    program: Program,
    branch: ast.If,
    compare: ast.Compare,
    best: ast.expr,
    now: ast.expr,
    start: ast.expr,
    is_loss: bool,
) -> bool:
    """Can what is compared never be better than the start?"""
    number, words = _number(start), words_of(now) | words_of(kept_name(best))
    if number is None or (isinstance(best, ast.BinOp) and isinstance(best.op, ast.Sub) != is_loss):
        return False
    if number == (-inf if is_loss else inf):
        return True
    if not is_loss:
        is_highest = number >= 100 or (number == 1 and not re.search(r"\b100\b", program.text))
        return is_highest and bool(words & _SHARE) and not words & _LOSS
    values = list(values_compared(program, branch, compare, now))
    if number > 0 or any(is_negated(value) for value in values):
        return False
    is_named = bool(words & (_LOSS if "best" in words else {"loss", "losses"})) and not words & _SIGNED
    is_named = is_named and not _SIGNED_TEXT.search(program.text)
    return is_named or any(adds_losses(program, value) for value in values)
