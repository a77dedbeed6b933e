"""Two heads, two losses, learned loss weights; the model returns a dictionary."""

import torch
from common import blobs, finish, seed_everything
from torch import nn


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.classify = nn.Linear(16, 3)
        self.regress = nn.Linear(16, 1)
        self.log_variance = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        h = self.trunk(x)
        return {"logits": self.classify(h), "value": self.regress(h).squeeze(-1), "hidden": h}


seed_everything(23)
x, y = blobs(64)
value = x.sum(1) / 4
model = TwoHeads()
optimizer = torch.optim.AdamW(
    [
        {"params": model.trunk.parameters(), "lr": 2e-3},
        {"params": [*model.classify.parameters(), *model.regress.parameters()], "lr": 5e-3},
        {"params": [model.log_variance], "weight_decay": 0.0},
    ],
    lr=1e-3,
)
ce, mse = nn.CrossEntropyLoss(), nn.MSELoss()
for step in range(20):
    out = model(x)
    losses = torch.stack([ce(out["logits"], y), mse(out["value"], value)])
    loss = (losses * torch.exp(-model.log_variance) + model.log_variance).sum() + 1e-3 * out[
        "hidden"
    ].abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, [repr(v) for v in losses.tolist()], repr(loss.item()))
finish(model, optimizer)
