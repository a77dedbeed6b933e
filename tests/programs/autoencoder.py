"""Convolutional autoencoder: the input is the target."""

import torch
from common import finish, seed_everything
from torch import nn

seed_everything(27)
images = torch.rand(40, 1, 8, 8)
encoder = nn.Sequential(
    nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.ReLU(True), nn.Flatten(), nn.Linear(64, 6)
)
decoder = nn.Sequential(
    nn.Linear(6, 64),
    nn.ReLU(True),
    nn.Unflatten(1, (4, 4, 4)),
    nn.ConvTranspose2d(4, 1, 2, stride=2),
    nn.Sigmoid(),
)
optimizer = torch.optim.Adam(list(encoder.parameters()) + list(decoder.parameters()), lr=1e-2)
for epoch in range(5):
    for batch in images.split(10):
        batch = batch.clone()
        reconstruction = decoder(encoder(batch))
        loss = nn.functional.l1_loss(reconstruction, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, repr(loss.item()))
finish(encoder, decoder, optimizer)
