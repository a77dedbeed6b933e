import json

import torch
from torch import nn

from data import ShelfFrames, read_annotations
from utils import box_iou


def make_model(side):
    c = side // 8
    return nn.Sequential(
        nn.Conv2d(3, 12, 3, 2, 1), nn.ReLU(),
        nn.Conv2d(12, 20, 3, 2, 1), nn.ReLU(),
        nn.Conv2d(20, 24, 3, 2, 1), nn.ReLU(),
        nn.Flatten(), nn.Linear(24 * c * c, 80), nn.ReLU(), nn.Linear(80, 4), nn.Sigmoid())


def fit(cfg):
    torch.manual_seed(cfg["seed"])
    train_items, val_items = read_annotations("annotations.json", cfg["val_share"], cfg["seed"])
    train = ShelfFrames("frames", train_items, cfg["side"])
    val = ShelfFrames("frames", val_items, cfg["side"])
    loader = torch.utils.data.DataLoader(train, batch_size=cfg["batch"], shuffle=True)
    vx = torch.stack([x for x, _ in val])
    vb = torch.stack([b for _, b in val])
    model = make_model(cfg["side"])
    opt = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        model.train()
        total = 0.0
        for x, b in loader:
            p = model(x)
            loss = nn.functional.l1_loss(p, b)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(x)
        model.eval()
        with torch.no_grad():
            iou = box_iou(model(vx), vb)
        if epoch % 3 == 1:
            print(f"epoch {epoch + 1}/{cfg['epochs']} l1 {total / len(train):.4f} val IoU {iou.mean():.3f} IoU>0.5 {(iou > 0.5).float().mean():.3f}")
    return model, val_items


if __name__ == "__main__":
    config = json.load(open("config.json"))
    model, val_items = fit(config)
    torch.save(model.state_dict(), "shelf.pt")
