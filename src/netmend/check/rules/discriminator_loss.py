"""What the discriminator of a GAN is trained with."""

from __future__ import annotations

import ast

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import Event, StoreEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import resolved
from netmend.program.meaning.adversaries import REAL, Judgement, judgements
from netmend.program.meaning.judged_answers import wanted_instead
from netmend.program.meaning.training import loss_of, rounds
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

GAN = """\
import torch
from torch import nn

G, D = nn.Linear(8, 2), nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
bce, mse = nn.BCEWithLogitsLoss(), nn.MSELoss()
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)
for real in loader:
    fake = G(torch.randn(64, 8))
    opt_d.zero_grad()
    on_real = {real}
    on_made = {made}
    d_loss = {joined}
    d_loss.backward()
    opt_d.step()
    g_loss = {wish}
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
"""
CONDITIONED = """\
import torch
import torch.nn as nn

class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Conv2d(6, 16, 3), nn.ReLU(), nn.Conv2d(16, 1, 3))

    def forward(self, img_A, img_B):
        return self.model(torch.cat((img_A, img_B), 1))

class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x):
        return self.model(x)

generator, discriminator = Generator(), Discriminator()
criterion_GAN = torch.nn.MSELoss()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-4)
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=2e-4)
for batch in loader:
    real_A, real_B = batch["B"], batch["A"]
    valid = torch.ones(real_A.size(0), 1, 4, 4)
    fake = torch.zeros(real_A.size(0), 1, 4, 4)
    optimizer_G.zero_grad()
    fake_B = generator(real_A)
    loss_G = criterion_GAN(discriminator(fake_B, real_A), valid) + 100 * (fake_B - real_B).abs().mean()
    loss_G.backward()
    optimizer_G.step()
    optimizer_D.zero_grad()
    loss_real = criterion_GAN(discriminator(real_B, real_A), {real})
    loss_fake = criterion_GAN(discriminator(fake_B.detach(), real_A), {made})
    loss_D = 0.5 * (loss_real + loss_fake)
    loss_D.backward()
    optimizer_D.step()
"""


def _gan_labelled(real: str = "bce(D(real), ones)", made: str = "bce(D(fake.detach()), zeros)", wish: str = "bce(D(fake), ones)", joined: str = "(on_real + on_made) / 2") -> str:  # fmt: skip
    return GAN.format(real=real, made=made, wish=wish, joined=joined)


