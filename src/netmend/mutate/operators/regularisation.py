"""Faults of regularisation: penalties on weights, dropout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.changes.data.data_holders import forward_calls
from netmend.changes.dropout_edits import dropout_rates, dropout_sites, set_dropout
from netmend.changes.function_edits import hidden
from netmend.changes.loop.loop_code import Spot, model_at, spots
from netmend.changes.loop.rate_places import set_setting
from netmend.changes.network.layer_removal import call_removed, layer_removed, value_of
from netmend.changes.network.model_layers import in_stack, is_written
from netmend.changes.network.stacks import put_behind
from netmend.mutate.examples import CUT_LATER, FUNCTIONS, LOG_PROBABILITIES, STACK, VALIDATED
from netmend.mutate.magnitude import Graded, Knob, Scale
from netmend.mutate.mutation import Mutation, Operator
from netmend.mutate.places import objective, path_of, trained_layers, trained_model
from netmend.program.source.naming import spelled
from netmend.program.source.values import set_argument
from netmend.program.source.writing import insert_before, united, wrap
from netmend.testing.example import changed
from netmend.vocabulary import FunctionFact, ModuleFact
from netmend.vocabulary.change import FileEdits


class RegularisationRemoved(
    Operator, code="M413", causes=("LYR-DROPOUT-MISSING", "LOS-REG-MISSING"), published=("RRW",)
):
    """Remove what keeps the network from memorising its training data: dropout, weight decay.

    Does harm only where the network would overfit without it.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        edits = united(_without_dropout(case))
        yield from self.mutation("no dropout", edits, cause="LYR-DROPOUT-MISSING")
        optimizer = case.optimizer
        if optimizer is not None and any((g.settings.get("weight_decay") or 0) > 0 for g in optimizer.groups):
            faces, name = set_setting(case, optimizer.created, "weight_decay", "0.0", None), optimizer.name
            yield from self.mutation("no weight decay", faces, cause="LOS-REG-MISSING", component=name)

    EXAMPLES = {
        "a layer": changed(STACK, "⟨    nn.Dropout(0.2),\n → ⟩"),
        "a function": changed(
            FUNCTIONS, "⟨F.dropout(self.fc2(h).sigmoid(), 0.1, self.training) → self.fc2(h).sigmoid()⟩"
        ),
    }


def _without_dropout(case: Case) -> Iterator[FileEdits]:
    for module in case.trace.all(ModuleFact):
        if module.kind.startswith("Dropout") and module.order is not None and is_written(case, module):
            yield layer_removed(case, module)
    for fact in case.trace.all(FunctionFact):
        found = case.code.call_at(fact.site) if fact.function == "dropout" else None
        if found is not None:
            yield call_removed(*found, value_of(*found))


@dataclass(frozen=True, eq=False)
class _Goal:
    """The statement `loss.backward()`, and what loss and model are called there."""

    spot: Spot
    loss: str
    model: str

    @property
    def absolute_weights(self) -> str:
        return f"sum(p.abs().sum() for p in {self.model}.parameters())"

    def plus(self, penalty: str) -> FileEdits:
        """A penalty is added to the loss before the gradient is taken."""
        return insert_before(self.spot.file, self.spot.statement, f"{self.loss} = {self.loss} + {penalty}")


def _goal(case: Case) -> _Goal | None:
    found, model = objective(case), trained_model(case)
    name = "" if found is None or model is None else model_at(case, model.name, found[0])
    return _Goal(*found, name) if found is not None and name else None


