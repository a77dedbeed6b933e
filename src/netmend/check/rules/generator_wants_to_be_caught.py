from __future__ import annotations

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.meaning.adversaries import REAL, judgements
from netmend.program.meaning.judged_answers import Pull, wanted_instead
from netmend.program.meaning.training import rounds

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


class GeneratorWantsToBeCaught(StaticRule, code="S236", cause="LOS-CALC"):
    """The generator is trained with the label that the discriminator is given for made samples.

    Both then want the same: the generator learns to be recognised, moves away from the data, and both losses fall.

    Give the generator's samples the label of real ones in its own loss, or make minus the discriminator's loss small.
    """

    message = "The generator is trained {} as the discriminator is for what the generator makes: it learns to be caught; {}."
    triggers = (".backward(",)
    patterns = (r"detach\(|\.data\b",)

    GOOD = (
        Snippet("wants to be taken for real", _gan()),
        Snippet("wants the discriminator's loss to be large", _gan("-bce(D(fake), zeros)")),
        Snippet("smoothed labels", _gan("bce(D(fake), 0.9 * ones)", "0.9 * ones")),
        Snippet("a second term beside the wish", _gan("-torch.sigmoid(D(fake)).log().mean() + torch.sigmoid(D(G(code))).log().mean()")),
        Snippet("a gradient given to backward", _gan("D(fake).mean()").replace("g_loss.backward()", "g_loss.backward(minus_one)")),
        Snippet("steps of both at the end", _gan("bce(D(fake), ones)").replace("    opt_d.step()\n", "").replace("    opt_g.step()\n", "    opt_g.step()\n    opt_d.step()\n")),
    )  # fmt: skip
    BAD = (
        Snippet("the label of made samples", _gan("bce(D(fake), zeros)"), line=14),
        Snippet("judged without cutting", _gan("bce(D(fake), zeros)", cut=""), line=14),
        Snippet("a critic's own term", _gan("D(fake).mean()").replace("bce(D(real), ones) + bce(D(fake.detach()), zeros)", "D(fake.detach()).mean() - D(real).mean()"), line=14),
        Snippet("beside a hinge", _gan("D(fake).mean()").replace("bce(D(real), ones) + bce(D(fake.detach()), zeros)", "(torch.relu(1 - D(real)) + torch.relu(1 + D(fake.detach()))).mean()"), line=14),
        Snippet("made anew", _gan("bce(D(fake).view(-1, 1), torch.zeros_like(ones))"), line=14),
        Snippet("squares, and a second term", _gan("0.5 * nn.functional.mse_loss(D(fake), zeros) + fake.pow(2).mean()"), line=14),
        Snippet("one tensor filled with the wrong label", FILLED.format("fake_label"), line=28),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in rounds(program):
            found = judgements(program, turn)
            for wish in found:
                if not wish.is_of_maker or wish.backward is None:
                    continue
                hers = [other for other in found if other.judge is wish.judge and other.is_of_judge]
                hers = [other for other in hers if other.backward is not None]
                real = [other for other in hers if other.about == REAL]
                caught = [other for other in hers if other.about != REAL and wish.pull.agrees(other.pull)]
                if not real or not caught or any(wish.pull.agrees(other.pull) is not False for other in real):
                    continue
                wishes = [other for other in found if other.is_of_maker and other.judge is wish.judge]
                if any(other.pull.agrees(real[0].pull) for other in wishes):
                    continue  # the generator has its wish; this term is beside it
                fix = wanted_instead(program, wish.pull, real[0].pull)
                yield self.finding(
                    program,
                    wish.node,
                    self._message(wish.pull, real[0].pull),
                    fix=fix,
                    see=[("The discriminator's loss.", caught[0].node)],
                )

    def _message(self, wish: Pull, real: Pull) -> str:
        if wish.level is not None and real.level is not None:
            return self.message.format(f"with {wish.level:g}", f"use {real.level:g}, that of real samples")
        return self.message.format("the same way", "turn the sign of this term")
