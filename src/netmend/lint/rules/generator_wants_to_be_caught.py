from __future__ import annotations

from collections.abc import Iterator

from netmend.lint.engine.program import Program
from netmend.lint.rule import Snippet, StaticRule, register
from netmend.lint.understand.adversaries import CUT, MADE, REAL, judgements
from netmend.lint.understand.training import rounds
from netmend.vocabulary.finding import Finding, Related

GAN = """\
import torch
from torch import nn

G, D = nn.Linear(8, 2), nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
bce = nn.BCEWithLogitsLoss()
for real in loader:
    fake = G(torch.randn(64, 8))
    ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)
    d_loss = bce(D(real), {real}) + bce(D(fake{cut}), {made})
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = {wish}
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
"""
FILLED = """\
import torch
from torch import nn

class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())

    def forward(self, x):
        return self.main(x).view(-1)

netG, netD = nn.Linear(8, 2), Discriminator()
criterion = nn.BCELoss()
optimizerG, optimizerD = torch.optim.Adam(netG.parameters()), torch.optim.Adam(netD.parameters())
real_label, fake_label = 1.0, 0.0
for data in loader:
    label = torch.full((64,), real_label)
    netD.zero_grad()
    errD_real = criterion(netD(data), label)
    errD_real.backward()
    fake = netG(torch.randn(64, 8))
    label.fill_(fake_label)
    errD_fake = criterion(netD(fake.detach()), label)
    errD_fake.backward()
    optimizerD.step()
    netG.zero_grad()
    label.fill_({})
    errG = criterion(netD(fake), label)
    errG.backward()
    optimizerG.step()
"""


def _gan(wish: str = "bce(D(fake), ones)", real: str = "ones", made: str = "zeros", cut: str = ".detach()") -> str:  # fmt: skip
    return GAN.format(wish=wish, real=real, made=made, cut=cut)


@register
class GeneratorWantsToBeCaught(StaticRule):
    """The generator is trained with the label that the discriminator is given for made samples.

    Both then want the same: the generator learns to be recognised, moves away from the data, and both losses fall.

    Give the generator's samples the label of real ones in its own loss, or make minus the discriminator's loss small.
    """

    code = "S236"
    cause = "LOS-CALC"
    message = "The generator is trained with {:g}, the discriminator's label for what it makes; use {:g}, that of real samples."
    triggers = (".backward(",)
    patterns = (r"detach\(|\.data\b",)

    GOOD = (
        Snippet("wants to be taken for real", _gan()),
        Snippet("wants the discriminator's loss to be large", _gan("-bce(D(fake), zeros)")),
        Snippet("the other way round", _gan("bce(D(fake), zeros)", "zeros", "ones")),
        Snippet("smoothed labels", _gan("bce(D(fake), 0.9 * ones)", "0.9 * ones")),
        Snippet("not known which samples were made", _gan("bce(D(fake), zeros)", cut="")),
        Snippet("labels not known", _gan("bce(D(fake), labels)", made="labels")),
        Snippet("one tensor filled anew", FILLED.format("real_label")),
    )  # fmt: skip
    BAD = (
        Snippet("the label of made samples", _gan("bce(D(fake), zeros)"), line=14),
        Snippet("made anew", _gan("bce(D(fake).view(-1, 1), torch.zeros_like(ones))"), line=14),
        Snippet("labels the other way round", _gan("bce(D(fake), ones)", "zeros", "ones"), line=14),
        Snippet("squares, and a second term", _gan("0.5 * nn.functional.mse_loss(D(fake), zeros) + fake.pow(2).mean()"), line=14),
        Snippet("one tensor filled with the wrong label", FILLED.format("fake_label"), line=28),
        Snippet("made of another batch", _gan("bce(D(G(torch.randn(64, 8))), zeros)"), line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in rounds(program):
            found = list(judgements(program, turn))
            for wish in found:
                if wish.about != MADE:
                    continue
                others = [other for other in found if other.judge is wish.judge and other is not wish]
                real = {other.wanted for other in others if other.about == REAL}
                caught = [other for other in others if other.about == CUT and other.wanted == wish.wanted]
                if len(real) != 1 or wish.wanted in real or not caught:
                    continue
                place = program.place(caught[0].use.node)
                related = Related("The discriminator's loss.", place.file, place.line, place.column)
                message = self.message.format(wish.wanted, real.pop())
                yield self.finding(program, wish.use.node, message, related=(related,))
