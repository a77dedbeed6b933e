import itertools

import torch
import torch.nn as nn

encoder = nn.Sequential(nn.Linear(100, 40), nn.ELU(), nn.Linear(40, 8))
decoder = nn.Sequential(nn.Linear(8, 40), nn.ELU(), nn.Linear(40, 100))
optimizer = torch.optim.Adam(itertools.chain(encoder.parameters(), decoder.parameters()), lr=1e-3)
data = torch.rand(2000, 100)
for epoch in range(20):
    for rows in torch.randperm(2000).split(100):
        optimizer.zero_grad()
        rebuilt = decoder(encoder(data[rows]))
        loss = nn.functional.mse_loss(rebuilt, data[rows])
        loss.backward()
        optimizer.step()
