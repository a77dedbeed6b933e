from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from math import inf

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.best_so_far import comparisons, kept_name, own_nodes, start_of, words_of
from netmend.program.meaning.loss_sums import adds_losses, is_negated, values_compared
from netmend.vocabulary.finding import Finding, Fix, Related

HEAD = "import torch\n\n"
LOOP = """\
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


@register
class BestStartsAtZero(StaticRule):
    """The best loss so far starts at 0, so that no loss is ever below it; or the best accuracy starts at its highest value.

    Nothing ever counts as an improvement: no weights are saved, early stopping ends training after its first rounds, and what is
    loaded in the end are the weights from before training.

    Start a best loss at `float("inf")` and a best accuracy at 0.
    """

    code = "S617"
    cause = "HYP-EPOCH-FEW"
    message = (
        "The best {0} so far starts at {1}; no {0} is {2} that, so nothing counts as better. Start at {3}."
    )
    triggers = ("best", "min_", "lowest", "max_", "highest")
    patterns = (r"(?!)",)  # read from the text; values are looked at where training is called

    GOOD = (
        Snippet("infinity", HEAD + 'best = float("inf")\n' + LOOP),
        Snippet("nothing", HEAD + "best = None\n" + LOOP.replace("if val", "if best is None or val")),
        Snippet("the first round counts", HEAD + "best = 0.0\n" + LOOP.replace("if val_loss < best", "if epoch == 0 or val_loss < best")),
        Snippet("set in the first round", HEAD + "best = 0.0\n" + LOOP.replace("    if val", "    if epoch == 0:\n        best = val_loss\n    if val")),
        Snippet("accuracy", HEAD + "best = 0.0\n" + LOOP.replace("val_loss <", "val_loss >").replace("val_loss", "accuracy")),
        Snippet("equal counts", HEAD + "best = 0\n" + LOOP.replace("<", "<=")),
        Snippet("may be negative", HEAD + "best_loss = 0.0\n" + LOOP.replace("best:", "best_loss:").replace("best =", "best_loss =").replace("val_loss", "neg_elbo")),
        Snippet("a density", HEAD + "best = 0.0\n" + LOOP.replace("evaluate(net, val_loader)", "-flow.log_prob(x).mean().item()")),
        Snippet("the range of a signed error", HEAD + "min_err, max_err = 0, 0\nfor err in errors:\n    if err < min_err:\n        min_err = err\n"
                "    if err > max_err:\n        max_err = err\n"),
        Snippet("the name says nothing", HEAD + "best = 0.0\n" + LOOP.replace("val_loss", "value")),
        Snippet("percent", HEAD + "best = 1.0\n" + LOOP.replace("val_loss <", "val_loss >").replace("val_loss", "acc") + "    print(acc * 100)\n"),
        Snippet("taken from a checkpoint", STOPPER.format("0.0") + "\n    def load(self, state):\n        self.best = state['best']\n"),
        Snippet("set from outside", STOPPER.format("0.0") + "\nstopper = Stopper(3)\nstopper.best = float('inf')\n"),
        Snippet("an object that starts right", STOPPER.format("float('inf')")),
        Snippet("measured by something unknown", MEASURED.format("gaussian_nll_loss")),
    )  # fmt: skip
    BAD = (
        Snippet("zero", HEAD + "best = 0.0\n" + LOOP, line=3, fixed=HEAD + 'best = float("inf")\n' + LOOP),
        Snippet("several names", HEAD + "best, wait = 0, 0\n" + LOOP.replace("val_loss < best", "best > val_loss and epoch > 2"), line=3),
        Snippet("in an object", STOPPER.format("0.0"), line=6, fixed=STOPPER.format('float("inf")')),
        Snippet("measured by a loss", MEASURED.format("cross_entropy"), line=12),
        Snippet("accuracy from infinity", HEAD + "best_acc = float('inf')\n" + LOOP.replace("best:", "best_acc:").replace("best =", "best_acc =")
                .replace("val_loss <", "val_loss >").replace("val_loss", "acc"), line=3),
        Snippet("accuracy from 1", HEAD + "best = 1.0\n" + LOOP.replace("val_loss <", "val_loss >").replace("val_loss", "val_acc"), line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for scope in ast.walk(program.tree):
            if not isinstance(scope, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            nodes = list(ast.walk(scope)) if isinstance(scope, ast.ClassDef) else list(own_nodes(scope))
            for branch in (node for node in nodes if isinstance(node, ast.If)):
                for compare in comparisons(branch.test):
                    left, right = compare.left, compare.comparators[0]
                    for best, now in ((left, right), (right, left)):
                        start = start_of(program, scope, nodes, branch, best, now)
                        is_loss = isinstance(compare.ops[0], ast.Lt) == (now is left)
                        if start is not None and _is_hopeless(
                            program, branch, compare, best, now, start, is_loss
                        ):
                            yield self._found(program, branch, start, is_loss)

    def _found(self, program: Program, branch: ast.If, start: ast.expr, is_loss: bool) -> Finding:
        what, side, text = ("loss", "below", 'float("inf")') if is_loss else ("score", "above", "0.0")
        message = self.message.format(what, f"{_number(start):g}", side, text)
        place = program.place(branch)
        compared = Related("It is compared here.", place.file, place.line, place.column)
        fix = Fix("Start at the other end", (self.edit(program, start, text),))
        return self.finding(program, start, message, fix=fix, related=(compared,))


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
