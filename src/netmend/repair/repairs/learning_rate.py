"""R401."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loop.good_rates import good_rate, rounded, usual_rate
from netmend.changes.loop.rate_places import peak_rate, present_rate, rate_title, set_rate
from netmend.diagnose.measures.rates import PLAIN, momentum, usual_range
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import OptimizerFact
from netmend.vocabulary.change import SHORT_SEARCH, Change

_example = partial(
    example,
    model="nn.Sequential(nn.Linear(100, 50), nn.ReLU(), nn.Linear(50, 1))",
    loss="nn.functional.mse_loss(model(torch.randn(8, 100)), torch.ones(8, 1))",
)


class LearningRate(
    Repair, code="R401", cures=("HYP-LR-HIGH", "HYP-LR-LOW"), effort=SHORT_SEARCH, explores=True
):
    """Change the learning rate to one that suits the network.

    First the rate at which the first steps move weights by a few percent of their size, as they do in programs that learn
    well; then a quarter and four times of it. Never against the direction that the symptoms point to.
    """

    least: float = 4.0  # times lower or higher than the present rate: less makes no difference
    next: float = 4.0  # further tries, as multiples of the first
    near: float = 3.0  # times a rate that helped: half of a power of ten
    above_usual: float = 2.0  # times the usual rate of plain gradient descent: …
    climb: float = 10.0  # … or the present one: first gradients of deep networks are small and say too little about how high to go
    far: float = 40.0  # times the good rate: what is already beyond does not go further

    def propose(self, case: Case) -> Iterator[Change]:
        optimizer = case.optimizer
        present = present_rate(case, optimizer)
        if present is None or present < 0:
            return
        peak = present if optimizer is None else peak_rate(case, optimizer) or present
        good = good_rate(case.trace, optimizer)
        name = "rate" if optimizer is None else f"{optimizer.name}.lr"
        done: set[float] = set()
        if optimizer is not None and case.cause == "HYP-LR-HIGH" and optimizer.kind in PLAIN:
            good = self._not_far_below(optimizer, peak, good)
        if optimizer is not None and case.cause == "HYP-LR-LOW" and optimizer.kind in PLAIN:
            usual = usual_rate(optimizer.kind, momentum(optimizer))
            good = min(good, max(self.above_usual * usual, self.climb * peak))
        if case.cause == "HYP-LR-LOW":
            good = min([good, *_beside(case, optimizer, present * self.least)])
        for wanted in self._wanted(case.cause, peak, good):
            # A schedule goes up or down from the rate that is set: both are scaled alike.
            rate = rounded(wanted * present / peak) if peak > 0 else wanted
            if rate in done or rate <= 0:
                continue
            done.add(rate)
            faces = set_rate(case, optimizer, rate, present)
            title = rate_title(case, optimizer, rate, present)
            yield from self.change(case, title, faces, knob=name)

    def refine(self, case: Case, done: Change) -> Iterator[Change]:
        """A rate that helped, three times higher and lower: where training ends depends on it, not only whether it learns."""
        optimizer = case.optimizer
        present = present_rate(case, optimizer)
        if present is None or present <= 0:
            return
        for rate in (rounded(present * self.near), rounded(present / self.near)):
            title = rate_title(case, optimizer, rate, present)
            yield from self.change(case, title, set_rate(case, optimizer, rate, present), knob=done.knob)

    @staticmethod
    def _not_far_below(optimizer: OptimizerFact, present: float, good: float) -> float:
        """A rate that others use and this run did not stand: halfway, in orders of magnitude, to what the first steps call for."""
        usual = usual_range(optimizer)
        within = usual is not None and usual[0] <= present <= usual[1]
        return math.sqrt(good * present) if within and good < present else good

    def _wanted(self, cause: str, present: float, good: float) -> list[float]:
        if present == 0:
            return [good]
        if cause == "HYP-LR-HIGH":
            if present * self.far < good:
                return []
            first = min(good, present / self.least)
            rates = [first, first / self.next, first * self.next]
            return [rate for rate in rates if rate <= 1.01 * present / self.least]
        if cause == "HYP-LR-LOW":
            if present > self.far * good:
                return []
            first = max(good, present * self.least)
            rates = [first, first * self.next, first / self.next]
            return [rate for rate in rates if rate >= 0.99 * present * self.least]
        sides = [present / 10, present * 10]
        rates = sides if good < present else sides[::-1]
        if max(good / present, present / good) >= self.least:
            rates = [good, *rates]
        return [rate for rate in rates if 1 / self.far <= rate / good <= self.far]

    EXAMPLES = {
        "a literal, far too high": _example(
            data="torch.manual_seed(0)",
            optimizer="torch.optim.Adam(model.parameters(), lr=⟨10 → 0.003⟩)  # too high",
        ),
        "the default of an option": _example(
            imports="import argparse",
            data="""
                torch.manual_seed(0)
                parser = argparse.ArgumentParser()
                parser.add_argument("--lr", type=float, default=⟨1e-7 → 0.003⟩, help="rate")
                args = parser.parse_args()""",
            optimizer="⟨torch.optim.Adam(model.parameters(), args.lr)⟩",
            cause="HYP-LR-LOW",
        ),
        "given on the command line": _example(
            imports="import argparse",
            data="""
                torch.manual_seed(0)
                parser = argparse.ArgumentParser()
                parser.add_argument("--lr", type=float, default=0.1)
                args = parser.parse_args()""",
            optimizer="⟨torch.optim.Adam(model.parameters(), args.lr)⟩",
            new="--lr 0.003",
            cause="HYP-LR-LOW",
            arguments=("--lr", "1e-6"),
        ),
        "groups of parameters keep their ratio": _example(
            data="torch.manual_seed(0)\nLR = ⟨1.0 → 0.003⟩",
            helpers='groups = [{"params": model[0].parameters(), "lr": LR * 0.1}, {"params": model[2].parameters()}]',
            optimizer="⟨torch.optim.Adam(groups, lr=LR)⟩",
        ),
        "groups of parameters, each with its rate in a dictionary": _example(
            data="""
                torch.manual_seed(0)
                rates = {"body": ⟨0.1, "head": 1.0 → 0.0003, "head": 0.003⟩}""",
            model='nn.ModuleDict({"body": nn.Linear(100, 50), "head": nn.Linear(50, 1)})',
            helpers='groups = [{"params": model[name].parameters(), "lr": rate} for name, rate in rates.items()]',
            optimizer="⟨torch.optim.Adam(groups)⟩",
            loss='nn.functional.mse_loss(model["head"](model["body"](torch.randn(8, 100))), torch.ones(8, 1))',
        ),
        "two optimisers: about as fast as the other one": example(
            """
                torch.manual_seed(0)
                G, D = nn.Linear(8, 50), nn.Linear(50, 1)
                opt_g = torch.optim.Adam(G.parameters(), lr=⟨1e-7 → 0.0002⟩)
                opt_d = torch.optim.Adam(D.parameters(), lr=2e-4)
                for step in range(3):
                    for opt in (opt_d, opt_g):
                        opt_g.zero_grad()
                        opt_d.zero_grad()
                        loss = nn.functional.mse_loss(D(G(torch.randn(8, 8))), torch.ones(8, 1))
                        loss.backward()
                        opt.step()""",
            cause="HYP-LR-LOW",
            component="opt_g",
        ),
        "a schedule that sets the rate itself": _example(
            data="torch.manual_seed(0)",
            optimizer="⟨torch.optim.Adam(model.parameters(), lr=0.001)⟩",
            setup="scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=⟨5.0 → 0.003⟩, total_steps=6)",
            loop="for step in range(6)",
            after_step="scheduler.step()",
        ),
        "a text that is read as settings: the one place that gives this name this value": _example(
            imports="import json",
            data="""
                torch.manual_seed(0)
                settings = json.loads('''{"hidden": 50, "optimizer": {"lr": ⟨3.0 → 0.003⟩, "weight_decay": 0.0001}}''')""",
            optimizer='⟨torch.optim.Adam(model.parameters(), **settings["optimizer"])⟩',
        ),
        "two such places: either may be meant": _example(
            imports="import json",
            data="""
                torch.manual_seed(0)
                settings = json.loads('''{"warm": {"lr": 3.0}, "optimizer": {"lr": 3.0}}''')""",
            optimizer='⟨torch.optim.Adam(model.parameters(), **settings["optimizer"])⟩',
        ),
        "an update by hand": _example(
            data="torch.manual_seed(0)\nrate = ⟨50.0 → 0.01⟩",
            model="nn.Linear(20, 1)",
            optimizer="",
            loop="for step in range(6)",
            loss="",
            step="""
                loss = nn.functional.mse_loss(model(torch.randn(8, 20)), torch.ones(8, 1))
                model.zero_grad()
                loss.backward()
                with torch.no_grad():
                    for p in model.parameters():
                        ⟨p -= rate * p.grad⟩""",
        ),
        "settings that are unpacked": _example(
            data='torch.manual_seed(0)\nsettings = {"lr": ⟨3.0 → 0.003⟩, "weight_decay": 1e-4}',
            optimizer="⟨torch.optim.Adam(model.parameters(), **settings)⟩",
        ),
        "a rate that the program computes from the data in the loop": _example(
            model="nn.Linear(2, 1)",
            optimizer="",
            loss="",
            step="""
                loss = nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1))
                loss.backward()
                with torch.no_grad():
                    for p in model.parameters():
                        ⟨p -= loss.item() * p.grad⟩
                        p.grad = None""",
        ),
    }


def _beside(case: Case, optimizer: OptimizerFact | None, least: float) -> list[float]:
    """The rates of the program's other optimisers of the same kind: networks that play against each other go about as fast."""
    if optimizer is None:
        return []
    others = (o for o in case.trace.optimizers if o.kind == optimizer.kind and o.name != optimizer.name)
    rates = [rate for other in others if (rate := present_rate(case, other)) is not None]
    return [rate for rate in rates if rate >= least]