class RegularisationChanged(
    Operator, code="M113", causes=("LOS-REG-KIND",), published=("RCW",), rescales=True
):
    """Replace weight decay with an L1 penalty, or add one.

    The same number means something else: small weights are pushed to zero as hard as large ones.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer, goal = case.optimizer, _goal(case)
        if optimizer is None or goal is None or len(case.trace.optimizers) > 1:
            return
        decays = {float(group.settings.get("weight_decay") or 0) for group in optimizer.groups}
        decay = max(decays)
        if decay <= 0 or len(decays) > 1:
            return
        added = goal.plus(f"{decay:g} * {goal.absolute_weights}")
        off = set_setting(case, optimizer.created, "weight_decay", "0.0", None)
        title, name = f"L1 beside a weight decay of {decay:g}", optimizer.name
        yield from self.mutation(title, added, component=name)
        if off.edits and added:
            title = f"L1 in the place of a weight decay of {decay:g}"
            yield from self.mutation(title, (*added, *off.edits), component=name)

    EXAMPLES = {
        "in its place": changed(
            VALIDATED,
            "weight_decay=⟨0.02 → 0.0⟩",
            "        ⟨ → loss = loss + 0.02 * sum(p.abs().sum() for p in model.parameters())\n"
            "        ⟩loss.backward()",
            nth=1,
        ),
        "there is none": changed(STACK),
    }


class PenaltyAdded(Graded, code="M107", causes=("LOS-REG-EXTRA",), published=("RAW",), rescales=True):
    """Add a penalty on the size of all weights to the loss that outweighs the fit.

    The weights go to zero whatever the data says.
    """

    values: tuple[float, ...] = (0.01, 0.1)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The weight of the penalty, from 1e-7 to 1."""
        goal = _goal(case)
        if goal is not None:
            yield from self.knob(
                "L1 penalty on all weights",
                Scale(1e-7, 1.0, 2.0, logarithmic=True),
                lambda value: goal.plus(f"{value:.2g} * {goal.absolute_weights}"),
                told="L1 penalty {}",
            )

    EXAMPLES = {
        "before the gradient is taken": changed(
            LOG_PROBABILITIES,
            "        ⟨ → loss = loss + 0.01 * sum(p.abs().sum() for p in model.parameters())\n"
            "        ⟩loss.backward()",
        )
    }


_KINDS = {
    "L1": "{0}.weight.abs().sum()",
    "L2": "{0}.weight.pow(2).sum()",
    "L1 and L2": "({0}.weight.abs() + {0}.weight.pow(2)).sum()",
}


class LayerPenaltyAdded(Operator, code="M112", causes=("LOS-REG-EXTRA",), published=("RAW",), rescales=True):
    """Add a penalty on the weights of one layer to the loss.

    The layer is held back where the others follow the data.
    """

    strength: float = 0.01  # what Keras takes, and with it DeepCrime

    def propose(self, case: Case) -> Iterator[Mutation]:
        goal = _goal(case)
        if goal is None:
            return
        for kind, penalty in _KINDS.items():
            for layer in trained_layers(case):
                path = path_of(case, goal.model, layer)
                edits = goal.plus(f"{self.strength:g} * {penalty.format(path)}") if path else ()
                yield from self.mutation(f"{kind} penalty on {layer.name}", edits, component=layer.name)

    EXAMPLES = {
        "of squares": changed(
            LOG_PROBABILITIES,
            "        ⟨ → loss = loss + 0.01 * model.hidden.weight.pow(2).sum()\n        ⟩loss.backward()",
            nth=2,
        )
    }


class DropoutRateRaised(Graded, code="M411", causes=("LYR-DROPOUT-RATE",), published=("RCD",)):
    """Drop nearly all hidden units in training.

    What little passes through is too noisy to learn from.
    """

    rates: tuple[float, ...] = (0.8, 0.9, 0.95)
    highest: float = 0.99

    def propose(self, case: Case) -> Iterator[Mutation]:
        for rate in self.rates:
            yield from self.mutation(f"dropout of {rate:g}", self._dropped(case, f"{rate:g}"))

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The dropout rate, from the program's own (0 where there is none) up to 0.99."""
        rates = dropout_rates(case)
        present = max(rates, default=0.0)
        if present < self.highest and (rates or not dropout_sites(case)):
            yield from self.knob(
                "dropout raised",
                Scale(present, self.highest, 0.05),
                lambda rate: self._dropped(case, f"{rate:.2g}"),
                told="dropout of {}",
            )

    def _dropped(self, case: Case, rate: str) -> FileEdits:
        if dropout_sites(case):
            return set_dropout(case, rate)
        return united(_added(case, rate)) if _is_off_in_evaluation(case) else ()

    EXAMPLES = {
        "a layer": changed(STACK, "nn.Dropout(⟨0.2 → 0.8⟩)"),
        "a function": changed(FUNCTIONS, "⟨0.1 → 0.95⟩, self.training", nth=2),
        "where there was none": changed(
            LOG_PROBABILITIES,
            "F.⟨relu(self.norm(self.hidden(x))) → dropout(F.relu(self.norm(self.hidden(x))), "
            "0.8, self.training)⟩",
        ),
        "it would stay on in evaluation": changed(CUT_LATER),
    }


