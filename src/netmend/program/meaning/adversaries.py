"""Two networks against each other: losses of one network's judgement on real samples and on what the other one makes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from netmend.program.engine.history import CallEvent, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Value, resolved
from netmend.program.meaning.gradient_flow import cut_at
from netmend.program.meaning.judged_answers import Answers, Pull, is_model, pulls
from netmend.program.meaning.operations import walk
from netmend.program.meaning.optimisers import made_optimisers
from netmend.program.meaning.roles import bare, optimised
from netmend.program.meaning.training import Round, loss_of, stepped

REAL, CUT, MADE = (
    "real",
    "cut",
    "made",
)  # what is judged: a sample, one that was made without and with a way back


@dataclass(frozen=True)
class Judgement:
    """One term of a loss that pulls a judge's answer: to a number, up or down."""

    pull: Pull
    judge: Value
    about: str  # REAL, CUT or MADE
    trains: frozenset[int] | None  # the models that the next step moves; None where that is not plain
    makers: frozenset[int]  # the trained models that what is judged comes from
    backward: Event | None  # None: no backward pass starts from it

    @property
    def node(self) -> ast.AST:
        return self.pull.node

    @property
    def is_of_judge(self) -> bool:
        """Is it a term of the judge's own loss?"""
        if self.trains is None:
            return self.about in (REAL, CUT)
        return id(self.judge) in self.trains and not self.makers & self.trains

    @property
    def is_of_maker(self) -> bool:
        if self.about != MADE or self.trains is None:
            return self.about == MADE
        return bool(self.makers & self.trains) and id(self.judge) not in self.trains


def judgements(program: Program, turn: Round) -> tuple[Judgement, ...]:
    """Those of one training loop, in the order of its backward passes; last those that no backward pass starts from."""
    trained = frozenset(id(model) for made in made_optimisers(program) for model in made.models)
    asked = [
        event
        for event in turn.loop.body.events()
        if isinstance(event, CallEvent)
        and is_model(event.call.function)
        and id(bare(event.call.function)) in trained
    ]
    answers = Answers(program, asked)
    losses = [(event, loss) for event in turn.backward if (loss := _loss(event)) is not None]
    if len(losses) < len(turn.backward):
        return ()  # a gradient that is handed to backward() may turn a loss round
    found: list[Judgement] = []
    for event, loss in losses:
        for pull in pulls(answers, loss):
            found.append(_judgement(pull, trained, _trains(turn, event), event))
    seen = {id(part) for _, loss in losses for part in walk(loss)}
    for use in answers.uses(turn.loop):
        if id(use.call) not in seen:
            found += [_judgement(pull, trained, frozenset(), None) for pull in pulls(answers, use.call)]
    return tuple(_without_conditions(found))


def _loss(event: CallEvent) -> Value | None:
    call = event.call
    if "gradient" in call.keywords:
        return None
    loss = loss_of(event)
    is_given = loss is not None and any(resolved(argument) is resolved(loss) for argument in call.args)
    return loss if not call.args or is_given else None


def _trains(turn: Round, backward: Event) -> frozenset[int] | None:
    """The models of the one optimiser that steps next, before gradients are computed again for another one."""
    later = [event for event in turn.step if event.order > backward.order]
    if not later:
        return None
    between = [event.order for event in turn.backward if event.order > later[0].order]
    owners: set[int] = set()
    for event in later:
        if not between or event.order < min(between):
            models = optimised(stepped(event))
            if models is None:
                return None
            if owners and owners != {id(bare(model)) for model in models}:
                return None
            owners = {id(bare(model)) for model in models}
    return frozenset(owners)


def _judgement(
    pull: Pull, trained: frozenset[int], trains: frozenset[int] | None, backward: Event | None
) -> Judgement:
    judge = bare(pull.answer.function)
    assert judge is not None
    return Judgement(pull, judge, REAL, trains, trained - {id(judge)}, backward)


def _without_conditions(found: list[Judgement]) -> Iterator[Judgement]:
    """What each is about: what a judge is always given beside a sample, made or not, is a condition and does not count."""
    origins = [_origins(judgement) for judgement in found]
    for judgement, parts in zip(found, origins, strict=True):
        others = [
            theirs
            for other, theirs in zip(found, origins, strict=True)
            if other.judge is judgement.judge and len(theirs) == len(parts)
        ]
        subjects = [
            part
            for place, part in enumerate(parts)
            if not (len(parts) > 1 and all(theirs[place][1] for theirs in others))
        ]
        makers = frozenset(maker for _, made in subjects for maker in made)
        is_open = any(is_open for is_open, made in subjects if made)
        about = REAL if not makers else MADE if is_open else CUT
        yield replace(judgement, about=about, makers=makers)


def _origins(judgement: Judgement) -> list[tuple[bool, frozenset[int]]]:
    """For each thing that a judge is given: do gradients go back to a model that made it, and which models that were."""
    return [
        (bool(_made_by(part, judgement.makers, through_cuts=False)), _made_by(part, judgement.makers))
        for part in _given(judgement.pull.answer)
    ]


def _given(call: Call) -> list[Value]:
    parts: list[Value] = []
    for value in call.given:
        inner = resolved(value)
        joined = isinstance(inner, Call) and inner.qualified in ("torch.cat", "torch.concat") and inner.args
        items = resolved(inner.args[0]) if isinstance(inner, Call) and joined else None
        parts.extend(items.items if isinstance(items, Collection) else [value])
    return parts


def _made_by(value: Value, makers: frozenset[int], through_cuts: bool = True) -> frozenset[int]:
    def into(part: Value) -> bool:
        return through_cuts or cut_at(part) is None

    found = set()
    for part in walk(value, into=into):
        if isinstance(part, Call) and is_model(part.function) and id(bare(part.function)) in makers:
            found.add(id(bare(part.function)))
    return frozenset(found)
