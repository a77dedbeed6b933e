"""GAN on a ring of points: two models, two optimisers, detached samples."""

import torch
from common import finish, seed_everything
from torch import nn

seed_everything(4)

generator = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.BatchNorm1d(16), nn.Linear(16, 2))
discriminator = nn.Sequential(
    nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Dropout(0.2), nn.Linear(16, 1), nn.Sigmoid()
)
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
adversarial_loss = nn.BCELoss()

for step in range(40):
    angle = torch.rand(32) * 6.2831853
    real = torch.stack([angle.cos(), angle.sin()], 1)
    valid, fake_label = torch.ones(32, 1), torch.zeros(32, 1)

    noise = torch.randn(32, 4)
    fake = generator(noise)
    optimizer_g.zero_grad()
    g_loss = adversarial_loss(discriminator(fake), valid)
    g_loss.backward()
    optimizer_g.step()

    optimizer_d.zero_grad()
    real_loss = adversarial_loss(discriminator(real), valid)
    fake_loss = adversarial_loss(discriminator(fake.detach()), fake_label)
    d_loss = (real_loss + fake_loss) / 2
    d_loss.backward()
    optimizer_d.step()
    print(step, repr(g_loss.item()), repr(d_loss.item()))

finish(generator, discriminator, optimizer_g, optimizer_d)
