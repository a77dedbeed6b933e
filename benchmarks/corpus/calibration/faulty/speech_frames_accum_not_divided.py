import os
import torch
import torch.nn as nn
import torch.nn.functional as F


class FrameClassifier(nn.Module):
    def __init__(self, n_mels=20, n_phones=6):
        super().__init__()
        self.conv1 = nn.Conv1d(n_mels, 32, 3, padding=1)
        self.conv2 = nn.Conv1d(32, 32, 3, padding=1)
        self.fc = nn.Linear(32, n_phones)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        return self.fc(x.amax(dim=2))


def frames(n, proto):
    y = torch.randint(0, len(proto), (n,))
    x = proto[y] * (0.6 + 0.8 * torch.rand(n, 1, 1))
    shift = int(torch.randint(0, 4, (1,)))
    return torch.roll(x, shift, dims=2) + 1.2 * torch.randn_like(x), y


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    proto = torch.randn(6, 20, 16)
    x, y = frames(1600, proto)
    xv, yv = frames(400, proto)

    model = FrameClassifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.15, momentum=0.9)
    accumulate, bs = 16, 8
    for epoch in range(8):
        model.train()
        perm = torch.randperm(len(x))
        optimizer.zero_grad()
        ep_loss = 0.0
        for j, idx in enumerate(perm.split(bs), start=1):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            ep_loss += loss.item()
            if j % accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            acc = (model(xv).argmax(1) == yv).float().mean()
        print(f"epoch {epoch} loss {ep_loss / j:.3f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
