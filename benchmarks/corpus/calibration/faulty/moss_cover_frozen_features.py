import os
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class MossNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 6, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1)
        )
        self.classifier = nn.Linear(6, 4)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def patches(n):
    y = torch.randint(0, 4, (n,))
    yy, xx = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
    dirs = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7], [0.7, -0.7]])[y]
    arg = dirs[:, 0, None, None] * xx + dirs[:, 1, None, None] * yy
    img = torch.sin(1.6 * arg + 6.28 * torch.rand(n, 1, 1)) + 0.3 * torch.randn(n, 12, 12)
    return img.unsqueeze(1), y


torch.manual_seed(int(os.environ.get("SEED", "0")))
model = MossNet()
for param in model.features.parameters():
    param.requires_grad = False

loader = DataLoader(TensorDataset(*patches(900)), batch_size=30, shuffle=True)
x_val, y_val = patches(300)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(12):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        acc = (model(x_val).argmax(1) == y_val).float().mean().item()
    print(f"epoch {epoch + 1}: loss {loss.item():.3f} val acc {acc:.3f}")
