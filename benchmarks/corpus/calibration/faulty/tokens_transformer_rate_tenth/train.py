import os
import torch
from torch import nn
import options as o
from model import DupFinder

torch.manual_seed(int(os.environ.get("SEED", "0")))


def sequences(n):
    """Label: which quarter of the vocabulary is most frequent."""
    favour = torch.randint(0, 4, (n, 1))
    s = torch.randint(0, o.VOCAB, (n, o.LENGTH))
    use = torch.rand(n, o.LENGTH) < 0.35
    s = torch.where(use, favour * 4 + s % 4, s)
    counts = nn.functional.one_hot(s // 4, 4).sum(1)
    return s, counts.argmax(1)


def main():
    x, y = sequences(1500)
    xv, yv = sequences(400)
    model = DupFinder()
    optimizer = torch.optim.Adam(model.parameters(), lr=o.LEARNING_RATE)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(o.EPOCHS):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(x)).split(o.BATCH):
            optimizer.zero_grad()
            loss = criterion(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch} loss {total / 30:.4f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
