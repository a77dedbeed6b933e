import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, lr=0.1, clip=1e-5):
        self.model = model
        self.clip = clip
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.loss_fn = nn.CrossEntropyLoss()

    def step(self, x, y):
        self.model.train()
        self.optimizer.zero_grad()
        loss = self.loss_fn(self.model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def score(self, x, y):
        self.model.eval()
        return (self.model(x).argmax(1) == y).float().mean().item()


def ships(n, w):
    x = torch.randn(n, 12)
    return x, (x @ w + torch.relu(x[:, :4])).argmax(1)


torch.manual_seed(int(os.environ.get("SEED", "0")))
w = torch.randn(12, 4)
loader = DataLoader(TensorDataset(*ships(1600, w)), batch_size=40, shuffle=True)
xv, yv = ships(400, w)
trainer = Trainer(nn.Sequential(nn.Linear(12, 40), nn.ReLU(), nn.Linear(40, 4)))
for epoch in range(8):
    losses = [trainer.step(x, y) for x, y in loader]
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f} val acc {trainer.score(xv, yv):.3f}")
