import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split


def parse_args():
    p = argparse.ArgumentParser(description="wine cultivar classifier")
    p.add_argument("--epochs", type=int, default=40)
    p.add_argument("--lr", type=float, default=0.02)
    p.add_argument("--hidden", type=int, default=32)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


class Net(nn.Module):
    def __init__(self, n_features, hidden, n_classes):
        super().__init__()
        self.fc1 = nn.Linear(n_features, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, n_classes)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def load(seed):
    X, y = load_wine(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
    to_x = lambda a: torch.tensor(a, dtype=torch.float32)
    to_y = lambda a: torch.tensor(a, dtype=torch.long)
    return to_x(X_tr), to_y(y_tr), to_x(X_te), to_y(y_te)


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    X_tr, y_tr, X_te, y_te = load(args.seed)
    print(f"train {tuple(X_tr.shape)}  test {tuple(X_te.shape)}")

    net = Net(X_tr.shape[1], args.hidden, 3)
    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)

    for epoch in range(1, args.epochs + 1):
        net.train()
        idx = torch.randperm(len(X_tr))
        epoch_loss = 0.0
        for chunk in idx.split(args.batch_size):
            loss = F.cross_entropy(net(X_tr[chunk]), y_tr[chunk])
            opt.zero_grad()
            loss.backward()
            opt.step()
            epoch_loss += loss.item() * len(chunk)
        if epoch % 5 == 0:
            net.eval()
            with torch.no_grad():
                acc = (net(X_te).argmax(1) == y_te).float().mean().item()
            print(f"epoch {epoch:3d} | loss {epoch_loss / len(X_tr):.4f} | test acc {acc:.3f}")

    net.eval()
    with torch.no_grad():
        acc = (net(X_te).argmax(1) == y_te).float().mean().item()
    print(f"Final test accuracy: {acc:.3f}")


if __name__ == "__main__":
    main()