class OneLabelForRealAndMade(StaticRule, code="S237", cause="DAT-LABEL"):
    """The discriminator is given one and the same label for real samples and for what the generator makes.

    It need not look at them to be right: it answers with the label for everything, and the generator learns nothing from it.

    Give real samples the label that the generator wishes for, and made ones the other.
    """

    message = "The discriminator wants the same answer for real samples and for made ones; {}."
    triggers = (".backward(",)
    patterns = (r"detach\(|\.data\b|zeros|backward\(",)

    GOOD = (
        Snippet("two labels", _gan_labelled()),
        Snippet("labels drawn at random", _gan_labelled("bce(D(real), flip(ones))", "bce(D(fake.detach()), flip(ones))")),
        Snippet("one against the other", _gan_labelled("bce(D(real) - D(fake.detach()).mean(), ones)", "bce(D(fake.detach()) - D(real).mean(), zeros)")),
        Snippet("the generator's term alone", _gan_labelled("D(real).mean().detach()", "0", joined="on_real * 0 + bce(D(fake), ones)")),
    )  # fmt: skip
    BAD = (
        Snippet("real ones called made", _gan_labelled("bce(D(real), zeros)"), fixed=_gan_labelled(), line=11),
        Snippet("made ones called real", _gan_labelled(made="bce(D(fake.detach()), ones)"), line=12),
        mended("made on the spot", _gan_labelled("bce(D(real), torch.⟨zeros_like → ones_like⟩(ones))")),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in rounds(program):
            found = [other for other in judgements(program, turn) if other.backward is not None]
            for judge in {id(other.judge) for other in found}:
                hers = [other for other in found if id(other.judge) == judge]
                finding = self._look(program, hers)
                if finding is not None:
                    yield finding

    def _look(self, program: Program, found: list[Judgement]) -> Finding | None:
        own = [other for other in found if other.is_of_judge]
        real = [other for other in own if other.about == REAL]
        made = [other for other in own if other.about != REAL]
        pairs = [one.pull.agrees(other.pull) for one in real for other in made]
        if not pairs or not all(pairs):
            return None
        wish = next((other for other in found if other.is_of_maker), None)
        is_wished = real[0].pull.upward is not False and real[0].pull.level != 0
        if wish is not None:
            agreed = wish.pull.agrees(real[0].pull)
            is_wished = is_wished if agreed is None else agreed
        wrong, other = (made[0], real[0]) if is_wished else (real[0], made[0])
        if is_wished:
            words = "give made samples the other label, or this term the other sign"
            right = None
        else:
            words = "give real samples the label that the generator wishes for, or this term the other sign"
            right = wish
        fix = None if right is None else wanted_instead(program, wrong.pull, right.pull)
        return self.finding(
            program,
            wrong.node,
            self.message.format(words),
            fix=fix,
            see=[("The other half of its loss.", other.node)],
        )


def _gan_joined(
    joined: str, real: str = "bce(D(real), ones)", made: str = "bce(D(fake.detach()), zeros)"
) -> str:
    return GAN.format(real=real, made=made, wish="bce(D(fake), ones)", joined=joined)


class HalfOfDiscriminatorLoss(StaticRule, code="S238", cause="LOS-CALC"):
    """The discriminator is trained on one kind of samples only: its loss on the other kind is computed and left out.

    Trained on made samples alone it learns to call everything made, trained on real ones alone to call everything real; neither tells the generator
    anything.

    Add both losses before calling backward().
    """

    message = "The discriminator is trained with its loss on {} samples only; {}."
    triggers = (".backward(",)
    patterns = (r"detach\(|\.data\b|zeros|backward\(",)

    GOOD = (
        Snippet("both", _gan_joined("on_real + on_made")),
        Snippet("a classifier that also looks at others", _gan_joined("on_real", made="bce(D(other), zeros)")),
    )  # fmt: skip
    BAD = (
        mended("real samples left out", _gan_joined("on_made⟨ →  + on_real⟩")),
        mended("made samples left out", _gan_joined("on_real / 2⟨ →  + on_made⟩")),
        mended("one twice", _gan_joined("on_made + on_made⟨ →  + on_real⟩")),
        Snippet("not one backward", _gan_joined("on_made").replace("d_loss.backward()", "on_made.backward()"), line=14),
        mended("one twice, with a condition", CONDITIONED.format(real="valid", made="fake").replace("(loss_real + loss_fake)", "(loss_fake + loss_fake)⟨ →  + loss_real⟩")),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in rounds(program):
            found = judgements(program, turn)
            for judge in {id(other.judge) for other in found}:
                hers = [other for other in found if id(other.judge) == judge]
                trained = [other for other in hers if other.is_of_judge and other.backward is not None]
                kinds = {other.about == REAL for other in trained}
                left = [other for other in hers if other.backward is None and {other.about == REAL} != kinds]
                if len(kinds) == 1 and left:
                    yield self._finding(program, trained[-1], left[0])

    def _finding(self, program: Program, trained: Judgement, left: Judgement) -> Finding | None:
        assert trained.backward is not None
        statement = _stored(program, trained.backward)
        name = _name(program, left)
        kinds = ("real", "made") if trained.about == REAL else ("made", "real")
        words = f"add `{name}`" if name else f"add that on {kinds[1]} ones"
        fix = _added(program, statement, name) if isinstance(statement, ast.Assign) and name else None
        node = trained.backward.node if statement is None else statement
        return self.finding(
            program,
            node,
            self.message.format(kinds[0], words),
            fix=fix,
            see=[(f"The loss on {kinds[1]} samples.", left.node)],
        )


def _added(program: Program, statement: ast.Assign, name: str) -> Fix | None:
    value = statement.value
    is_sum = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Sub | ast.Mult | ast.Div)
    if not (is_sum or isinstance(value, ast.Name | ast.Call)):
        return None
    return Fix(f"Add `{name}`", replace(program, value, f"{program.source(value)} + {name}"))


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
        is_named = isinstance(event, StoreEvent) and event.target.name == name != ""
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
    for event in program.stores:
        target = event.target
        if target.base is None and call is not None and resolved(event.value) is call:
            return target.name
    return ""
