"""Point repair in the last linear layer, where the output is linear in the weights (PRDNN): constraints, solved exactly.

"exact" asks for the smallest change (sum of absolute values, by a linear program) that leads every failing input to its
class by a margin, and keeps guard inputs in theirs; "least squares" for the change that moves the guard's scores least.
What cannot be met costs instead: one contradictory label must not make all others unrepairable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from netmend.adequacy.torch.layers import listening
from netmend.errors import UsageError
from netmend.mend.torch.running import Run
from netmend.mend.torch.spec import BINARY, LOGITS, PROBABILITIES, Examples

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LastLayer:
    name: str
    what: str
    exact: bool = False
    margin: float = 0.05  # PRDNN's; by which the wanted class leads
    largest: float = 3.0  # PRDNN's bound of a single change
    price: float = 10.0  # of a unit of margin that is missed, against a unit of change (exact)
    softness: float = 100.0  # of squared misses, against the mean squared change of the guard's scores
    ridge: float = 1e-3
    most_rows: int = 2000  # constraints; the tightest ones are taken first

    def mend(self, run: Run) -> None:
        head, given = head_of(run)
        task, spec = run.spec.task, run.spec
        features = {True: given(spec.failing), False: given(spec.guard)}
        classes = spec.failing.reference.shape[1]
        pairs = _Pairs.of(features[True], spec.failing, self.margin)
        if self.exact:
            pairs = pairs.joined(_Pairs.of(features[False], spec.guard, self.margin, protects=True))
        matrix, wanted = pairs.tightest(self.most_rows, classes)
        change = (
            self._program(matrix, wanted)
            if self.exact
            else self._squares(matrix, wanted, features[False], classes)
        )
        change = change.reshape(classes, -1)
        if task.form == BINARY:
            change = change[1:] - change[:1]  # the score is that of the second class against the first
        with torch.no_grad():
            delta = torch.from_numpy(change).to(head.weight)
            head.weight.add_(delta[:, : head.in_features])
            if head.bias is not None:
                head.bias.add_(delta[:, -1])
        run.steps += 1
        run.look()

    def _program(self, matrix: Floats, wanted: Floats) -> Floats:
        """min Σ|δ| + price · Σ missed, matrix δ + missed ≥ wanted; δ = up − down."""
        from scipy import sparse
        from scipy.optimize import linprog

        width, count = matrix.shape[1], len(wanted)
        cost = np.concatenate([np.ones(2 * width), np.full(count, self.price)])
        plain = sparse.csr_matrix(matrix)
        table = sparse.hstack([-plain, plain, -sparse.identity(count)], format="csr")
        bounds = [(0.0, self.largest)] * (2 * width) + [(0.0, None)] * count
        found = linprog(
            cost, A_ub=table, b_ub=-wanted, bounds=bounds, method="highs", options={"time_limit": 30.0}
        )
        if found.x is None:
            raise UsageError(
                f"the linear program of the last layer was not solved: {found.message}; try another method"
            )
        solution: Floats = found.x[:width] - found.x[width : 2 * width]
        return solution

    def _squares(self, matrix: Floats, wanted: Floats, guard: Floats, classes: int) -> Floats:
        """min ½ δᵀHδ + ½ softness Σ missed², H = mean squared scores of the guard; solved in its dual by NNLS."""
        from scipy.optimize import nnls

        size = guard.shape[1]
        curvature = guard.T @ guard / len(guard)
        curvature += self.ridge * np.trace(curvature) / size * np.eye(size)
        # H is the same block for every class: solve class by class.
        apart = matrix.reshape(len(matrix), classes, size)
        solved = np.linalg.solve(curvature, apart.reshape(-1, size).T).T.reshape(apart.shape)
        dual = np.einsum("ick,jck->ij", apart, solved) + np.eye(len(matrix)) / self.softness
        lower = np.linalg.cholesky(dual)
        prices, _ = nnls(lower.T, np.linalg.solve(lower, wanted), maxiter=20 * len(wanted))
        solution: Floats = np.einsum("i,ick->ck", prices, solved).reshape(-1)
        return solution


def head_of(run: Run) -> tuple[nn.Linear, Any]:
    """The linear layer whose output is the model's own, and a function that gives its inputs (with a 1 for the bias)."""
    task, model = run.spec.task, run.model
    if task.form not in (LOGITS, BINARY, PROBABILITIES):
        raise UsageError("repair of the last layer is for classes; the outputs here are numbers")
    calls: list[tuple[nn.Linear, Tensor, Tensor]] = []

    def hear(name: str, module: nn.Module, given: Any, made: Any) -> None:
        if isinstance(module, nn.Linear) and isinstance(made, Tensor):
            calls.append((module, given[0], made))

    def once(data: Examples) -> tuple[nn.Linear, Tensor]:
        calls.clear()
        with torch.no_grad(), listening(model, None, hear):
            scores = task.scores(model(*data.inputs))
        if calls and calls[-1][1].dim() == 2:
            head, given, made = calls[-1]
            same = torch.log_softmax(scores, -1), torch.log_softmax(_as_scores(made, task.form), -1)
            if same[0].shape == same[1].shape and torch.allclose(*same, atol=1e-4):
                return head, given
        raise UsageError(
            "the model does not end in a linear layer, or changes what it gives; choose another method"
        )

    def features(data: Examples) -> Floats:
        parts = [once(part)[1] for part in data.parts()]
        found: Floats = torch.cat(parts).double().cpu().numpy()
        ones = np.ones((len(found), 1)) if head.bias is not None else np.zeros((len(found), 1))
        return np.concatenate([found, ones], axis=1)

    head, _ = once(next(run.spec.failing.parts()))
    return head, features


def _as_scores(made: Tensor, form: str) -> Tensor:
    return torch.cat([torch.zeros_like(made), made], dim=1) if form == BINARY else made


@dataclass(frozen=True, eq=False)
class _Pairs:
    """One per input and other class: (h for wanted − h for the other) · δ ≥ gap."""

    features: Floats
    wanted: Indices
    other: Indices
    gaps: Floats

    @staticmethod
    def of(features: Floats, data: Examples, margin: float, protects: bool = False) -> _Pairs:
        scores, labels = data.reference.double().cpu().numpy(), data.wanted.cpu().numpy()
        count, classes = scores.shape
        gaps = scores - scores[np.arange(count), labels][:, None] + margin
        real = np.arange(classes)[None] != labels[:, None]
        if protects:
            real &= (gaps.max(axis=1, where=real, initial=-np.inf) < margin)[
                :, None
            ]  # wrong before: asks for nothing
        rows, others = np.nonzero(real)
        return _Pairs(features[rows], labels[rows], others, gaps[real])

    def joined(self, other: _Pairs) -> _Pairs:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return _Pairs(*(np.concatenate(pair) for pair in pairs))

    def tightest(self, most: int, classes: int) -> tuple[Floats, Floats]:
        """Rows of the table of constraints, the largest gaps first."""
        kept = np.argsort(-self.gaps, kind="stable")[:most]
        features = self.features[kept]
        rows = np.zeros((len(kept), classes, features.shape[1]))
        every = np.arange(len(kept))
        rows[every, self.wanted[kept]] = features
        rows[every, self.other[kept]] = -features
        return rows.reshape(len(kept), -1), self.gaps[kept]
