import argparse
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse():
    p = argparse.ArgumentParser(description="guess the language from character pairs")
    p.add_argument("--lr", type=float, default=1e-7)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=50)
    p.add_argument("--hidden", type=int, default=32)
    return p.parse_args()


def corpus(n, trans):
    k = torch.randint(0, trans.shape[0], (n,))
    seq = torch.randint(0, 12, (n, 1))
    for _ in range(15):
        nxt = torch.multinomial(trans[k, seq[:, -1]], 1)
        seq = torch.cat([seq, nxt], 1)
    return seq, k


class CharGRU(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.emb = nn.Embedding(12, 12)
        self.gru = nn.GRU(12, hidden, batch_first=True)
        self.cls = nn.Linear(hidden, 3)

    def forward(self, s):
        o, _ = self.gru(self.emb(s))
        return self.cls(o[:, -1])


def main():
    args = parse()
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    trans = torch.softmax(2.0 * torch.randn(3, 12, 12), -1)
    x, y = corpus(1500, trans)
    xv, yv = corpus(400, trans)
    loader = DataLoader(TensorDataset(x, y), batch_size=args.batch_size, shuffle=True)
    model = CharGRU(args.hidden)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        for xb, yb in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            print(f"epoch {epoch}: loss {loss.item():.4f} val acc {(model(xv).argmax(1) == yv).float().mean():.3f}")


if __name__ == "__main__":
    main()
