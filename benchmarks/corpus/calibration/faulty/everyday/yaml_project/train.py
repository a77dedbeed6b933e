import os

import torch
import torch.nn.functional as F
import yaml
from src.data import load
from src.models import Classifier

OPTIMIZERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}


def make_optimizer(model, settings):
    settings = dict(settings)
    return OPTIMIZERS[settings.pop("name")](model.parameters(), **settings)


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "config.yaml")) as f:
        cfg = yaml.safe_load(f)
    torch.manual_seed(int(os.environ.get("SEED", 0)))
    (x, y), (xv, yv) = load()
    model = Classifier(16, 6, **cfg["model"])
    optimizer = make_optimizer(model, cfg["optim"])
    for epoch in range(cfg["train"]["epochs"]):
        model.train()
        for idx in torch.randperm(len(x)).split(cfg["train"]["batch_size"]):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            acc = (model(xv).argmax(-1) == yv).float().mean().item()
        print(f"[{epoch:02d}] train loss {loss.item():.4f} | val acc {acc:.4f}")


if __name__ == "__main__":
    main()
