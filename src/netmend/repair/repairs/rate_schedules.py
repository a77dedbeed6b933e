"""Repairs of schedules: how the rate falls, and what a plateau is."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loop.epoch_loop import epoch_rounds
from netmend.changes.loop.loop_code import Spot, spot, spots, targets_of
from netmend.changes.loop.rate_places import set_setting
from netmend.diagnose.measures.loop import calls
from netmend.program.counted_loops import bound_of
from netmend.program.source.moving import taken_out
from netmend.program.source.numbers import literal, number
from netmend.program.source.values import Faces, set_argument, set_value
from netmend.program.source.writing import united
from netmend.program.text.file import File
from netmend.program.text.queries import holds, inside
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import SchedulerFact
from netmend.vocabulary.change import BY_FACTS, SHORT_SEARCH, Change, FileEdits

_LENGTHS = {
    "CosineAnnealingLR": ("T_max", 1),
    "PolynomialLR": ("total_iters", 1),
    "OneCycleLR": ("total_steps", 2),
}


_schedule_example = partial(
    example,
    after_step="scheduler.step()",
    backward="nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1))",
)


class RateSchedule(Repair, code="R406", cures=("HYP-LR-SCHED",), knob="scheduler", effort=SHORT_SEARCH):
    """Let the schedule lower the rate slowly, over the whole run, or not at all.

    The rate should end at about a third of what it began with: decay, step size, milestones or length are set so that it
    does after as many steps of the schedule as the run makes. Then the run without the schedule.
    """

    end: float = 0.3  # share of the first rate that is left at the end
    ordinary: float = 0.1  # a decay no stronger than that is meant so, and comes too often

    def propose(self, case: Case) -> Iterator[Change]:
        scheduler = self._scheduler(case)
        if scheduler is None:
            yield from self._by_hand(case)
            return
        count = self._count(case, scheduler)
        if count > 1:
            for title, faces in self._slower(case, scheduler, count):
                yield from self.change(case, f"{scheduler.kind}: {title}", faces)
        yield from self.change(case, f"no {scheduler.kind}", self._removed(case, scheduler))

    def _scheduler(self, case: Case) -> SchedulerFact | None:
        every = case.trace.all(SchedulerFact)
        named = case.component
        return next((s for s in every if named in (s.name, s.kind)), next(iter(every), None))

    def _count(self, case: Case, scheduler: SchedulerFact) -> int:
        """How often the schedule is stepped in a run."""
        seen = sum(
            pattern.steps * call.times
            for pattern, call in calls(case.trace, "scheduler")
            if call.component == scheduler.name
        )
        seen = max(seen, self._by_decay(case, scheduler))
        stepped = next(iter(spots(case, "scheduler", scheduler.name)), None)
        training = next(iter(spots(case, "step")), None)
        # Calls between the steps that were looked at are not all seen: the source tells how many there are.
        if stepped is None or training is None:
            return seen
        own, inner = stepped.file.loop(stepped.call), training.file.loop(training.call)
        if own is inner or (own is None and stepped.is_beside(training)):
            return max(seen, case.trace.run.steps)
        rounds = epoch_rounds(case)
        bound = None if own is None else bound_of(own)
        if rounds is not None and (bound is None or own is rounds.loop):
            bound, where = rounds.count, rounds.file
        else:
            where = stepped.file
        times = None if bound is None else number(case.code, where, bound, case.arguments)
        return max(seen, round(times)) if times is not None else seen

    def _by_decay(self, case: Case, scheduler: SchedulerFact) -> int:
        """The same, by how often the rate was multiplied."""
        gamma, size = scheduler.settings.get("gamma"), scheduler.settings.get("step_size", 1)
        _, rates = case.trace.series("rate", f"{scheduler.optimizer}[0]", "rate")
        known = [float(rate) for rate in rates if rate > 0]
        if len(known) < 2 or not isinstance(gamma, int | float) or not 0 < gamma < 1:
            return 0
        if not isinstance(size, int):
            return 0
        return round(math.log(known[-1] / known[0]) / math.log(gamma)) * size

    def _slower(self, case: Case, scheduler: SchedulerFact, count: int) -> Iterator[tuple[str, Faces]]:
        settings, made = scheduler.settings, scheduler.created
        gamma, size = settings.get("gamma"), settings.get("step_size")
        if scheduler.kind == "ExponentialLR" and isinstance(gamma, int | float):
            text = self._decay(count)
            yield f"gamma {gamma:g} → {text}", set_setting(case, made, "gamma", text, 1)
        elif scheduler.kind == "StepLR" and isinstance(gamma, int | float) and isinstance(size, int):
            if gamma >= self.ordinary and size < count / 3:
                longer = max(size + 1, math.ceil(count / (3 if gamma > self.ordinary else 2)))
                yield f"step size {size} → {longer}", set_setting(case, made, "step_size", str(longer), 1)
            else:
                text = self._decay(max(1, (count - 1) // size))
                yield f"gamma {gamma:g} → {text}", set_setting(case, made, "gamma", text, 2)
        elif scheduler.kind == "MultiStepLR" and isinstance(gamma, int | float):
            if gamma < self.ordinary:
                yield f"gamma {gamma:g} → 0.1", set_setting(case, made, "gamma", "0.1", 2)
            places = f"[{max(1, count // 2)}, {max(2, 3 * count // 4)}]"
            yield f"milestones at {places}", set_setting(case, made, "milestones", places, 1)
        elif scheduler.kind == "ReduceLROnPlateau":
            patience = settings.get("patience")
            if isinstance(patience, int) and patience < 5:
                yield f"patience {patience} → 10", set_setting(case, made, "patience", "10", 3)
        elif scheduler.kind in _LENGTHS:
            name, position = _LENGTHS[scheduler.kind]
            present = settings.get(name)
            if isinstance(present, int) and not 0.9 * count <= present <= 1.1 * count:
                yield f"{name} {present} → {count}", set_setting(case, made, name, str(count), position)

    def _decay(self, times: int) -> str:
        """The factor that leaves the wanted share after so many times."""
        lost = 1 - self.end ** (1 / times)
        return f"{1 - float(f'{lost:.0e}'):g}" if lost < 0.5 else f"{1 - lost:.1g}"

    def _removed(self, case: Case, scheduler: SchedulerFact) -> FileEdits:
        """Without the calls of its step; where it starts below the rate that was set, without the schedule."""
        steps = [each for each in spots(case, "scheduler", scheduler.name) if each.is_alone]
        made = spot(case.code, scheduler.created)
        if not steps or made is None:
            return ()
        edits: list[FileEdits] = [taken_out(each.file, each.statement) for each in steps]
        if self._warms_up(case, scheduler):
            if self._is_used(made, steps):
                return ()
            edits.append(taken_out(made.file, made.statement))
        return united(edits) if all(edits) else ()

    def _warms_up(self, case: Case, scheduler: SchedulerFact) -> bool:
        for optimizer in case.trace.optimizers:
            if optimizer.name == scheduler.optimizer and optimizer.groups:
                first, base = (optimizer.groups[0].settings.get(name) for name in ("lr", "initial_lr"))
                if isinstance(first, int | float) and isinstance(base, int | float):
                    return first < 0.5 * base or scheduler.kind in ("OneCycleLR", "CyclicLR")
        return False

    def _is_used(self, made: Spot, steps: list[Spot]) -> bool:
        """Whether the program needs the schedule for anything but its steps."""
        names = {made.file.source(target) for target in targets_of(made.statement)}
        if not names:
            return True
        return any(
            made.file.source(node) in names
            and not any(holds(each.statement, node) for each in (made, *steps))
            for node in inside(made.file.tree, ast.Name, ast.Attribute)
        )

    def _by_hand(self, case: Case) -> Iterator[Change]:
        """`group["lr"] *= 0.1` in the loop."""
        changes = [len(table) for table in case.trace.tables_of("rate")]
        times = max(changes, default=1) - 1
        for file in case.code.files() if times > 0 else ():
            for node in inside(file.tree, ast.AugAssign, ast.Assign):
                if not _sets_rate(node):
                    continue
                if isinstance(node, ast.AugAssign):
                    yield from self._factor(case, file, node, times)
                edits = taken_out(file, node)
                yield from self.change(case, "leave the rate as it is", edits)
                return

    def _factor(self, case: Case, file: File, node: ast.AugAssign, times: int) -> Iterator[Change]:
        if isinstance(node.op, ast.Mult):
            text, known = self._decay(times), literal(node.value)
            faces = set_value(case.code, file, node.value, text, case.arguments)
            title = f"factor of the rate {'' if known is None else f'{known:g} '}→ {text}"
            yield from self.change(case, title, faces)

    EXAMPLES = {
        "a decay that leaves nothing": _schedule_example(
            setup="scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=⟨0.1 → 0.94⟩)",
            loop="for epoch in range(20)",
        ),
        "without the schedule": _schedule_example(
            setup="⟨scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.01 ** epoch)⟩",
            loop="for epoch in range(5)",
            after_step="- scheduler.step()",
        ),
        "steps of an ordinary size that come too often": _schedule_example(
            data="STEP_SIZE = ⟨2 → 10⟩",
            setup="⟨scheduler = torch.optim.lr_scheduler.StepLR(optimizer, STEP_SIZE, gamma=0.5)⟩",
            loop="for epoch in range(30)",
        ),
        "a cosine that is over too early": _schedule_example(
            setup="scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=⟨3 → 12⟩)",
            loop="for epoch in range(12)",
        ),
        "a decay by hand": _schedule_example(
            loop="for epoch in range(21)",
            after_step='for group in optimizer.param_groups:\n    group["lr"] *= ⟨0.3 → 0.94⟩',
        ),
        "a warm-up goes as a whole, or not at all": _schedule_example(
            setup="⟨scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, step / 1000))⟩",
            loop="for epoch in range(5)",
            after_step="scheduler.step()\nprint(scheduler.get_last_lr())",
        ),
    }


def _sets_rate(node: ast.AugAssign | ast.Assign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(
        isinstance(target, ast.Subscript)
        and isinstance(target.slice, ast.Constant)
        and target.slice.value == "lr"
        for target in targets
    )


_plateau_example = partial(
    example,
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    loop="for epoch in range(20)",
    loss="model(torch.ones(4, 2)).square().mean()",
    after_step="scheduler.step(loss.item())",
)


class PlateauDirection(Repair, code="R112", cures=("HYP-LR-SCHED",), effort=BY_FACTS):
    """Let a plateau schedule wait for the value to fall.

    With `mode="max"` every epoch in which a loss falls counts as one without progress, and the rate is lowered again and again.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        for fact in case.trace.all(SchedulerFact):
            if fact.kind == "ReduceLROnPlateau" and fact.settings.get("mode") == "max":
                faces = set_argument(
                    case.code, fact.created, "mode", '"min"', position=1, arguments=case.arguments
                )
                yield from self.change(
                    case, "lower the rate when the loss stops falling", faces, knob="scheduler"
                )

    EXAMPLES = {
        "a loss that should rise": _plateau_example(
            setup='scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="⟨max → min⟩", patience=1)'
        ),
        "as it should be": _plateau_example(
            setup="⟨scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)⟩"
        ),
    }
