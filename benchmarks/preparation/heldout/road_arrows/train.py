import argparse

import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader

from dataset import load_splits
from model import MarkingNet


def run_epoch(net, loader, opt=None):
    net.train(opt is not None)
    loss_sum, table = 0.0, {}
    for x, y in loader:
        with torch.set_grad_enabled(opt is not None):
            out = net(x)
            loss = cross_entropy(out, y)
        if opt is not None:
            opt.zero_grad()
            loss.backward()
            opt.step()
        loss_sum += loss.item() * len(y)
        for t, p in zip(y.tolist(), out.argmax(1).tolist()):
            table[(t, p)] = table.get((t, p), 0) + 1
    n = sum(table.values())
    return loss_sum / n, sum(v for (t, p), v in table.items() if t == p) / n, table


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("--epochs", type=int, default=12)
    cli.add_argument("--batch-size", type=int, default=32)
    cli.add_argument("--seed", type=int, default=7)
    opts = cli.parse_args()

    torch.manual_seed(opts.seed)
    train, test, names = load_splits()
    net = MarkingNet(len(names))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9, nesterov=True, weight_decay=1e-4)
    loader = DataLoader(train, opts.batch_size, shuffle=True)
    for epoch in range(opts.epochs):
        tl, ta, _ = run_epoch(net, loader, optimizer)
        vl, va, table = run_epoch(net, DataLoader(test, 160))
        print(f"{epoch:02d} | train {tl:.3f} / {ta:.3f} | test {vl:.3f} / {va:.3f}")
    for t, name in enumerate(names):
        print(f"{name:>11}", [table.get((t, p), 0) for p in range(len(names))])
