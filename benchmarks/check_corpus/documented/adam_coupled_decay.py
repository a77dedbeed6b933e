import torch
from torch import nn

model = nn.TransformerEncoderLayer(128, 4, batch_first=True)
head = nn.Linear(128, 2)
optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=1e-4, weight_decay=0.01)


def step(tokens, label):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(head(model(tokens).mean(1)), label)
    loss.backward()
    optimizer.step()
    return loss.item()
