import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def textures(n, s=12):
    y = torch.randint(0, 4, (n,))
    f = torch.tensor([0.8, 1.2, 1.7, 2.3])[y]
    g = torch.arange(s).float()
    a = torch.rand(n) * 3.14
    img = torch.sin(f[:, None, None] * (g[None, :, None] * a.sin()[:, None, None] + g[None, None] * a.cos()[:, None, None]) + 6.28 * torch.rand(n, 1, 1))
    return (2 * (img + 0.3 * torch.randn(n, s, s)) + 4).unsqueeze(1), y


class TextureNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(1)
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 5), nn.BatchNorm2d(12), nn.ReLU(),
            nn.Conv2d(12, 16, 3), nn.BatchNorm2d(16), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.drop = nn.Dropout(0.2)
        self.cls = nn.Linear(64, 4)

    def forward(self, x):
        return self.cls(self.drop(self.features(self.norm(x))))


def validate(model, loader):
    model.eval()
    ok = n = 0
    with torch.no_grad():
        for xb, yb in loader:
            ok += (model(xb).argmax(1) == yb).sum().item()
            n += len(yb)
    return ok / n


train_loader = DataLoader(TensorDataset(*textures(1000)), batch_size=40, shuffle=True)
val_loader = DataLoader(TensorDataset(*textures(300)), batch_size=100)
model = TextureNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
print(f"accuracy before training {validate(model, val_loader):.3f}")
for epoch in range(8):
    total = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(train_loader):.4f} val acc {validate(model, val_loader):.3f}")
