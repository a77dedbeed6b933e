import argparse
import logging
import random

import torch
import torch.nn as nn
import yaml
from torch.utils.data import DataLoader

from dataset import SHAPES, load_splits

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("bin")


def build(width):
    def block(i, o):
        return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True), nn.MaxPool2d(2))
    return nn.Sequential(block(1, width), block(width, 2 * width), block(2 * width, 2 * width),
                         nn.Flatten(), nn.Linear(2 * width * 16, len(SHAPES)))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = total = 0
    for x, y in loader:
        hits += (model(x).argmax(1) == y).sum().item()
        total += len(y)
    return hits / total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default="config.yaml")
    ap.add_argument("--epochs", type=int)
    args = ap.parse_args()
    with open(args.config) as f:
        cfg = yaml.safe_load(f)
    torch.manual_seed(cfg["seed"])
    train_set, test_set = load_splits(cfg["data"], random.Random(cfg["seed"]))
    log.info("train %d test %d mean %.2f std %.2f", len(train_set), len(test_set), *train_set.stats)

    tr = DataLoader(train_set, batch_size=cfg["train"]["batch_size"], shuffle=True)
    te = DataLoader(test_set, batch_size=128)
    model = build(cfg["model"]["width"])
    opt = torch.optim.AdamW(model.parameters(), lr=cfg["train"]["lr"])
    for epoch in range(args.epochs or cfg["train"]["epochs"]):
        model.train()
        for x, y in tr:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} last loss {loss.item():.4f} test_acc {evaluate(model, te):.4f}")


if __name__ == "__main__":
    main()
