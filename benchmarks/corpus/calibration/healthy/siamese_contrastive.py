import os
import random
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
torch.manual_seed(SEED)


class SignaturePairs(Dataset):
    """Curves written by 8 people; a pair is genuine when one person wrote both."""

    def __init__(self, styles, n):
        self.styles, self.n = styles, n
        self.pairs = [self.make() for _ in range(n)]

    def curve(self, who):
        t = torch.linspace(0, 1, 32)
        amp, freq, ph = self.styles[who]
        jitter = 1 + 0.25 * torch.randn(3)
        c = (amp[:, None] * jitter[:, None] * torch.sin(freq[:, None] * 6.28 * t + ph[:, None] + 0.3 * torch.randn(1))).sum(0)
        return c + 0.5 * torch.randn(32)

    def make(self):
        a = random.randrange(8)
        same = random.random() < 0.5
        b = a if same else random.choice([k for k in range(8) if k != a])
        return self.curve(a), self.curve(b), float(same)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.pairs[i]


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.branch = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, a, b):
        return (self.branch(a) - self.branch(b)).pow(2).sum(1).add(1e-8).sqrt()


def contrastive(dist, same, margin=2.0):
    return (same * dist**2 + (1 - same) * (margin - dist).clamp(min=0) ** 2).mean()


styles = [(torch.randn(3), torch.randint(1, 5, (3,)).float(), torch.rand(3) * 6.28) for _ in range(8)]
train_loader = DataLoader(SignaturePairs(styles, 1600), batch_size=40, shuffle=True)
test = SignaturePairs(styles, 400)
ta, tb, ts = (torch.stack([p[0] for p in test.pairs]), torch.stack([p[1] for p in test.pairs]), torch.tensor([p[2] for p in test.pairs]))
model = Siamese()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for epoch in range(7):
    model.train()
    total = 0.0
    for a, b, same in train_loader:
        optimizer.zero_grad()
        loss = contrastive(model(a, b), same.float())
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        acc = ((model(ta, tb) < 1.0).float() == ts).float().mean()
    print(f"epoch {epoch}: loss {total / len(train_loader):.4f} verification accuracy {acc:.3f}")
