from functools import partial

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(3)
patterns = torch.randint(0, 256, (5, 36)).float()
labels = torch.randint(0, 5, (900,))
pixels = (0.5 * patterns[labels] + 60 + 30 * torch.randn(900, 36)).clamp(0, 255)
rows = list(zip(pixels, labels.tolist()))
train_rows, test_rows = rows[:700], rows[700:]


def collate(batch, scale=1.0):
    images = torch.stack([image for image, _ in batch]) / scale
    return images - images.new_tensor(0.5), torch.tensor([label for _, label in batch])


train_loader = DataLoader(train_rows, batch_size=32, shuffle=True, collate_fn=partial(collate, scale=255.0))
test_loader = DataLoader(test_rows, batch_size=100, collate_fn=collate)
net = nn.Sequential(nn.Linear(36, 32), nn.Tanh(), nn.Linear(32, 5))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(8):
    net.train()
    for xb, yb in train_loader:
        opt.zero_grad()
        F.cross_entropy(net(xb), yb).backward()
        opt.step()
    net.eval()
    hits = 0
    with torch.no_grad():
        for xb, yb in test_loader:
            hits += (net(xb).argmax(1) == yb).sum().item()
    print(epoch, "val acc", hits / len(test_rows))
