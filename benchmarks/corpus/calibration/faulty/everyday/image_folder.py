import os
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
from PIL import Image, ImageDraw
from torch.utils.data import DataLoader, Dataset

CLASSES = ["circle", "cross", "square"]


def draw(root, n=160):
    rng = np.random.RandomState(0)
    for name in CLASSES:
        (root / name).mkdir(parents=True)
        for i in range(n):
            im = Image.fromarray(rng.randint(0, 90, (20, 20), dtype=np.uint8))
            d = ImageDraw.Draw(im)
            x, y, r = rng.randint(6, 14), rng.randint(6, 14), rng.randint(3, 6)
            shade = int(rng.randint(150, 255))
            if name == "circle":
                d.ellipse([x - r, y - r, x + r, y + r], outline=shade)
            elif name == "square":
                d.rectangle([x - r, y - r, x + r, y + r], outline=shade)
            else:
                d.line([x - r, y - r, x + r, y + r], fill=shade)
                d.line([x - r, y + r, x + r, y - r], fill=shade)
            im.save(root / name / f"{i:03d}.png")


class ShapeFolder(Dataset):
    def __init__(self, root, part):
        self.items = []
        for label, name in enumerate(CLASSES):
            files = sorted((root / name).glob("*.png"))
            files = files[:120] if part == "train" else files[120:]
            self.items += [(f, label) for f in files]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        path, label = self.items[i]
        img = np.asarray(Image.open(path).convert("L"), dtype=np.float32)
        return torch.from_numpy(img).unsqueeze(0), label


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(16 * 5 * 5, 3)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        return self.fc(x.flatten(1))


def main():
    torch.manual_seed(int(os.environ.get("SEED", 0)))
    root = Path(tempfile.mkdtemp()) / "shapes"
    draw(root)
    train = DataLoader(ShapeFolder(root, "train"), batch_size=16, shuffle=False)
    val = DataLoader(ShapeFolder(root, "val"), batch_size=64)
    model = SmallCNN()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(8):
        model.train()
        for x, y in train:
            opt.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            opt.step()
        model.eval()
        hits = total = 0
        with torch.no_grad():
            for x, y in val:
                hits += (model(x).argmax(1) == y).sum().item()
                total += len(y)
        print(f"epoch {epoch}: loss {loss.item():.3f}, val accuracy {hits / total:.3f}")


if __name__ == "__main__":
    main()
