import os
import time

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def glyphs(n):
    """Five 5x5 stamps pasted at a random place of a 12x12 noisy canvas."""
    gen = torch.Generator().manual_seed(99)
    stamps = (torch.rand(5, 5, 5, generator=gen) > 0.5).float()
    labels = torch.randint(5, (n,))
    canvas = 0.3 * torch.randn(n, 1, 12, 12)
    for i, lab in enumerate(labels.tolist()):
        r, c = torch.randint(0, 8, (2,)).tolist()
        canvas[i, 0, r : r + 5, c : c + 5] += stamps[lab]
    return canvas, labels


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


epochs, bs = 8, 64
train_ds = TensorDataset(*glyphs(1600))
val_x, val_y = glyphs(400)
loader = DataLoader(train_ds, batch_size=bs, shuffle=True, drop_last=True)
model = nn.Sequential(block(1, 16), nn.MaxPool2d(2), block(16, 32), nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Linear(128, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
scheduler = OneCycleLR(optimizer, max_lr=0.1, epochs=epochs, steps_per_epoch=len(loader))
criterion = nn.CrossEntropyLoss()

start = time.time()
for epoch in range(epochs):
    model.train()
    for images, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(images), targets)
        loss.backward()
        optimizer.step()
        scheduler.step()
    model.eval()
    with torch.no_grad():
        acc = (model(val_x).argmax(1) == val_y).float().mean().item()
    print(f"epoch {epoch + 1}/{epochs} loss {loss.item():.3f} val_acc {acc:.3f} lr {scheduler.get_last_lr()[0]:.4f}")
print(f"done in {time.time() - start:.1f}s")
