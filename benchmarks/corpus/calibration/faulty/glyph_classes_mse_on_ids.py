import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def make_glyphs(n, templates):
    ids = torch.randint(0, len(templates), (n,))
    img = templates[ids] + 0.5 * torch.randn(n, *templates.shape[1:])
    return img.unsqueeze(1), ids


class GlyphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU()
        )
        self.fc = nn.Linear(16 * 16, 1)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1)).squeeze(1)


torch.manual_seed(int(os.environ.get("SEED", "0")))
templates = (torch.rand(10, 8, 8) > 0.6).float()
train_loader = DataLoader(TensorDataset(*make_glyphs(1000, templates)), batch_size=40, shuffle=True)
x_val, y_val = make_glyphs(400, templates)

net = GlyphNet()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(10):
    net.train()
    total = 0.0
    for images, ids in train_loader:
        optimizer.zero_grad()
        loss = criterion(net(images), ids.float())
        loss.backward()
        optimizer.step()
        total += loss.item()
    net.eval()
    with torch.no_grad():
        guess = net(x_val).round().clamp(0, 9).long()
    print(f"epoch {epoch} loss {total / len(train_loader):.3f} val accuracy {(guess == y_val).float().mean():.3f}")
