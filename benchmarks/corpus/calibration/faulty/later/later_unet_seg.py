import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

SEED = 7
IMG = 48
BATCH = 16
EPOCHS = 9
LR = 6e-3


def draw_sample(rng):
    """Grey image with bright discs (foreground) and bright squares (distractors)."""
    yy, xx = np.mgrid[:IMG, :IMG]
    img = np.full((IMG, IMG), rng.uniform(60, 110), dtype=np.float32)
    img += 20 * np.sin(xx / rng.uniform(5, 12) + rng.uniform(0, 6))
    mask = np.zeros((IMG, IMG), dtype=np.float32)
    for _ in range(rng.integers(1, 3)):
        s, cx, cy = rng.integers(4, 8), rng.integers(8, IMG - 8), rng.integers(8, IMG - 8)
        img[cy - s:cy + s, cx - s:cx + s] = rng.uniform(150, 220)
    for _ in range(rng.integers(1, 4)):
        r, cx, cy = rng.uniform(5, 9), rng.integers(9, IMG - 9), rng.integers(9, IMG - 9)
        disc = (xx - cx) ** 2 + (yy - cy) ** 2 <= r ** 2
        img[disc] = rng.uniform(150, 220)
        mask[disc] = 1.0
    img += rng.normal(0, 12, img.shape)
    return np.clip(img, 0, 255).astype(np.uint8), mask


class ShapesDataset(Dataset):
    def __init__(self, n, seed, mean=None, std=None):
        rng = np.random.default_rng(seed)
        pairs = [draw_sample(rng) for _ in range(n)]
        imgs = np.stack([p[0] for p in pairs]).astype(np.float32) / 255.0
        self.mean = imgs.mean() if mean is None else mean
        self.std = imgs.std() if std is None else std
        self.images = torch.from_numpy((imgs - self.mean) / self.std).unsqueeze(1)
        self.masks = torch.from_numpy(np.stack([p[1] for p in pairs])).unsqueeze(1)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.masks[i]


class DoubleConv(nn.Module):
    def __init__(self, in_ch, out_ch):
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(in_ch, out_ch, 3, padding=1, bias=False),
            nn.BatchNorm2d(out_ch),
            nn.ReLU(inplace=True),
            nn.Conv2d(out_ch, out_ch, 3, padding=1, bias=False),
            nn.BatchNorm2d(out_ch),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.block(x)


class UNet(nn.Module):
    def __init__(self, base=8):
        super().__init__()
        self.down1 = DoubleConv(1, base)
        self.down2 = DoubleConv(base, base * 2)
        self.bottleneck = DoubleConv(base * 2, base * 4)
        self.pool = nn.MaxPool2d(2)
        self.up2 = nn.ConvTranspose2d(base * 4, base * 2, 2, stride=2)
        self.dec2 = DoubleConv(base * 4, base * 2)
        self.up1 = nn.ConvTranspose2d(base * 2, base, 2, stride=2)
        self.dec1 = DoubleConv(base * 2, base)
        self.head = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        d1 = self.down1(x)
        d2 = self.down2(self.pool(d1))
        b = self.bottleneck(self.pool(d2))
        u2 = self.dec2(torch.cat([self.up2(b), d2], dim=1))
        u1 = self.dec1(torch.cat([self.up1(u2), d1], dim=1))
        return torch.sigmoid(self.head(u1))


class DiceBCELoss(nn.Module):
    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth
        self.bce = nn.BCEWithLogitsLoss()

    def forward(self, logits, target):
        probs = torch.sigmoid(logits)
        inter = (probs * target).sum(dim=(1, 2, 3))
        total = probs.sum(dim=(1, 2, 3)) + target.sum(dim=(1, 2, 3))
        dice = (2 * inter + self.smooth) / (total + self.smooth)
        return self.bce(logits, target) + (1 - dice).mean()


@torch.no_grad()
def evaluate(model, loader, criterion):
    model.eval()
    total_loss, inter, total, n = 0.0, 0.0, 0.0, 0
    for x, y in loader:
        logits = model(x)
        total_loss += criterion(logits, y).item() * len(x)
        pred = (torch.sigmoid(logits) > 0.5).float()
        inter += (pred * y).sum().item()
        total += pred.sum().item() + y.sum().item()
        n += len(x)
    return total_loss / n, 2 * inter / total


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)

    train_ds = ShapesDataset(320, seed=1)
    val_ds = ShapesDataset(80, seed=2, mean=train_ds.mean, std=train_ds.std)
    train_dl = DataLoader(train_ds, batch_size=BATCH, shuffle=True)
    val_dl = DataLoader(val_ds, batch_size=BATCH)

    model = UNet()
    criterion = DiceBCELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=LR)

    for epoch in range(EPOCHS):
        model.train()
        train_loss = 0.0
        for x, y in train_dl:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            train_loss += loss.item() * len(x)
        val_loss, val_dice = evaluate(model, val_dl, criterion)
        print(f"[{epoch + 1}/{EPOCHS}] train loss {train_loss / len(train_ds):.4f} | "
              f"val loss {val_loss:.4f} | val dice {val_dice:.4f}")


if __name__ == "__main__":
    main()
