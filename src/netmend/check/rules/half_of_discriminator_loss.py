from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.check.rules.one_label_for_real_and_made import CONDITIONED, GAN
from netmend.program.engine.history import STORE, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import resolved
from netmend.program.meaning.adversaries import REAL, Judgement, judgements
from netmend.program.meaning.training import rounds
from netmend.program.meaning.training_steps import loss_of
from netmend.vocabulary.finding import Edit, Finding, Fix, Related


def _gan(joined: str, real: str = "bce(D(real), ones)", made: str = "bce(D(fake.detach()), zeros)") -> str:
    return GAN.format(real=real, made=made, wish="bce(D(fake), ones)", joined=joined)


@register
class HalfOfDiscriminatorLoss(StaticRule):
    """The discriminator is trained on one kind of samples only: its loss on the other kind is computed and left out.

    Trained on made samples alone it learns to call everything made, trained on real ones alone to call everything real; neither tells the generator
    anything.

    Add both losses before calling backward().
    """

    code = "S238"
    cause = "LOS-CALC"
    message = "The discriminator is trained with its loss on {} samples only; {}."
    triggers = (".backward(",)
    patterns = (r"detach\(|\.data\b|zeros|backward\(",)

    GOOD = (
        Snippet("both", _gan("on_real + on_made")),
        Snippet("weighed", _gan("0.5 * on_real + 0.5 * on_made")),
        Snippet("one after the other", _gan("on_made").replace("d_loss.backward()", "on_real.backward()\n    d_loss.backward()")),
        Snippet("no loss on real ones", _gan("on_made", real="D(real).mean()")),
        Snippet("through a function", _gan("balance(on_real, on_made)")),
        Snippet("a list of losses", _gan("sum([on_real, on_made])")),
        Snippet("with a condition", CONDITIONED.format(real="valid", made="fake")),
        Snippet("a classifier that also looks at others", _gan("on_real", made="bce(D(other), zeros)")),
    )  # fmt: skip
    BAD = (
        Snippet("real samples left out", _gan("on_made"), fixed=_gan("on_made + on_real"), line=13),
        Snippet("made samples left out", _gan("on_real / 2"), fixed=_gan("on_real / 2 + on_made"), line=13),
        Snippet("one twice", _gan("on_made + on_made"), fixed=_gan("on_made + on_made + on_real"), line=13),
        Snippet("not one backward", _gan("on_made").replace("d_loss.backward()", "on_made.backward()"), line=14),
        Snippet("one twice, with a condition", CONDITIONED.format(real="valid", made="fake").replace("(loss_real + loss_fake)", "(loss_fake + loss_fake)"),
                fixed=CONDITIONED.format(real="valid", made="fake").replace("(loss_real + loss_fake)", "(loss_fake + loss_fake) + loss_real"), line=36),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in rounds(program):
            found = judgements(program, turn)
            for judge in {id(other.judge) for other in found}:
                hers = [other for other in found if id(other.judge) == judge]
                trained = [other for other in hers if other.is_of_judge and other.backward is not None]
                kinds = {other.about == REAL for other in trained}
                left = [other for other in hers if other.backward is None and {other.about == REAL} != kinds]
                if len(kinds) == 1 and left:
                    yield self._finding(program, trained[-1], left[0])

    def _finding(self, program: Program, trained: Judgement, left: Judgement) -> Finding:
        assert trained.backward is not None
        statement = _stored(program, trained.backward)
        name = _name(program, left)
        kinds = ("real", "made") if trained.about == REAL else ("made", "real")
        words = f"add `{name}`" if name else f"add that on {kinds[1]} ones"
        place = program.place(left.node)
        related = Related(f"The loss on {kinds[1]} samples.", place.file, place.line, place.column)
        fix = _added(program, statement, name) if isinstance(statement, ast.Assign) and name else None
        node = trained.backward.node if statement is None else statement
        return self.finding(program, node, self.message.format(kinds[0], words), fix=fix, related=(related,))


def _added(program: Program, statement: ast.Assign, name: str) -> Fix | None:
    value = statement.value
    is_sum = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Sub | ast.Mult | ast.Div)
    place = program.place(value)
    if place.file != program.file or not (is_sum or isinstance(value, ast.Name | ast.Call)):
        return None
    return Fix(
        f"Add `{name}`",
        (Edit(place.end_line, place.end_column, place.end_line, place.end_column, f" + {name}"),),
    )


def _stored(program: Program, backward: Event) -> ast.stmt | None:
    """`d_loss = …` before `d_loss.backward()`."""
    loss = loss_of(backward)
    receiver = backward.node.func if isinstance(backward.node, ast.Call) else None
    name = (
        receiver.value.id
        if isinstance(receiver, ast.Attribute) and isinstance(receiver.value, ast.Name)
        else ""
    )
    found = None
    for event in program.events:
        is_named = event.kind == STORE and event.target is not None and event.target.name == name != ""
        if (
            is_named
            and event.order < backward.order
            and resolved(event.value) is resolved(loss or event.value)
        ):
            statement = program.statement(event.node)
            is_plain = isinstance(statement, ast.Assign) and not isinstance(statement.value, ast.Call)
            found = statement if is_plain else None
    return found


def _name(program: Program, left: Judgement) -> str:
    """The variable that holds the loss that is left out."""
    call = left.pull.use.call if left.pull.use is not None else None
    for event in program.events:
        target = event.target
        is_named = event.kind == STORE and target is not None and target.base is None
        if is_named and target is not None and call is not None and resolved(event.value) is call:
            return target.name
    return ""