def _is_off_in_evaluation(case: Case) -> bool:
    """Whether new dropout would be: else the fault would be that evaluation runs in training mode."""
    return bool(spots(case, "eval")) or not forward_calls(case, training=False)


def _added(case: Case, rate: str) -> Iterator[FileEdits]:
    """Behind every hidden activation."""
    for link in hidden(case):
        found = case.code.call_at(link.site)
        if found is None:
            continue
        file, call = found
        if link.module is not None and in_stack(case, link.module):
            name, extra = spelled(file, "torch.nn.Dropout", like=call.func)
            yield (*put_behind(file, call, f"{name}({rate})", "drop"), *extra)
        elif link.module is None and file.owner(call) is not None:
            name, extra = spelled(file, "torch.nn.functional.dropout")
            yield (*wrap(file, call, f"{name}(", f", {rate}, self.training)"), *extra)


class DropoutRateLowered(Graded, code="M420", causes=("LYR-DROPOUT-RATE",), published=("RCD",)):
    """Drop fewer hidden units in training than the program did, in the end none.

    Does harm only where the network overfits without it.
    """

    values: tuple[float, ...] = (0.25, 0.125)  # DeepCrime's

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The dropout rate, from the program's own down to 0."""
        present = min(dropout_rates(case), default=0.0)
        if present > 0:
            yield from self.knob(
                "dropout lowered",
                Scale(present, 0.0, 0.05),
                lambda rate: set_dropout(case, f"{rate:.3g}"),
                told="dropout of {}",
            )

    EXAMPLES = {
        "a layer": changed(VALIDATED, "nn.Dropout(⟨0.5 → 0.25⟩)"),
        "a little": changed(STACK, "nn.Dropout(⟨0.2 → 0.125⟩)"),
        "there is none": changed(LOG_PROBABILITIES),
    }


class DropoutAlwaysOn(Operator, code="M412", causes=("LYR-DROPOUT-MODE",)):
    """Drop hidden units in evaluation as well.

    Without `training=…` a functional dropout does not follow the mode of the model.
    """

    rates: tuple[float, ...] = (0.3, 0.6)

    def propose(self, case: Case) -> Iterator[Mutation]:
        existing = [f for f in case.trace.all(FunctionFact) if f.function == "dropout" and f.site is not None]
        for fact in existing[:1]:
            edits = set_argument(case.code, fact.site, "training", "True", 2, case.arguments)
            yield from self.mutation("dropout that ignores the mode", edits, component=fact.name)
        functional = [link for link in hidden(case) if link.module is None]
        for link in functional[-1:] if not existing else []:
            found = case.code.call_at(link.site)
            if found is None:
                continue
            name, extra = spelled(found[0], "torch.nn.functional.dropout")
            for rate in self.rates:
                title = f"dropout of {rate:g} that ignores the mode"
                edits_around = wrap(found[0], found[1], f"{name}(", f", {rate:g})")
                yield from self.mutation(title, (*edits_around, *extra), component=link.name)

    EXAMPLES = {
        "told to": changed(FUNCTIONS, "0.1, ⟨self.training → True⟩"),
        "not told otherwise": changed(
            LOG_PROBABILITIES,
            "F.⟨relu(self.norm(self.hidden(x))) → dropout(F.relu(self.norm(self.hidden(x))), 0.3)⟩",
        ),
    }
