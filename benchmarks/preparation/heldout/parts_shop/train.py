import json
import random
import sys

import torch
from torch import nn

import prepare


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        return ((model(x).squeeze(1) > 0).float() == y).float().mean().item()


def run(settings):
    torch.manual_seed(settings["seed"])
    xs, ys = prepare.read_orders(catalogue=prepare.read_catalogue())
    idx = list(range(len(xs)))
    random.Random(settings["seed"]).shuffle(idx)
    n = int(len(idx) * settings["train_share"])
    x, y = torch.tensor(xs), torch.tensor(ys)
    tr, te = torch.tensor(idx[:n]), torch.tensor(idx[n:])

    model = nn.Sequential(nn.Linear(x.shape[1], settings["hidden"]), nn.ReLU(), nn.Dropout(0.1),
                          nn.Linear(settings["hidden"], 1))
    opt = torch.optim.SGD(model.parameters(), lr=settings["lr"], momentum=0.9)
    bce = nn.BCEWithLogitsLoss()
    for epoch in range(settings["epochs"]):
        model.train()
        perm = tr[torch.randperm(len(tr))]
        acc_loss = 0.0
        for b in perm.split(settings["batch_size"]):
            opt.zero_grad()
            loss = bce(model(x[b]).squeeze(1), y[b])
            loss.backward()
            opt.step()
            acc_loss += loss.item() * len(b)
        if (epoch + 1) % 10 == 0:
            print(f"epoch {epoch + 1:2d} | loss {acc_loss / len(tr):.3f} | train acc {evaluate(model, x[tr], y[tr]):.3f}")
    print(f"test acc {evaluate(model, x[te], y[te]):.3f}")


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else "settings.json"
    with open(path) as fh:
        run(json.load(fh))
