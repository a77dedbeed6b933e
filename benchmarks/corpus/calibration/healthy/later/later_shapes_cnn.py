"""Classify noisy 16x16 drawings: horizontal bar, vertical bar, diagonal, square outline, cross."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CLASSES = ["hbar", "vbar", "diag", "square", "cross"]


def draw(kind, rng):
    img = np.zeros((16, 16), np.float32)
    r, c = rng.integers(1, 8, 2)
    s = int(rng.integers(5, 8))
    if kind == 0:
        img[r + s // 2, c:c + s] = 1
    elif kind == 1:
        img[r:r + s, c + s // 2] = 1
    elif kind == 2:
        for k in range(s):
            img[r + k, c + k] = 1
    elif kind == 3:
        img[r, c:c + s] = img[r + s - 1, c:c + s] = 1
        img[r:r + s, c] = img[r:r + s, c + s - 1] = 1
    else:
        img[r + s // 2, c:c + s] = 1
        img[r:r + s, c + s // 2] = 1
    return img + rng.normal(0, 0.35, img.shape).astype(np.float32)


def make_set(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(CLASSES), n)
    x = np.stack([draw(k, rng) for k in y])[:, None]
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


class ShapeNet(nn.Module):
    def __init__(self, channels=(8, 16, 24), n_classes=5):
        super().__init__()
        convs = []
        c_in = 1
        for c_out in channels:
            convs.append(nn.Conv2d(c_in, c_out, 3, padding=1))
            c_in = c_out
        self.convs = nn.ModuleList(convs)
        self.fc = nn.Linear(c_in, n_classes)

    def forward(self, x):
        for i, conv in enumerate(self.convs):
            x = F.relu(conv(x))
            if i < len(self.convs) - 1:
                x = F.max_pool2d(x, 2)
        x = F.adaptive_max_pool2d(x, 1).flatten(1)
        return self.fc(x)


def main():
    torch.manual_seed(0)
    x_train, y_train = make_set(1500, 1)
    x_test, y_test = make_set(400, 2)
    model = ShapeNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)

    for epoch in range(1, 11):
        model.train()
        perm = torch.randperm(len(x_train))
        total, correct = 0.0, 0
        for i in range(0, len(perm), 50):
            xb, yb = x_train[perm[i:i + 50]], y_train[perm[i:i + 50]]
            out = model(xb)
            loss = F.cross_entropy(out, yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(yb)
            correct += (out.argmax(1) == yb).sum().item()
        print(f"epoch {epoch:2d}: loss {total / len(perm):.3f} acc {correct / len(perm):.3f}")

    model.eval()
    with torch.no_grad():
        acc = (model(x_test).argmax(1) == y_test).float().mean().item()
    print(f"test accuracy: {acc:.3f}")


if __name__ == "__main__":
    main()
