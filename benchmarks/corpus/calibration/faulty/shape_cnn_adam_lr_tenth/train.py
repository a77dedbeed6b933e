import json
import os

import torch
from data import Shapes
from model import ConvNet
from torch import nn
from torch.utils.data import DataLoader

CONFIG = json.loads("""
{
  "epochs": 10,
  "batch_size": 32,
  "learning_rate": 0.1,
  "channels": [8, 16]
}
""")


def evaluate(net, loader):
    net.eval()
    ok = 0
    with torch.no_grad():
        for x, y in loader:
            ok += (net(x).argmax(1) == y).sum().item()
    return ok / len(loader.dataset)


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train = DataLoader(Shapes(800), batch_size=CONFIG["batch_size"], shuffle=True)
    test = DataLoader(Shapes(250), batch_size=125)
    net = ConvNet(CONFIG["channels"])
    opt = torch.optim.Adam(net.parameters(), lr=CONFIG["learning_rate"])
    criterion = nn.CrossEntropyLoss()
    for epoch in range(CONFIG["epochs"]):
        net.train()
        s = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            opt.step()
            s += loss.item()
        print(f"epoch {epoch}: loss {s / len(train):.4f} test acc {evaluate(net, test):.3f}")


if __name__ == "__main__":
    main()
