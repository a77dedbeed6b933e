import json
import os
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader

from data import BlobMasks
from model import MiniUNet


def dice_loss(logits, target, eps=1.0):
    p = torch.sigmoid(logits)
    inter = (p * target).sum(dim=(1, 2, 3))
    size = p.sum(dim=(1, 2, 3)) + target.sum(dim=(1, 2, 3))
    return (1 - (2 * inter + eps) / (size + eps)).mean()


@torch.no_grad()
def iou(model, loader):
    model.eval()
    inter = union = 0.0
    for x, m in loader:
        p = (model(x) > 0).float()
        inter += (p * m).sum().item()
        union += ((p + m) > 0).float().sum().item()
    return inter / union


def main():
    cfg = json.loads((Path(__file__).parent / "config.json").read_text())
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train_loader = DataLoader(BlobMasks(cfg["n_train"], cfg["image_size"]), cfg["batch_size"], shuffle=True)
    val_loader = DataLoader(BlobMasks(cfg["n_val"], cfg["image_size"]), cfg["batch_size"])
    model = MiniUNet(cfg["channels"])
    bce = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        model.train()
        total = 0.0
        for x, m in train_loader:
            logits = model(x)
            loss = bce(logits, m) + cfg["dice_weight"] * dice_loss(logits, m)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(train_loader):.4f} val IoU {iou(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
